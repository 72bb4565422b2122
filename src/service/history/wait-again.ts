import type { Owner, RunEvent } from '../../core/run/run.ts';
import type { RunQueue } from '../../store/store.ts';
import type { PastRun } from './past-run.ts';

/** What the decision takes. */
export type WaitAgainTools = {
  /** Absent: no run waits again. */
  readonly queue?: Pick<RunQueue, 'readLaunch'>;
  /** Where processes are that the owner may have left; absent: here. */
  readonly leftBy?: (owner: Owner) => 'here' | 'elsewhere' | 'none';
};

const mostRestarts = 3;

/**
 * The event by which a lost run waits for a daemon again, or null for a run that ends as lost. Only a run that a daemon accepted
 * and whose first step was not scheduled yet waits again. After a crash of the machine the journal may lack events that were
 * never flushed, and so may a damaged one: neither tells that no step has started.
 */
export function waitAgain(run: PastRun, tools: WaitAgainTools, at: number): RunEvent | null {
  const { state, stored, damage, runId } = run;
  if (stored === null || state.owner === null || state.startedAt !== null || state.cancellation !== null) return null;
  if (damage.length > 0 || (tools.leftBy?.(state.owner) ?? 'here') !== 'here') return null;
  const queued = stored.events.find(({ type }) => type === 'run.queued');
  if (queued?.type !== 'run.queued' || !queued.lasting) return null;
  const starts = stored.events.filter(({ type }) => type === 'run.owned').length;
  if (starts > mostRestarts || (tools.queue?.readLaunch(runId) ?? null) === null) return null;
  return { type: 'run.queued', at, by: queued.by, lasting: true };
}
