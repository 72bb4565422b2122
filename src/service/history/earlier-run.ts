import { isFinished } from '#core/run/run-state.ts';
import type { RunSummary } from '#core/summary/summary.ts';
import { anyRun, type History } from './history.ts';
import type { PastRun } from './past-run.ts';

/** Returns the last finished run of the same workflow before this one; null if it has none. */
export async function earlierRun(run: PastRun, history: History): Promise<RunSummary | null> {
  const { file, workflow } = history.summarize(run);
  const filter = { ...anyRun, workflow: file ?? workflow, behind: history.placeOf(run) };
  for await (const past of history.list(filter)) {
    if (isFinished(past.state)) return history.summarize(past);
  }
  return null;
}
