import { type Path, type Problem, problem, type Source, type Spot } from '../diagnostic.ts';
import { asList } from '../raw.ts';
import { readSpecFile, type SpecFile, spotIn } from './spec-file.ts';

/** The result of searching for an imported file. `path` is its real path, with symlinks resolved. */
export type FoundImport =
  | { readonly kind: 'file'; readonly path: string; readonly source: Source; readonly problems: readonly Problem[] }
  | { readonly kind: 'missing'; readonly near: () => string }
  | { readonly kind: 'outside' }
  | { readonly kind: 'unreadable'; readonly why: string };

/** Searches for the file that `text` names in an import of the file at `from`. */
export type FindImport = (text: string, from: string) => FoundImport;

const GIVEN_ON = new Set(['steps', 'functions', 'imports', 'x-ignore']);

/** All files of a workflow except the base. */
type ImportedFiles = {
  readonly find: FindImport;
  /** In the order of their steps: an imported file comes before the importing one. */
  readonly files: SpecFile[];
  /** In the order of loading, the root first. */
  readonly sources: Source[];
  /** The `imports` entries that led to a file, outermost first. */
  readonly importedFrom: Map<Source, readonly Spot[]>;
  readonly problems: Problem[];
  /** The entry that imported each file; null for the root. */
  readonly seen: Map<string, Spot | null>;
  /** False if an import was not found or not read. */
  hasAll: boolean;
};

/** A file on the path from the root. */
type Level = { readonly path: string; readonly spots: readonly Spot[]; readonly stack: readonly string[] };

/** Reads the imports of a root file, and their imports. `rootPath` is the real path; `-` for standard input. */
export function readImports(root: SpecFile, rootPath: string, find: FindImport): ImportedFiles {
  const walk: ImportedFiles = {
    find,
    files: [],
    sources: [root.source],
    importedFrom: new Map(),
    problems: [],
    seen: new Map([[rootPath, null]]),
    hasAll: true,
  };
  visit(walk, root, { path: rootPath, spots: [], stack: [rootPath] });
  return walk;
}

function visit(walk: ImportedFiles, file: SpecFile, level: Level): void {
  const { imports } = file.raw;
  for (const [index, text] of asList(imports).entries()) {
    const path: Path = typeof imports === 'string' ? ['imports'] : ['imports', index];
    follow(walk, text, { ...level, spots: [...level.spots, spotIn(file, path)] });
  }
  walk.files.push(file);
}

function follow(walk: ImportedFiles, text: string, level: Level): void {
  const spot = level.spots.at(-1);
  if (spot === undefined) return;
  if (text.trim() === '') {
    const help = 'Name a file, or remove the entry.';
    walk.problems.push(problem('wrong-value', spot, 'the import is empty', { help }));
    walk.hasAll = false;
    return;
  }
  const found = walk.find(text, level.path);
  if (found.kind !== 'file') {
    walk.problems.push(notFound(text, found, spot));
    walk.hasAll = false;
    return;
  }
  const first = walk.seen.get(found.path);
  if (level.stack.includes(found.path)) walk.problems.push(importCycle(level, found.path));
  else if (first !== undefined && first !== null) walk.problems.push(importedTwice(text, spot, first));
  else read(walk, found, level, spot);
}

function read(walk: ImportedFiles, found: Extract<FoundImport, { kind: 'file' }>, level: Level, spot: Spot): void {
  walk.seen.set(found.path, spot);
  walk.sources.push(found.source);
  walk.importedFrom.set(found.source, level.spots);
  if (found.problems.length > 0) {
    walk.problems.push(...found.problems);
    walk.hasAll = false;
    return;
  }
  const { file, problems } = readSpecFile(found.source);
  walk.problems.push(...problems, ...ignoredKeys(file));
  visit(walk, file, { path: found.path, spots: level.spots, stack: [...level.stack, found.path] });
}

function ignoredKeys(file: SpecFile): Problem[] {
  return Object.keys(file.raw).flatMap((key) => {
    if (GIVEN_ON.has(key)) return [];
    const message = `"${key}" of an imported file is ignored`;
    const help = 'Only steps and functions are imported; move everything else to the file that is run.';
    const options = { severity: 'warning', label: 'ignored', help } as const;
    return [problem('import-ignored-key', spotIn(file, [key], 'key'), message, options)];
  });
}

function notFound(text: string, found: Exclude<FoundImport, { kind: 'file' }>, spot: Spot): Problem {
  switch (found.kind) {
    case 'missing': {
      const help = 'Imports are relative to the importing file; ".yaml" and ".yml" may be omitted.';
      return problem('import-not-found', spot, `the import "${text}" does not exist`, { label: found.near, help });
    }
    case 'outside': {
      const help = 'Imported files must be in the directory of the file that is run, or below it.';
      return problem('import-outside', spot, `the import "${text}" is outside the workflow's directory`, { help });
    }
    case 'unreadable':
      return problem('unreadable', spot, `the import "${text}" cannot be read: ${found.why}`);
  }
}

function importCycle({ stack, spots }: Level, path: string): Problem {
  const from = stack.indexOf(path);
  const names = [...stack.slice(from), path].map(baseName);
  const last = spots.at(-1);
  if (last === undefined) throw new Error('a cycle without an import');
  const related = spots.slice(from, -1).map((spot, index) => {
    return { spot, message: `"${names[index]}" imports "${names[index + 1]}"` };
  });
  return problem('import-cycle', last, `import cycle: ${names.join(' -> ')}`, { related });
}

function importedTwice(text: string, spot: Spot, first: Spot): Problem {
  return problem('import-twice', spot, `"${text}" is imported a second time`, {
    label: 'the second',
    related: [{ spot: first, message: 'it is imported here first' }],
    help: 'Import a file once; its steps are available to every file.',
  });
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
