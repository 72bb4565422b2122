import type { RunSummary } from '#core/summary/summary.ts';
import type { History } from '#service/history/history.ts';
import type { ServedRuns } from '#service/served.ts';
import type { AcceptedRun } from '#service/service.ts';
import { messageOf, WfError } from '#system/errors.ts';

/** The dependencies of reading an accepted run. */
export type AcceptedParts = {
  readonly history: Pick<History, 'read' | 'summarize'>;
  readonly runIndex: Pick<ServedRuns, 'touch'>;
};

/**
 * Returns the run for the response to a start or retry: the new run, or an existing run for which `isSame` holds. Throws
 * a `WfError` `run-exists` if the id belongs to another run.
 */
export async function acceptedRun(
  { runId, isNew }: AcceptedRun,
  isSame: (run: RunSummary) => boolean,
  { history, runIndex }: AcceptedParts,
): Promise<RunSummary> {
  runIndex.touch();
  const run = await history.read(runId).catch((error: unknown) => {
    throw isNew ? unreadable(runId, error) : error;
  });
  if (run === null) throw new WfError('not-found', `the run "${runId}" was already removed`);
  const summary = history.summarize(run);
  if (isNew || isSame(summary)) return summary;
  throw new WfError('run-exists', `there is another run "${runId}"`, { help: 'choose another id' });
}

/** Returns a test whether a run is a start (not a retry) of the workflow of a file. */
export function isStartOf(file: string): (run: RunSummary) => boolean {
  return (run) => run.file === file && run.retryOf === null;
}

/** Creates the error for a stored run that cannot be read: a repeated request without its id would start another run. */
function unreadable(runId: string, error: unknown): WfError {
  const why = messageOf(error);
  return new WfError('storage', `run ${runId} is queued, but cannot be shown now: ${why}`, {
    help: `check it by its id: wf status ${runId}`,
  });
}
