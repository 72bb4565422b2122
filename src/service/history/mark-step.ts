import { namedStep } from '#core/fan-out/instance-name.ts';
import { isFinished } from '#core/run/run-state.ts';
import { transition } from '#core/run/transition.ts';
import { handlerKind } from '#core/workflow.ts';
import type { RunArchive } from '#store/store.ts';
import type { Clock } from '#system/clock.ts';
import { WfError } from '#system/errors.ts';
import type { StepMark } from '../service.ts';
import type { History } from './history.ts';
import { type PastRun, readPastRun } from './past-run.ts';
import { noSuchStep } from './run-reference.ts';

/** The dependencies of marking. */
export type MarkTools = {
  readonly archive: RunArchive;
  readonly history: Pick<History, 'read'>;
  readonly clock: Clock;
};

/**
 * Records a status for a step, which replaces its own, and returns the updated run. Throws a `WfError`: `not-found` for
 * a run or a step, `run-active`, `storage`.
 */
export async function markStep(
  runId: string,
  mark: StepMark,
  { archive, history, clock }: MarkTools,
): Promise<PastRun> {
  requireMarkable(runId, mark, await history.read(runId));
  const journal = archive.openForRecovery(runId);
  try {
    const { state } = requireMarkable(runId, mark, readPastRun(archive, runId));
    const step = namedStep(state, mark.step) ?? mark.step;
    journal.append(transition(state, { type: 'mark', at: clock.now(), ...mark, step }).events);
  } finally {
    await journal.close();
  }
  return requireMarkable(runId, mark, readPastRun(archive, runId));
}

function requireMarkable(runId: string, { step }: StepMark, run: PastRun | null): PastRun {
  if (run === null) throw new WfError('not-found', `there is no run "${runId}"`);
  const { state, stored, damage } = run;
  if (stored === null) {
    const help = `wf retry ${runId} --file runs the present file`;
    throw new WfError('storage', `run ${runId} cannot be changed: ${damage.join(' ')}`, { help });
  }
  if (!isFinished(state)) {
    const help = 'mark its steps after it has finished';
    throw new WfError('run-active', `run ${runId} is still running`, { help });
  }
  const name = namedStep(state, step);
  if (name === null || handlerKind(name) !== null) throw noSuchStep(step, state.graph);
  return run;
}
