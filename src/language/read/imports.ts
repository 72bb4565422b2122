import { IGNORED, type Problem, problem, type Source, type Spot } from '../diagnostic.ts';
import { textsIn } from '../raw.ts';
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

/** A file on the path from the root: its real path, and the entries and files that led to it. */
type Level = { readonly path: string; readonly spots: readonly Spot[]; readonly stack: readonly string[] };

/** Reads the imports of a root file, and their imports. `rootPath` is the real path; `-` for standard input. */
export function readImports(root: SpecFile, rootPath: string, find: FindImport) {
  /** In the order of their steps: an imported file comes before the importing one. */
  const files: SpecFile[] = [];
  /** In the order of loading, the root first. */
  const sources = [root.source];
  /** The `imports` entries that led to a file, outermost first. */
  const importedFrom = new Map<Source, readonly Spot[]>();
  const problems: Problem[] = [];
  /** False if an import was not found or not read. */
  let hasAll = true;
  /** The entry that imported each file; null for the root. */
  const seen = new Map<string, Spot | null>([[rootPath, null]]);
  const visit = (file: SpecFile, level: Level): void => {
    for (const { path, text } of textsIn(file.raw.imports, ['imports'])) follow(text, spotIn(file, path), level);
    files.push(file);
  };
  const follow = (text: string, spot: Spot, level: Level): void => {
    const found = text.trim() === '' ? null : find(text, level.path);
    if (found?.kind !== 'file') {
      problems.push(notFound(text, found, spot));
      hasAll = false;
      return;
    }
    const { path, source } = found;
    const spots = [...level.spots, spot];
    const first = seen.get(path);
    if (level.stack.includes(path)) problems.push(importCycle(level, spot, path));
    else if (first !== undefined && first !== null) problems.push(importedTwice(text, spot, first));
    else {
      seen.set(path, spot);
      sources.push(source);
      importedFrom.set(source, spots);
      if (found.problems.length > 0) {
        problems.push(...found.problems);
        hasAll = false;
        return;
      }
      const read = readSpecFile(source);
      problems.push(...read.problems, ...ignoredKeys(read.file));
      visit(read.file, { path, spots, stack: [...level.stack, path] });
    }
  };
  visit(root, { path: rootPath, spots: [], stack: [rootPath] });
  return { files, sources, importedFrom, problems, hasAll };
}

function ignoredKeys(file: SpecFile): Problem[] {
  return Object.keys(file.raw).flatMap((key) => {
    if (GIVEN_ON.has(key)) return [];
    const message = `"${key}" of an imported file is ignored`;
    const help = 'Only steps and functions are imported; move everything else to the file that is run.';
    return [problem('import-ignored-key', spotIn(file, [key], 'key'), message, { ...IGNORED, help })];
  });
}

/** `found`: null if nothing is named. */
function notFound(text: string, found: Exclude<FoundImport, { kind: 'file' }> | null, spot: Spot): Problem {
  switch (found?.kind) {
    case undefined:
      return problem('wrong-value', spot, 'the import is empty', { help: 'Name a file, or remove the entry.' });
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

function importCycle({ stack, spots }: Level, last: Spot, path: string): Problem {
  const from = stack.indexOf(path);
  const names = [...stack.slice(from), path].map((file) => file.slice(file.lastIndexOf('/') + 1));
  const related = spots.slice(from).map((spot, index) => {
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
