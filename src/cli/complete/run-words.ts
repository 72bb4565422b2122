import type { Config } from '#config/config.ts';
import { dateAndTime, shortId } from '#render/text.ts';
import { findRunId, liesBelow, readPastRun } from '#service/history.ts';
import type { RunArchive } from '#store/store.ts';
import type { Candidate } from './expected.ts';

const MOST_RUNS = 30;
/** The number of recent runs in which workflows and a failed run are searched. */
const MOST_LOOKED = 200;

/** Returns the names of runs: the special ones, workflows that have run, and recent ids. */
export async function runWords(config: Config, word: string): Promise<readonly Candidate[]> {
  const archive = await openArchive(config);
  const ids = archive.list();
  if (ids.length === 0) return [];
  const recent = ids.slice(0, MOST_LOOKED);
  const workflows = new Set(recent.flatMap((id) => archive.readLabel(id)?.workflow ?? []));
  const begun = ids.filter((id) => id.startsWith(word)).slice(0, MOST_RUNS);
  return [
    { value: '@latest', description: 'the last run' },
    { value: '@failed', description: 'the last run that failed' },
    ...[...workflows].map((value) => ({ value, description: 'its last run' })),
    ...begun.map((id) => ({
      value: shortId(id),
      description: `${archive.readLabel(id)?.workflow ?? 'run'}, ${dateAndTime(archive.timeOf(id))}`,
    })),
  ];
}

/** Returns the steps and handlers of the workflow of a run. */
export async function stepCandidates(config: Config, run: string): Promise<readonly Candidate[]> {
  const archive = await openArchive(config);
  const runId = findRun(archive, run, config.cwd);
  const workflow = runId === null ? null : archive.read(runId)?.workflow;
  if (!workflow) return [];
  const handlers = Object.values(workflow.handlers).flatMap((handler) => handler ?? []);
  return [...workflow.steps, ...handlers].map(({ name, description }) => ({ value: name, description }));
}

async function openArchive(config: Config): Promise<RunArchive> {
  const { createPast } = await import('#app/history-app.ts');
  return createPast(config).archive;
}

/** A completion writes nothing: a lost run is not settled. */
function findRun(archive: RunArchive, word: string, cwd: string): string | null {
  const ids = archive.list().slice(0, MOST_LOOKED);
  if (word !== '@latest' && word !== '@failed') return findRunId(archive, word, { cwd, any: false });
  const isBelow = liesBelow(cwd);
  const below = ids.filter((id) => isBelow(archive.readLabel(id)));
  const meant = below.length > 0 ? below : ids;
  if (word === '@latest')
    return meant.find((id) => archive.readCreated(id)?.trigger !== 'workflow') ?? meant[0] ?? null;
  const recent = meant.slice(0, MOST_LOOKED);
  return recent.find((id) => readPastRun(archive, id)?.state.status === 'failed') ?? null;
}
