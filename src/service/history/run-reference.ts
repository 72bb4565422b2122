import { realpathSync } from 'node:fs';
import { dirname, join, parse, resolve, sep } from 'node:path';
import type { Graph } from '#core/graph.ts';
import type { RunArchive, RunLabel } from '#store/store.ts';
import { failedAs, tryOr, WfError } from '#system/errors.ts';
import { didYouMean, nearNames } from '#system/near-names.ts';
import { workflowHere } from '../workflows/workflow-directory.ts';
import { findWorkflow, type WorkflowDirectories } from '../workflows/workflows.ts';

/** How words name runs. */
export type Reach = {
  /** The directory of relative paths, and of the files whose names mean only their own runs. */
  readonly cwd: string;
  /** Names mean the runs of any file: of a daemon, which works for several directories, and with `--any`. */
  readonly any: boolean;
  /** Receives which runs `@latest` and `@failed` were chosen from. */
  readonly tell?: (line: string) => void;
};

const MOST_CANDIDATES = 5;

/**
 * Returns the id of the run that a reference names: an id or a unique prefix of one, or the last run of a workflow, by
 * the workflow's name or file. Null if no run matches, also for an empty reference (an unset variable of a script).
 * A word that names a file here means only the runs of that file. Throws a `WfError` `usage` if several runs match.
 */
export function findRunId(archive: RunArchive, word: string, reach: Reach): string | null {
  if (word === '') return null;
  const ids = archive.list();
  if (ids.includes(word)) return word;
  const begun = ids.filter((id) => id.startsWith(word));
  // Text that looks like the start of a UUID is treated as one, which saves reading the start of every journal.
  if (/^[0-9a-f]{8}(-|$)/.test(word) && begun.length > 0) return onlyOne(begun, word, archive);
  const last = lastRunId({ archive, ids }, word, reach);
  if (last !== null || begun.length === 0 || fileHere(word, reach) !== null) return last;
  return onlyOne(begun, word, archive);
}

/** Returns the id of the last run of the workflow `name`; null if it has none. `ids` must be all runs, newest first. */
export function lastRunId(
  { archive, ids }: { readonly archive: RunArchive; readonly ids: readonly string[] },
  name: string,
  reach: Reach,
): string | null {
  const isMeant = namesWorkflow(name, reach);
  const labelOf = archive.labels(ids);
  return ids.find((id) => isMeant(labelOf(id)) && isMeant(archive.readCreated(id) ?? labelOf(id))) ?? null;
}

/**
 * Returns a test whether a run belongs to the workflow `name`: to the file here that it names, else by name, group and
 * name, or file.
 */
export function namesWorkflow(name: string, reach: Reach): (run: RunLabel | null) => boolean {
  const path = resolve(reach.cwd, name);
  const here = fileHere(name, reach);
  return forLabels((run) => (here === null ? isCalled(run, name, path) : isOfFile(run, here)));
}

/** Returns a test that examines each distinct label once. */
function forLabels(test: (run: RunLabel) => boolean): (run: RunLabel | null) => boolean {
  const answers = new Map<RunLabel, boolean>();
  return (run) => {
    if (run === null) return false;
    const answer = answers.get(run) ?? test(run);
    answers.set(run, answer);
    return answer;
  };
}

function fileHere(name: string, { cwd, any }: Reach): string | null {
  return any ? null : workflowHere(name, cwd);
}

/** Whether a run is of a file, by whatever path. Two links to one file are two files, as each lies in its own project. */
function isOfFile({ file }: RunLabel, here: string): boolean {
  if (file === null || file === here) return file === here;
  const [run, own] = [inRealDirectory(file), inRealDirectory(here)];
  return run === own || run === realPath(here) || realPath(file) === own;
}

function inRealDirectory(file: string): string {
  return join(realPath(dirname(file)), parse(file).base);
}

function realPath(path: string): string {
  return tryOr(path, () => realpathSync(path));
}

/** Returns a test whether a run is of a file below the directory. */
export function liesBelow(directory: string): (run: RunLabel | null) => boolean {
  const base = directory.endsWith(sep) ? directory : `${directory}${sep}`;
  return forLabels(({ file }) => file !== null && (file.startsWith(base) || inRealDirectory(file).startsWith(base)));
}

/** Throws a `WfError` `usage` unless the run belongs to the workflow `name`. */
export function requireRunOf(name: string, run: RunLabel & { readonly runId: string }, cwd: string): void {
  if (namesWorkflow(name, { cwd, any: true })(run)) return;
  throw new WfError('usage', `the run ${run.runId} is of workflow "${run.workflow}", not of "${name}"`);
}

type KnownSources = {
  readonly history: { readonly knowsWorkflow: (name: string) => boolean };
  readonly archive: RunArchive;
  readonly directories: WorkflowDirectories;
  readonly reach: Reach;
};

/**
 * Throws a `WfError` `not-found` for a name that is not a workflow, `usage` for a file here if only another file of the name
 * has run; returns for a workflow that has not run.
 */
export function requireKnownWorkflow(name: string, { history, archive, directories, reach }: KnownSources): void {
  if (history.knowsWorkflow(name)) return;
  const elsewhere = runElsewhere(archive, name, reach);
  if (elsewhere !== null) throw elsewhere;
  try {
    findWorkflow(name, directories);
  } catch (error) {
    if (!failedAs(error, 'not-found')) throw error;
    if (!archive.list().includes(name)) throw noSuchRun(archive, name, reach);
    throw new WfError('not-found', `"${name}" is a run, not a workflow`, { help: `wf status ${name} shows it` });
  }
}

/** Creates the error for a reference that matches no run. */
export function noSuchRun(archive: RunArchive, word: string, reach: Reach): WfError {
  const ids = archive.list();
  if (ids.length === 0) return new WfError('not-found', 'there are no runs yet');
  const labelOf = archive.labels(ids);
  if (word === '@failed') return noFailedRun(ids.map(labelOf), reach);
  const elsewhere = runElsewhere(archive, word, reach);
  if (elsewhere !== null) return elsewhere;
  const workflows = new Set(ids.flatMap((id) => labelOf(id)?.workflow ?? []));
  const help = didYouMean(nearNames(word, [...workflows, ...ids])) || 'wf history lists the runs';
  return new WfError('not-found', `no run and no workflow that has run is called "${word}"`, { help });
}

function noFailedRun(labels: readonly (RunLabel | null)[], { cwd, any }: Reach): WfError {
  if (any || !labels.some(liesBelow(cwd))) return new WfError('not-found', 'no run has failed');
  return new WfError('not-found', `no run of a file below ${cwd} has failed`, { help: '--any looks at all runs' });
}

/** Creates the error for a file here that has not run, if the last run of its name is of another file. */
function runElsewhere(archive: RunArchive, word: string, reach: Reach): WfError | null {
  const here = fileHere(word, reach);
  const last = here === null ? null : lastRunId({ archive, ids: archive.list() }, word, { ...reach, any: true });
  if (last === null) return null;
  const file = archive.readCreated(last)?.file;
  const other = file == null ? 'a workflow without a file' : file;
  return new WfError('usage', `${here} has not run; the last run called "${word}" is of ${other}`, {
    help: `--any takes it, run ${last}`,
  });
}

/** Creates the error for a run of which neither the workflow nor an event can be read; `problems`: of the disk, or empty. */
export function unreadable({ directoryOf }: RunArchive, runId: string, problems: readonly string[]): WfError {
  const directory = directoryOf(runId);
  if (problems.length > 0) {
    const help = `its files are in ${directory}; check who owns them, and the disk`;
    return new WfError('not-found', `run ${runId} cannot be read: ${problems.join('; ')}`, { help });
  }
  return new WfError('not-found', `run ${runId} cannot be read: its workflow and its events are damaged or missing`, {
    help: `what is left, such as the output of steps, is in ${directory}; remove this directory to forget the run`,
  });
}

function onlyOne(ids: readonly string[], word: string, archive: RunArchive): string {
  const [only, other] = ids;
  if (only !== undefined && other === undefined) return only;
  const shown = ids.slice(0, MOST_CANDIDATES);
  const named = shown.map((id) => `${id} (${archive.readCreated(id)?.workflow ?? 'unknown'})`);
  const more = ids.length > shown.length ? ', ...' : '';
  throw new WfError('usage', `"${word}" is the prefix of ${ids.length} run ids`, {
    help: `${named.join(', ')}${more}`,
  });
}

function isCalled({ file, group, workflow }: RunLabel, name: string, path: string): boolean {
  const base = file === null ? null : parse(file);
  const names = base === null ? [workflow] : [workflow, base.name, base.base];
  return file === path || names.includes(name) || (group !== '' && names.some((each) => `${group}/${each}` === name));
}

/** Creates the error for an unknown step of a workflow. */
export function noSuchStep(name: string, { nodes, stepCount }: Graph): WfError {
  const names = nodes.slice(0, stepCount).map((node) => node.name);
  const help = didYouMean(nearNames(name, names)) || `its steps: ${names.join(', ')}`;
  return new WfError('not-found', `the workflow has no step "${name}"`, { help });
}
