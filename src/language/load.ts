import { closeSync, existsSync, openSync, readdirSync, readSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { given } from '#core/data/collections.ts';
import type { Workflow } from '#core/workflow.ts';
import { os } from '#fast/os.ts';
import { errorCode, failedAs, messageOf, systemProblem, systemReason, WfError } from '#system/errors.ts';
import { expandHome, openRegular } from '#system/files.ts';
import { didYouMean, nearNames } from '#system/near-names.ts';
import { withPatternBudget } from '#system/pattern.ts';
import { buildWorkflow } from './build/build-workflow.ts';
import { lineProblems } from './check/check-lines.ts';
import { type LockSize, poolProblems } from './check/check-locks.ts';
import { type RunTargets, runProblems } from './check/check-params.ts';
import { unsetProblems } from './check/check-unset.ts';
import { checkWorkflow, type WorkflowFiles } from './check/check-workflow.ts';
import { type Diagnostic, problem, type Source } from './diagnostic.ts';
import { documentProblems } from './forms/documents.ts';
import type { Presets } from './raw.ts';
import { type ByteLimit, createByteLimit, decode, LARGEST_FILE, TooManyBytes } from './read/decode.ts';
import { type FoundImport, readImports } from './read/imports.ts';
import { readSpecFile, readSpecFiles, unreadFile } from './read/spec-file.ts';
import { type Days, readDays } from './schedule-entries.ts';
import { type FoundSchema, readParamSchema, type SchemaRead } from './schema-params.ts';
import { silence, toDiagnostics } from './to-diagnostics.ts';

export { type RunTargets, TooManyBytes };

/**
 * The input of a load: a file by its absolute path, or a text whose imports and steps are relative to `dir`. `group`
 * applies if the file has none. `base` is the absolute path of the base configuration, which need not exist.
 */
export type LoadRequest = {
  readonly base?: string | null;
  /** The workflows that a `run` can name, seen from a directory. If absent, `run` is not checked. */
  readonly runTargets?: (dir: string) => RunTargets;
  /** The names of the process's environment. If absent, variables that are set nowhere are not reported. */
  readonly environment?: readonly string[];
  /** The locks with other than one slot. If absent, requests for too many slots are not reported. */
  readonly pools?: readonly LockSize[];
  /** Outputs of steps that are no dependencies are errors. */
  readonly isStrict?: boolean;
  readonly presets?: Presets;
  /** Maximum size of the file, its imports and its base together, in bytes. */
  readonly mostBytes?: number;
} & (
  | {
      readonly file: string;
      readonly group?: string;
      /** The file may be a pipe and the load waits for it: the user named it, as in `wf run <(generate)`. */
      readonly mayBePipe?: boolean;
    }
  | { readonly text: string | Uint8Array; readonly file: null; readonly dir: string }
);

/** The cost of compiling one unit of a pattern's size, as the bytes that are read in the same time. */
const BYTES_PER_PATTERN_SIZE = 8;

/** The workflow, unless the diagnostics contain an error, and the texts they refer to. */
export type LoadResult = {
  readonly workflow: Workflow | null;
  /** Errors and warnings, by file in the order of loading and by position. */
  readonly diagnostics: readonly Diagnostic[];
  /** The form of the file; absent for that of wf. */
  readonly form?: 'dagu-2.15';
  /** Warnings that the files silence; absent without any. */
  readonly ignored?: readonly Diagnostic[];
  readonly sources: readonly Source[];
};

/**
 * Reads a workflow file with its imports and its base. Throws a `WfError` (`not-found`) if the file cannot be read, and
 * `TooManyBytes` beyond `mostBytes`, before the file that exceeds it is parsed.
 */
export function loadWorkflow(request: LoadRequest): LoadResult {
  const count = createByteLimit(request.mostBytes);
  return withPatternBudget(
    (size) => count({ length: size * BYTES_PER_PATTERN_SIZE }),
    () => load(request, count),
  );
}

function load(request: LoadRequest, count: ByteLimit): LoadResult {
  const { path, dir, content } = openRoot(request);
  count(content);
  const decoded = decode(path, content);
  const [first, ...others] = decoded.problems.length > 0 ? [unread(decoded)] : readSpecFiles(decoded.source);
  const root = first ?? unread(decoded);
  const names = others.map(({ file }) => file.raw.name ?? '');
  const at: Location = {
    path: request.file === null ? '-' : realpathSync(path),
    roots: { dir, realDir: realpathSync(dir), decoded: new Map(), count },
    names: new Set(names),
  };
  const loaded = loadDocument(root, request, at);
  if (others.length === 0) return loaded;
  const unnamed = documentProblems([root, ...others].map(({ file }) => file));
  const rest = others.map(({ file, problems }, index) => {
    const checked = { file, problems: [...problems, ...(unnamed[index] ?? [])] };
    const identity = `${request.file ?? join(dir, '-')}#${names[index]}`;
    return loadDocument(checked, request, { ...at, identity });
  });
  return joined(loaded, rest);
}

/** The workflow of the first document with those of the others, and the diagnostics of all. */
function joined(first: LoadResult, others: readonly LoadResult[]): LoadResult {
  const all = [first, ...others];
  // Problems of imports and of the base concern several documents.
  const distinct = (lists: readonly (readonly Diagnostic[])[]) => [
    ...new Map(lists.flat().map((found) => [JSON.stringify(found), found])).values(),
  ];
  const workflows = all.map(({ workflow }) => workflow);
  const [root, ...rest] = workflows.flatMap((workflow) => workflow ?? []);
  const ignored = distinct(all.map((result) => result.ignored ?? []));
  const sources = all.flatMap((result) => result.sources);
  return {
    workflow:
      root === undefined || workflows.includes(null)
        ? null
        : { ...root, documents: Object.fromEntries(rest.map((workflow) => [workflow.name, workflow])) },
    diagnostics: distinct(all.map(({ diagnostics }) => diagnostics)),
    ...given({ form: first.form }),
    ...(ignored.length === 0 ? {} : { ignored }),
    sources: sources.filter(({ path }, at) => sources.findIndex((other) => other.path === path) === at),
  };
}

/** What the documents of a file have in common, and what tells one from the others. */
type Location = {
  /** The real path; `-` for standard input. */
  readonly path: string;
  readonly roots: Roots;
  /** The names of the documents after the first. */
  readonly names: ReadonlySet<string>;
  /** The file and name of a document after the first. */
  readonly identity?: string;
};

function loadDocument(
  parsed: ReturnType<typeof readSpecFile>,
  request: LoadRequest,
  { path: realPath, roots, names, identity }: Location,
): LoadResult {
  const { dir, count } = roots;
  const root = readParamSchema(parsed.file, (text) => findSchema(text, roots), count);
  const imports = readImports(root.file, realPath, (text, from) =>
    findImport(text, from === realPath ? dir : dirname(from), roots),
  );
  const base = typeof request.base === 'string' ? readBase(request.base, count) : null;
  const params = root.file.raw.params === undefined ? base?.params : root;
  const files = { root: root.file, base: base?.file ?? null, files: imports.files, hasAllImports: imports.hasAll };
  const checked = checkWorkflow(files, { isStrict: request.isStrict === true });
  const days = daysOf(files, request, roots);
  const workingDir = files.root.raw.workingDir ?? base?.file.raw.workingDir ?? '.';
  // Null if the path is known only during a run.
  const stepDir = /[$`~]/.test(workingDir) ? null : resolve(dir, workingDir);
  const targets = stepDir === null ? undefined : request.runTargets?.(stepDir);
  const problems = [
    ...parsed.problems,
    ...root.problems,
    ...imports.problems,
    ...(base?.problems ?? []),
    ...checked.problems,
    ...days.problems,
    ...(targets === undefined
      ? []
      : runProblems(imports.files, {
          ...targets,
          exists: (run) => names.has(run) || targets.exists(atHome(run)),
          names: () => [...names, ...targets.names()],
        })),
    ...(request.environment === undefined ? [] : unsetProblems(files, request.environment)),
    ...(request.pools === undefined
      ? []
      : poolProblems([...files.files, ...(files.base === null ? [] : [files.base])], request.pools)),
    ...(request.environment === undefined ? [] : lineProblems(files, request.presets?.shell ?? 'sh')),
  ];
  const sources = [
    ...imports.sources,
    ...root.sources,
    ...(base === null ? [] : [base.file.source, ...base.params.sources]),
    ...days.sources,
  ];
  const all = base === null ? imports.files : [...imports.files, base.file];
  const { shown, ignored } = silence(all, base?.file ?? null, problems);
  const documents = new Map(all.flatMap(({ source, document }) => (document === null ? [] : [[source, document]])));
  const loaded = { sources, importedFrom: imports.importedFrom, documents };
  const build = () =>
    buildWorkflow({
      root: files.root.raw,
      base: files.base?.raw ?? null,
      steps: checked.steps,
      functions: checked.functions,
      file: identity ?? request.file,
      defaultName: request.file === null ? 'stdin' : basename(request.file).replace(/\.ya?ml$/i, ''),
      dir: stepDir ?? dir,
      stepDir: stepDir === null ? workingDir : null,
      fileDir: dir,
      notOn: days.days,
      paramSchema: params?.schema ?? null,
      presets: request.presets ?? null,
      group: request.file === null ? '' : (request.group ?? ''),
    });
  return {
    workflow: shown.some((found) => found.severity === 'error') ? null : build(),
    diagnostics: toDiagnostics(shown, loaded),
    ...(root.file.isOfDagu3 ? { form: 'dagu-2.15' } : {}),
    ...(ignored.length === 0 ? {} : { ignored: toDiagnostics(ignored, loaded) }),
    sources,
  };
}

/** The days without starts: those of the file, else those of the base. */
function daysOf({ root, base }: WorkflowFiles, request: LoadRequest, roots: Roots): Days {
  const isOfBase = root.raw.notOn === undefined && base?.raw.notOn !== undefined;
  if (!isOfBase || typeof request.base !== 'string')
    return readDays(root, (path) => openInside(writtenPath(roots.dir, path), roots));
  const dir = dirname(request.base);
  return readDays(base, (path) => openInside(writtenPath(dir, path), { ...roots, realDir: realpathSync(dir) }));
}

function openRoot(request: LoadRequest): { path: string; dir: string; content: string | Uint8Array } {
  if (request.file === null) return { path: '-', dir: request.dir, content: request.text };
  try {
    return { path: request.file, dir: dirname(request.file), content: readFile(request.file, request.mayBePipe) };
  } catch (error) {
    if (error instanceof WfError) throw error;
    const near = existsSync(request.file) ? '' : didYouMean(filesLike(request.file));
    const help = near === '' ? {} : { help: `${near.charAt(0).toUpperCase()}${near.slice(1)}` };
    throw new WfError('not-found', `cannot read "${request.file}": ${reason(error)}`, { ...help, cause: error });
  }
}

function unread({ source, problems }: ReturnType<typeof decode>): ReturnType<typeof readSpecFile> {
  return { file: unreadFile(source), problems };
}

type Base = ReturnType<typeof readSpecFile> & { readonly params: SchemaRead };

function readBase(path: string, count: ByteLimit): Base | null {
  const read = readBaseFile(path, count);
  if (read === null) return null;
  const dir = dirname(path);
  const roots = { dir, realDir: realpathSync(dir), decoded: new Map(), count };
  const params = readParamSchema(read.file, (text) => findSchema(text, roots), count);
  return { file: params.file, problems: [...read.problems, ...params.problems], params };
}

function readBaseFile(path: string, count: ByteLimit): ReturnType<typeof readSpecFile> | null {
  try {
    const decoded = decodeFile(path, count);
    if (decoded.problems.length > 0) return unread(decoded);
    const read = readSpecFile(decoded.source);
    const isEmpty = read.problems.length === 1 && read.problems[0]?.code === 'empty-file';
    return isEmpty ? null : read;
  } catch (error) {
    if (error instanceof WfError || error instanceof TooManyBytes) throw error;
    if (isMissing(error)) return null;
    const source = { path, text: '' };
    const message = `the base configuration "${path}" cannot be read: ${reason(error)}`;
    return unread({ source, problems: [problem('unreadable', { source }, message)] });
  }
}

/** Maximum size of a file with a JSON Schema, in bytes. */
const LARGEST_SCHEMA = 64 * 1024;
const EXTENSIONS = ['.yaml', '.yml'];

/** The data of the root file for the search for imports. */
type Roots = {
  readonly dir: string;
  readonly realDir: string;
  /** Decoded files by their real paths: a file imported several times is read once. */
  readonly decoded: Map<string, ReturnType<typeof decode>>;
  readonly count: ByteLimit;
};

/** Searches for an imported file beside the importing file; a file outside the root's directory is not opened. */
function findImport(text: string, beside: string, roots: Roots): FoundImport {
  const { dir, realDir } = roots;
  const wanted = writtenPath(beside, text);
  const candidates = /\.ya?ml$/i.test(wanted) ? [wanted] : EXTENSIONS.map((ext) => `${wanted}${ext}`);
  for (const candidate of candidates) {
    try {
      // Building an error for each of thousands of missing imports would take longer than everything else.
      if (statSync(candidate, { throwIfNoEntry: false }) === undefined) continue;
    } catch {
      // The error is reported where the file is opened.
    }
    const found = openInside(candidate, roots);
    if (found.kind !== 'missing') return found;
  }
  if (!isInside(wanted, dir) && !isInside(wanted, realDir)) return { kind: 'outside' };
  if (isDirectory(wanted)) return { kind: 'unreadable', why: 'it is a directory, not a workflow file' };
  return { kind: 'missing', near: () => didYouMean(filesLike(wanted)) };
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}

/** Opens and decodes a file below the root's directory. */
function openInside(file: string, { realDir, decoded, count }: Roots): FoundImport {
  try {
    const path = realpathSync(file);
    if (!isInside(path, realDir)) return { kind: 'outside' };
    if (!statSync(path).isFile()) return { kind: 'unreadable', why: 'it is not a file' };
    const content = decoded.get(path) ?? decodeFile(path, count);
    decoded.set(path, content);
    return { kind: 'file', path, ...content };
  } catch (error) {
    if (error instanceof TooManyBytes || failedAs(error, 'storage')) throw error;
    if (!isMissing(error)) return { kind: 'unreadable', why: reason(error) };
    return { kind: 'missing', near: () => '' };
  }
}

/** Reads the schema that `params` names; a file outside the workflow's directory is not opened. */
function findSchema(text: string, roots: Roots): FoundSchema {
  if (/^[a-z]+:\/\//i.test(text)) return { why: 'must be a file, not a URL' };
  const wanted = writtenPath(roots.dir, text);
  const found = openInside(wanted, roots);
  const isOutside = !isInside(wanted, roots.dir) && !isInside(wanted, roots.realDir);
  if (found.kind === 'outside' || isOutside) {
    return { why: "is outside the workflow's directory: put it beside the workflow or below" };
  }
  if (found.kind !== 'file') {
    return { why: found.kind === 'missing' ? 'does not exist' : `cannot be read: ${found.why}` };
  }
  const isLarge = Buffer.byteLength(found.source.text) > LARGEST_SCHEMA;
  return isLarge ? { why: 'is larger than 64 KiB, the limit for schemas' } : found;
}

/** A path that a workflow file names, as an absolute one. */
function writtenPath(dir: string, path: string): string {
  return resolve(dir, atHome(path));
}

function atHome(path: string): string {
  return path.startsWith('~') ? expandHome(path, os().homedir()) : path;
}

function isInside(path: string, dir: string): boolean {
  const way = relative(dir, path);
  return way !== '' && !isAbsolute(way) && way !== '..' && !way.startsWith('../');
}

/** Workflow files in the same directory with similar names. */
function filesLike(path: string): string[] {
  try {
    const names = readdirSync(dirname(path)).filter((name) => EXTENSIONS.some((ext) => name.endsWith(ext)));
    const name = basename(path);
    const bare = name.replace(/\.ya?ml$/i, '');
    const near = nearNames(name, names);
    if (near.length > 0) return near;
    return names.filter((other) => nearNames(bare, [other.replace(/\.ya?ml$/i, '')]).length > 0).slice(0, 3);
  } catch {
    return [];
  }
}

/** Reads a file, counts its bytes and decodes it. Throws `TooManyBytes`. */
function decodeFile(path: string, count: ByteLimit): ReturnType<typeof decode> {
  const content = readFile(path);
  count(content);
  return decode(path, content);
}

/** The bytes of a file, at most one more than the limit: it may be a pipe that never ends. */
function readFile(path: string, mayBePipe = false): Uint8Array {
  try {
    const fd = mayBePipe ? openSync(path, 'r') : openRegular(path);
    try {
      const buffer = Buffer.allocUnsafe(LARGEST_FILE + 1);
      let length = 0;
      for (let count = -1; count !== 0 && length < buffer.length; length += count) {
        count = readSync(fd, buffer, length, buffer.length - length, null);
      }
      return buffer.subarray(0, length);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    // A temporary failure: the file may be readable a little later.
    if (systemProblem(error)?.status !== 503) throw error;
    throw new WfError('storage', `cannot read "${path}": ${systemReason(errorCode(error))}`, { cause: error });
  }
}

/** Whether the system found no file at a path. */
function isMissing(error: unknown): boolean {
  return errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR';
}

const reasons: { readonly [code: string]: string } = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
  ELOOP: 'its symbolic links form a loop',
  ENXIO: 'it is a socket, not a regular file',
};

/** Why a file cannot be read, in words. */
function reason(error: unknown): string {
  return reasons[errorCode(error)] ?? messageOf(error);
}
