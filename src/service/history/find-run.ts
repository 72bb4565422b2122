import { parse, resolve } from 'node:path';
import { WfError } from '../../errors.ts';
import { didYouMean, nearNames } from '../../language/near-names.ts';
import type { RunArchive, RunLabel } from '../../store/store.ts';

/** How many runs are named when a reference could mean any of them. */
const mostCandidates = 5;

/**
 * The id of the run that a word means: an id or its unique beginning, or the last run of a workflow, by the workflow's name or
 * file. Null for a word that means none, as an empty one does (a variable of a script that is not set); throws a `WfError` `usage` for one that means several runs.
 */
export function findRunId(archive: RunArchive, word: string, cwd: string): string | null {
  if (word === '') return null;
  const ids = archive.list();
  if (ids.includes(word)) return word;
  const begun = ids.filter((id) => id.startsWith(word));
  // What looks like the start of a UUID is one: so the beginnings of all journals need not be read for it.
  if (/^[0-9a-f]{8}(-|$)/.test(word) && begun.length > 0) return onlyOne(begun, word, archive);
  const isMeant = namesWorkflow(word, cwd);
  const labelOf = archive.labels(ids);
  const last = ids.find((id) => isMeant(labelOf(id)) && isMeant(archive.readCreated(id) ?? labelOf(id)));
  return last ?? (begun.length > 0 ? onlyOne(begun, word, archive) : null);
}

/**
 * Tells whether a run is one of the workflow that a person calls `name`: by its name, its group and name, or its file. Runs
 * that share a label cost one look at it.
 */
export function namesWorkflow(name: string, cwd: string): (run: RunLabel | null) => boolean {
  const path = resolve(cwd, name);
  const answers = new Map<RunLabel, boolean>();
  return (run) => {
    if (run === null) return false;
    const answer = answers.get(run) ?? isCalled(run, name, path);
    answers.set(run, answer);
    return answer;
  };
}

/** Throws a `WfError` `usage` unless the run is one of the workflow that a person calls `name`. */
export function requireRunOf(name: string, run: RunLabel & { readonly runId: string }, cwd: string): void {
  if (namesWorkflow(name, cwd)(run)) return;
  throw new WfError('usage', `the run ${run.runId} is of workflow "${run.workflow}", not of "${name}"`);
}

/** What to say when a word means no run. */
export function noSuchRun(archive: RunArchive, word: string): WfError {
  const ids = archive.list();
  if (ids.length === 0) return new WfError('not-found', 'there are no runs yet');
  if (word === '@failed') return new WfError('not-found', 'no run has failed');
  const labelOf = archive.labels(ids);
  const workflows = new Set(ids.flatMap((id) => labelOf(id)?.workflow ?? []));
  const help = didYouMean(nearNames(word, [...workflows, ...ids])) || 'wf history lists the runs';
  return new WfError('not-found', `no run and no workflow that has run is called "${word}"`, { help });
}

function onlyOne(ids: readonly string[], word: string, archive: RunArchive): string {
  const [only, other] = ids;
  if (only !== undefined && other === undefined) return only;
  const shown = ids.slice(0, mostCandidates);
  const named = shown.map((id) => `${id} (${archive.readCreated(id)?.workflow ?? 'unknown'})`);
  const more = ids.length > shown.length ? ', ...' : '';
  throw new WfError('usage', `"${word}" is the beginning of ${ids.length} runs`, {
    help: `${named.join(', ')}${more}`,
  });
}

function isCalled({ file, group, workflow }: RunLabel, name: string, path: string): boolean {
  const base = file === null ? null : parse(file);
  const names = base === null ? [workflow] : [workflow, base.name, base.base];
  return file === path || names.includes(name) || (group !== '' && names.some((each) => `${group}/${each}` === name));
}
