import { statSync } from 'node:fs';
import { join, parse, relative, resolve, sep } from 'node:path';
import { given } from '#core/data/collections.ts';
import type { Workflow } from '#core/workflow.ts';
import type { Diagnostic, Source } from '#language/diagnostic.ts';
import { type LoadRequest, type LoadResult, loadWorkflow, type RunTargets } from '#language/load.ts';
import { tryOr, WfError } from '#system/errors.ts';
import { didYouMean, nearNames } from '#system/near-names.ts';
import type { LoadWorkflow } from './load-workflow.ts';
import {
  fileNearby,
  filesOf,
  findWorkflowFiles,
  groupOf,
  InvalidWorkflow,
  pathKind,
  workflowsIn,
} from './workflow-directory.ts';

/** The directories in which workflows are found. */
export type WorkflowDirectories = {
  readonly cwd: string;
  readonly dagsDir: string | null;
  /** The base configuration, which provides defaults for every workflow; it need not exist. */
  readonly base: string | null;
  readonly presets?: LoadRequest['presets'];
};

/** A workflow by its file, by its name in the workflows directory, or as a text from standard input. */
export type WorkflowReference =
  | {
      readonly name: string;
      /** The name may be a pipe, because the user typed it. */
      readonly mayBePipe?: boolean;
    }
  | { readonly text: Uint8Array };

/** A valid workflow with its warnings. */
export type LoadedWorkflow = {
  readonly workflow: Workflow;
  readonly sources: readonly Source[];
  readonly warnings: readonly Diagnostic[];
};

/** Loads a workflow, with the problems that `checks` adds. Throws `not-found` for an unknown workflow. */
export function readWorkflow(
  reference: WorkflowReference,
  directories: WorkflowDirectories,
  checks: Pick<LoadRequest, 'environment' | 'mostBytes' | 'isStrict' | 'pools'> = {},
): LoadResult {
  const { base, presets } = directories;
  const runTargets = (dir: string) => targetsFrom({ ...directories, cwd: dir });
  const beside = { base, runTargets, ...given({ presets }), ...checks };
  if ('text' in reference) return loadWorkflow({ text: reference.text, file: null, dir: directories.cwd, ...beside });
  const file = findWorkflow(reference.name, directories);
  // The user typed the name, but not the file that was found for it in the workflows directory.
  const mayBePipe = reference.mayBePipe === true && file === resolve(directories.cwd, reference.name);
  return loadWorkflow({ file, group: groupOf(file, directories.dagsDir), ...beside, mayBePipe });
}

function targetsFrom({ cwd, dagsDir }: WorkflowDirectories): RunTargets {
  const listed = () => listWorkflowFiles(dagsDir);
  return {
    exists: (name) =>
      withExtension(resolve(cwd, name)) !== null || listed().some((file) => isNamed(file, name, dagsDir ?? '')),
    names: () => [...listed(), ...filesOf(cwd)].map((file) => parse(file).name),
    nearby: (name) => fileNearby(name, cwd),
  };
}

/** Loads a workflow to run. Throws an `InvalidWorkflow`, or a `WfError` `not-found`. */
export function getWorkflow(
  reference: WorkflowReference,
  directories: WorkflowDirectories,
  checks: Pick<LoadRequest, 'isStrict'> = {},
): LoadedWorkflow {
  return runnable(reference, readWorkflow(reference, directories, checks));
}

/** Returns the loaded workflow. Throws an `InvalidWorkflow` if it has errors. */
export function runnable(reference: WorkflowReference, result: LoadResult): LoadedWorkflow {
  const { workflow, sources, diagnostics } = result;
  if (!workflow) throw new InvalidWorkflow('name' in reference ? reference.name : '-', diagnostics, sources);
  return { workflow, sources, warnings: diagnostics };
}

/** Returns the workflows of the current directory, and those of the workflows directory, each in the order of their paths. */
export function listWorkflows(directories: WorkflowDirectories): Record<'here' | 'listed', readonly ListedWorkflow[]> {
  const listed = listWorkflowFiles(directories.dagsDir);
  const here = workflowsIn(directories.cwd).map((name) => join(directories.cwd, name));
  const read = (file: string) => readListed(file, directories);
  return { here: here.filter((file) => !listed.includes(file)).map(read), listed: listed.map(read) };
}

/** Returns the size of a workflow's file without its imports; 0 for a pipe or another input without a size. */
export function workflowBytes(reference: WorkflowReference, directories: WorkflowDirectories): number {
  return 'text' in reference ? reference.text.length : statSync(findWorkflow(reference.name, directories)).size;
}

/**
 * Returns the absolute path of a workflow: a file (its extension is optional) relative to the current directory, else a
 * file of that name anywhere in the workflows directory. Throws a `WfError` if none or several match.
 */
export function findWorkflow(name: string, { cwd, dagsDir }: WorkflowDirectories): string {
  const beside = withExtension(resolve(cwd, name));
  if (beside !== null) return beside;
  const listed = listWorkflowFiles(dagsDir);
  const found = listed.filter((file) => isNamed(file, name, dagsDir ?? ''));
  const [only, other] = found;
  if (only === undefined) throw notFound(name, cwd, dagsDir, listed);
  if (other === undefined) return only;
  throw new WfError('usage', `"${name}" is ambiguous: it matches ${found.length} workflows: ${found.join(', ')}`, {
    help: 'name its group too, as in "group/name", or give its path',
  });
}

/** Lists the workflow files; empty if the directory cannot be read. */
function listWorkflowFiles(dagsDir: string | null): readonly string[] {
  return tryOr([], () => (dagsDir === null ? [] : findWorkflowFiles(dagsDir).files));
}

/** The path is readable and no directory; a pipe such as `<(generate)` counts. */
function withExtension(path: string): string | null {
  return [path, `${path}.yaml`, `${path}.yml`].find((each) => pathKind(each) === 'file') ?? null;
}

function isNamed(file: string, name: string, dagsDir: string): boolean {
  const { dir, name: base, base: full } = parse(relative(dagsDir, file));
  const group = dir === '' ? '' : `${dir.split(sep).join('/')}/`;
  return [base, full, `${group}${base}`, `${group}${full}`].includes(name);
}

function notFound(name: string, cwd: string, dagsDir: string | null, listed: readonly string[]): WfError {
  // An unset variable of a script; the path "" would be the current directory.
  if (name === '')
    return new WfError('not-found', 'the name of the workflow is empty', { help: 'name a file or a workflow' });
  if (pathKind(resolve(cwd, name)) === 'directory') return directoryNamed(name, cwd);
  const candidates = [...listed.map((file) => parse(file).name), ...filesOf(cwd)];
  const looked = dagsDir === null ? cwd : `${cwd} and ${dagsDir}`;
  const help = didYouMean(nearNames(name, candidates)) || `looked in ${looked}`;
  return new WfError('not-found', `no workflow "${name}"`, { help });
}

/** Files listed in a message; of more, only one is named. */
const MOST_NAMED = 5;

function directoryNamed(name: string, cwd: string): WfError {
  const files = filesOf(resolve(cwd, name)).map((file) => join(name, file));
  const several =
    files.length > MOST_NAMED ? `one of ${files.length} files in it, such as ${files[0]}` : files.join(' or ');
  const help = files.length === 0 ? 'name a workflow file; there is none in it' : `name ${several}`;
  return new WfError('not-found', `"${name}" is a directory, not a workflow`, { help });
}

/** A workflow of the workflows directory; if it has errors, its `workflow` is null. */
export type ListedWorkflow = LoadResult & { readonly file: string; readonly name: string; readonly group: string };

/** The workflows directory, and the base configuration, which need not exist. */
export type ListingPaths = { readonly dagsDir: string | null; readonly base: string | null };

/** Reads a file for a listing. An unreadable file is listed too and does not affect the others. */
function readListed(file: string, directories: ListingPaths): ListedWorkflow {
  const request = requestOf(file, directories);
  return listed(
    request,
    orTold(() => loadWorkflow(request)),
  );
}

/** Reads a file for a listing by a loader that may be asynchronous. */
export function loadListed(
  file: string,
  directories: ListingPaths,
  load: LoadWorkflow,
): ListedWorkflow | Promise<ListedWorkflow> {
  const request = requestOf(file, directories);
  const loaded = orTold(() => load(request));
  if (!(loaded instanceof Promise)) return listed(request, loaded);
  return loaded.catch((error: unknown) => toldOf(error)).then((result) => listed(request, result));
}

type Request = { readonly file: string; readonly group: string; readonly base: string | null };

function requestOf(file: string, { dagsDir, base }: ListingPaths): Request {
  return { file, group: groupOf(file, dagsDir), base };
}

function listed({ file, group }: Request, loaded: LoadResult): ListedWorkflow {
  return { ...loaded, file, group, name: loaded.workflow?.name ?? parse(file).name };
}

function orTold<T>(load: () => T): T | LoadResult {
  try {
    return load();
  } catch (error) {
    return toldOf(error);
  }
}

function toldOf(error: unknown): LoadResult {
  // A temporary error of the machine is not a fault of the file and must not be cached as one.
  if (!(error instanceof WfError) || error.code === 'storage') throw error;
  return { workflow: null, sources: [], diagnostics: [unreadable(error)] };
}

/** Creates a diagnostic for a file as a whole: that it cannot be read, or another one. */
export function unreadable(
  { message, help }: Pick<WfError, 'message' | 'help'>,
  code = 'unreadable',
): LoadResult['diagnostics'][number] {
  return { severity: 'error', code, message, position: null, label: '', related: [], importedFrom: [], help };
}
