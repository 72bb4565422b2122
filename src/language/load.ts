import { closeSync, existsSync, openSync, readdirSync, readSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, relative, resolve } from 'node:path';
import type { Document } from 'yaml';
import type { Workflow } from '../core/workflow.ts';
import { messageOf, WfError } from '../errors.ts';
import { openRegular } from '../regular-file.ts';
import { systemProblem, systemReason } from '../system-problem.ts';
import { buildWorkflow } from './build/build.ts';
import { type RunTargets, runProblems } from './check/check-run.ts';
import { type Checked, checkWorkflow, type WorkflowFiles } from './check/check-workflow.ts';
import { unsetProblems } from './check/variables/check-unset.ts';
import type { Diagnostic, Source } from './diagnostic.ts';
import { didYouMean, nearNames } from './near-names.ts';
import { type Problem, problem } from './problem.ts';
import { createByteLimit, TooManyBytes } from './read/byte-limit.ts';
import { decode, LARGEST_FILE } from './read/decode.ts';
import { type FoundImport, readImports } from './read/imports.ts';
import { readSpecFile, type SpecFile } from './read/spec-file.ts';
import { toDiagnostics } from './read/to-diagnostics.ts';

/**
 * What to load: a file by its absolute path, or a text whose imports and steps are relative to `dir`. `group` applies
 * if the file has none. `base` is the absolute path of the base configuration, which need not exist.
 */
export type LoadRequest = {
  readonly base?: string | null;
  /** The workflows that a `run` can name, seen from a directory. If absent, `run` is not checked. */
  readonly runTargets?: (dir: string) => RunTargets;
  /** The names of the process's environment. If absent, variables that are set nowhere are not reported. */
  readonly environment?: readonly string[];
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

/** The workflow, unless the diagnostics contain an error, and the texts they refer to. */
export type LoadResult = {
  readonly workflow: Workflow | null;
  /** Errors and warnings, by file in the order of loading and by position. */
  readonly diagnostics: readonly Diagnostic[];
  readonly sources: readonly Source[];
};

const EXTENSIONS = ['.yaml', '.yml'];

/**
 * Reads a workflow file with its imports and its base. Throws a `WfError` (`not-found`) if the file cannot be read, and
 * `TooManyBytes` beyond `mostBytes`, before the file that exceeds it is parsed.
 */
export function loadWorkflow(request: LoadRequest): LoadResult {
  const { path, dir, content } = openRoot(request);
  const count = createByteLimit(request.mostBytes);
  count(content);
  const decoded = decode(path, content);
  const read = decoded.problems.length > 0 ? unread(decoded) : readSpecFile(decoded.source);
  const realPath = request.file === null ? '-' : realpathSync(path);
  const realDir = realpathSync(dir);
  const roots = { dir, realPath, realDir, decoded: new Map(), count };
  const imports = readImports(read.file, realPath, (text, from) => findImport(text, from, roots));
  const base = readBase(request.base ?? null, count);
  const files = { root: read.file, base: base?.file ?? null, files: imports.files, hasAllImports: imports.hasAll };
  const checked = checkWorkflow(files);
  const problems = [
    ...read.problems,
    ...imports.problems,
    ...(base?.problems ?? []),
    ...checked.problems,
    ...targetProblems(request, { files, checked, dir }),
    ...(request.environment === undefined ? [] : unsetProblems(files, request.environment)),
  ];
  const sources = base === null ? imports.sources : [...imports.sources, base.file.source];
  return {
    workflow: problems.some((found) => found.severity === 'error') ? null : build(request, { files, checked, dir }),
    diagnostics: toDiagnostics(problems, {
      sources,
      importedFrom: imports.importedFrom,
      documents: documentsOf(base === null ? imports.files : [...imports.files, base.file]),
    }),
    sources,
  };
}

type Parts = { readonly files: WorkflowFiles; readonly checked: Checked; readonly dir: string };

function build(request: LoadRequest, { files, checked, dir }: Parts): Workflow {
  const workingDir = workingDirOf(files);
  const isTemplate = isTemplatePath(workingDir);
  return buildWorkflow({
    root: files.root.raw,
    base: files.base?.raw ?? null,
    steps: checked.steps,
    functions: checked.functions,
    file: request.file,
    defaultName: request.file === null ? 'stdin' : basename(request.file).replace(/\.ya?ml$/i, ''),
    dir: isTemplate ? dir : resolve(dir, workingDir),
    stepDir: isTemplate ? workingDir : null,
    fileDir: dir,
    group: request.file === null ? '' : (request.group ?? ''),
  });
}

function targetProblems({ runTargets }: LoadRequest, { files, dir }: Parts): Problem[] {
  const workingDir = workingDirOf(files);
  if (runTargets === undefined || isTemplatePath(workingDir)) return [];
  return runProblems(files.files, runTargets(resolve(dir, workingDir)));
}

function workingDirOf({ root, base }: WorkflowFiles): string {
  return root.raw.workingDir ?? base?.raw.workingDir ?? '.';
}

/** Whether the path is known only during a run. */
function isTemplatePath(path: string): boolean {
  return /[$`~]/.test(path);
}

function documentsOf(files: readonly SpecFile[]): Map<Source, Document.Parsed> {
  return new Map(files.flatMap(({ source, document }) => (document === null ? [] : [[source, document] as const])));
}

function openRoot(request: LoadRequest): { path: string; dir: string; content: string | Uint8Array } {
  if (request.file === null) return { path: '-', dir: request.dir, content: request.text };
  try {
    const content = readFile(request.file, { mayBePipe: request.mayBePipe ?? false });
    return { path: request.file, dir: dirname(request.file), content };
  } catch (error) {
    if (error instanceof WfError) throw error;
    const near = existsSync(request.file) ? '' : didYouMean(filesLike(request.file));
    const help = near === '' ? {} : { help: `${near.charAt(0).toUpperCase()}${near.slice(1)}` };
    throw new WfError('not-found', `cannot read "${request.file}": ${reason(error)}`, { ...help, cause: error });
  }
}

function unread({
  source,
  problems,
}: {
  source: Source;
  problems: readonly Problem[];
}): ReturnType<typeof readSpecFile> {
  const file: SpecFile = { source, document: null, raw: {}, isReadable: false, damaged: new Set(), lost: new Set() };
  return { file, problems };
}

function readBase(path: string | null, count: ByteLimit): ReturnType<typeof readSpecFile> | null {
  if (path === null) return null;
  try {
    const decoded = decode(path, counted(readFile(path), count));
    if (decoded.problems.length > 0) return unread(decoded);
    const read = readSpecFile(decoded.source);
    const isEmpty = read.problems.length === 1 && read.problems[0]?.code === 'empty-file';
    return isEmpty ? null : read;
  } catch (error) {
    if (error instanceof WfError || error instanceof TooManyBytes) throw error;
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return null;
    const source = { path, text: '' };
    const message = `the base configuration "${path}" cannot be read: ${reason(error)}`;
    return unread({ source, problems: [problem('unreadable', { source }, message)] });
  }
}

type Roots = {
  readonly dir: string;
  readonly realPath: string;
  readonly realDir: string;
  /** Decoded files by their real paths: a file imported several times is read once. */
  readonly decoded: Map<string, ReturnType<typeof decode>>;
  readonly count: ByteLimit;
};

type ByteLimit = ReturnType<typeof createByteLimit>;

function counted(content: Uint8Array, count: ByteLimit): Uint8Array {
  count(content);
  return content;
}

/** Searches for an imported file beside the importing file; a file outside the root's directory is not opened. */
function findImport(text: string, from: string, { dir, realPath, realDir, decoded, count }: Roots): FoundImport {
  const beside = from === realPath ? dir : dirname(from);
  const wanted = resolve(beside, text);
  const candidates = /\.ya?ml$/i.test(wanted) ? [wanted] : EXTENSIONS.map((ext) => `${wanted}${ext}`);
  for (const candidate of candidates) {
    try {
      // Building an error for each of thousands of missing imports would take longer than everything else.
      if (statSync(candidate, { throwIfNoEntry: false }) === undefined) continue;
      const path = realpathSync(candidate);
      if (!isInside(path, realDir)) return { kind: 'outside' };
      if (!statSync(path).isFile()) return { kind: 'unreadable', why: 'it is not a file' };
      const content = decoded.get(path) ?? decode(path, counted(readFile(path), count));
      decoded.set(path, content);
      return { kind: 'file', path, ...content };
    } catch (error) {
      if (error instanceof TooManyBytes || (error instanceof WfError && error.code === 'storage')) throw error;
      if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTDIR') return { kind: 'unreadable', why: reason(error) };
    }
  }
  if (!isInside(wanted, dir) && !isInside(wanted, realDir)) return { kind: 'outside' };
  return { kind: 'missing', near: () => didYouMean(filesLike(wanted)) };
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
    return near.length > 0
      ? near
      : names.filter((other) => nearNames(bare, [other.replace(/\.ya?ml$/i, '')]).length > 0).slice(0, 3);
  } catch {
    return [];
  }
}

/** The bytes of a file, at most one more than the limit: it may be a pipe that never ends. */
function readFile(path: string, { mayBePipe } = { mayBePipe: false }): Uint8Array {
  try {
    const fd = mayBePipe ? openSync(path, 'r') : openRegular(path);
    try {
      return readAll(fd, Buffer.allocUnsafe(LARGEST_FILE + 1));
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    // A temporary failure: the file may be readable a little later.
    if (systemProblem(error)?.status !== 503) throw error;
    throw new WfError('storage', `cannot read "${path}": ${systemReason(codeOf(error))}`, { cause: error });
  }
}

function readAll(fd: number, buffer: Buffer): Uint8Array {
  let length = 0;
  while (length < buffer.length) {
    const count = readSync(fd, buffer, length, buffer.length - length, null);
    if (count === 0) break;
    length += count;
  }
  return buffer.subarray(0, length);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

const reasons: { readonly [code: string]: string } = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
  ELOOP: 'its symbolic links form a loop',
  ENXIO: 'it is a socket, not a regular file',
};

function reason(error: unknown): string {
  return reasons[codeOf(error)] ?? messageOf(error);
}
