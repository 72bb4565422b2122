import type { RunSummary } from '../core/run/summary.ts';
import type { RunBoard } from '../daemon/run-board.ts';
import { messageOf, WfError } from '../errors.ts';
import type { History } from '../service/history/history.ts';
import type { AcceptedRun } from '../service/runs/run-desk.ts';

/** Where a run that was accepted is looked at. */
export type AcceptedParts = {
  readonly history: Pick<History, 'read' | 'summarize'>;
  readonly board: Pick<RunBoard, 'touch'>;
};

/**
 * The run that somebody is answered with who has asked for one: the new one, or one that was there already and `isSame`. Throws
 * a `WfError` `run-exists` where the id is that of another run.
 */
export async function acceptedRun(
  { runId, isNew }: AcceptedRun,
  isSame: (run: RunSummary) => boolean,
  { history, board }: AcceptedParts,
): Promise<RunSummary> {
  board.touch();
  const run = await history.read(runId).catch((error: unknown) => {
    throw isNew ? unreadable(runId, error) : error;
  });
  if (run === null) throw new WfError('not-found', `the run "${runId}" is gone already`);
  const summary = history.summarize(run);
  if (isNew || isSame(summary)) return summary;
  throw new WfError('run-exists', `there is another run "${runId}"`, { help: 'choose another id' });
}

/** Whether a run was made by starting a workflow, by its file. A retry of it was asked for in another way. */
export function isStartOf(file: string): (run: RunSummary) => boolean {
  return (run) => run.file === file && run.retryOf === null;
}

/** The run is on the disk and will start: who asks again without its id would start another. */
function unreadable(runId: string, error: unknown): WfError {
  const why = messageOf(error);
  return new WfError('storage', `run ${runId} is queued, but cannot be shown now: ${why}`, {
    help: `check it by its id: wf status ${runId}`,
  });
}
