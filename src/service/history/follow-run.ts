import type { Owner, StoredEvent } from '../../core/run/run.ts';
import { isFinished } from '../../core/run/run-state.ts';
import type { LostRunTools } from './lost-run.ts';
import type { PastRun } from './past-run.ts';

/** What following a run takes; `read` settles one whose owner has died. */
export type FollowTools = Pick<LostRunTools, 'archive' | 'clock' | 'isAlive' | 'isElsewhere'> & {
  readonly read: (runId: string) => Promise<PastRun | null>;
};

/** How often it is looked whether the process that carries the run on is still alive. */
const lookMs = 1000;

/**
 * What happens to a run behind what was read of it, until it is over, is gone, or the signal is aborted. A run whose owner
 * dies meanwhile is settled, so that its end is told like any other.
 */
export async function* followRun(
  run: PastRun,
  tools: FollowTools,
  signal: AbortSignal,
): AsyncGenerator<StoredEvent, void> {
  const { archive, clock } = tools;
  let owner = run.state.owner;
  const over = new AbortController();
  const end = () => over.abort();
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted || isFinished(run.state)) end();
  let failure: { readonly error: unknown } | null = null;
  let cancelTimer = () => {};
  const look = () => isOver(run.runId, owner, tools).then((isSo) => (isSo ? end() : lookLater()));
  const fail = (error: unknown) => {
    failure = { error };
    end();
  };
  const lookLater = () => {
    if (!over.signal.aborted) cancelTimer = clock.setTimer(clock.now() + lookMs, () => void look().catch(fail));
  };
  lookLater();
  try {
    for await (const event of archive.followEvents(run.runId, run.stored?.events.at(-1)?.seq ?? 0, over.signal)) {
      if (event.type === 'run.owned') owner = event.owner;
      yield event;
    }
    if (failure !== null) throw (failure as { error: unknown }).error;
  } finally {
    cancelTimer();
    signal.removeEventListener('abort', end);
    end();
  }
}

/** Where nothing can be written, the end of a lost run is not among its events. */
async function isOver(runId: string, owner: Owner | null, tools: FollowTools): Promise<boolean> {
  const { isAlive, isElsewhere = () => false, read } = tools;
  if (owner !== null && isAlive(owner) && !isElsewhere(owner)) return false;
  const run = await read(runId);
  return run === null || isFinished(run.state);
}
