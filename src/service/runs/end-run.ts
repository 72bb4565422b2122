import { namedStep } from '#core/fan-out/instance-name.ts';
import { ownerName } from '#core/run/run.ts';
import { isFinished } from '#core/run/run-state.ts';
import { transition } from '#core/run/transition.ts';
import { handlerKind } from '#core/workflow.ts';
import type { Engine } from '#engine/engine.ts';
import { WfError } from '#system/errors.ts';
import type { History } from '../history/history.ts';
import { referenceTo } from '../history/lost-run.ts';
import { type PastRun, readPastRun, requireRun } from '../history/past-run.ts';
import { noSuchStep } from '../history/run-reference.ts';
import type { StepMark, StopAnswer, StopOptions } from '../service.ts';
import { cancelQueued, type QueueTools } from './queued-run.ts';

/** The pause before a run is read again whose last event was not its end, in milliseconds. */
const LOOK_AGAIN_MS = 50;

/** The dependencies of stopping a run. */
export type StopTools = QueueTools & {
  readonly history: Pick<History, 'read' | 'follow' | 'summarize'>;
  readonly engine: Pick<Engine, 'cancel' | 'answer'>;
};

/** Requests a stop durably; cancels a waiting run at once. Throws a `WfError` `not-found` or `storage`. */
export async function stopRun(runId: string, request: StopOptions, tools: StopTools): Promise<StopAnswer> {
  const run = requireRun(runId, await tools.history.read(runId));
  const forced = request.kill === 'now';
  if (isFinished(run.state)) return { result: 'over', forced };
  if (run.state.promise !== null && (await cancelQueued(runId, `stopped by ${request.by}`, tools))) {
    return { result: 'canceled', forced };
  }
  return { result: 'asked', forced: await tools.engine.cancel(referenceTo(run), request) };
}

/** Resolves to the run when it has finished. If its owner dies meanwhile, the run is settled. */
export async function untilOver(runId: string, tools: Pick<StopTools, 'history' | 'clock'>): Promise<PastRun> {
  const { clock, history } = tools;
  for (let run = requireRun(runId, await history.read(runId)); ; ) {
    if (isFinished(run.state)) return run;
    for await (const _ of history.follow(run, new AbortController().signal));
    run = requireRun(runId, await history.read(runId));
    if (!isFinished(run.state)) {
      await new Promise<void>((resolve) => clock.setTimer(clock.now() + LOOK_AGAIN_MS, resolve));
    }
  }
}

/**
 * Records a run as lost whose process is not visible here, because the user states that it has ended. Sends no signal.
 * Throws a `WfError`: `not-found`, `run-active` if the process is known to be alive or the loss cannot be recorded,
 * `storage`.
 */
export async function declareLost(
  runId: string,
  tools: Pick<StopTools, 'history' | keyof QueueTools>,
): Promise<PastRun> {
  const found = requireRun(runId, await tools.history.read(runId));
  if (isFinished(found.state)) return found;
  const { owner } = found.state;
  if (owner === null) {
    throw new WfError('run-active', `run ${runId} waits: no process owns it`, { help: `wf stop ${runId} cancels it` });
  }
  const who = ownerName(owner);
  if (!found.isUnjudged) throw new WfError('run-active', `run ${runId} is still running: ${who} answers`);
  if ('engine' in owner) return recordLost(found, `${who} is gone`, tools);
  tools.archive.declareGone(runId);
  const run = requireRun(runId, await tools.history.read(runId));
  if (isFinished(run.state)) return run;
  throw new WfError('run-active', `run ${runId} cannot be recorded as lost: ${who} cannot be identified`);
}

async function recordLost({ runId, state }: PastRun, message: string, tools: QueueTools): Promise<PastRun> {
  const { archive, clock } = tools;
  const journal = archive.openForRecovery(runId);
  try {
    journal.append(transition(state, { type: 'lost', at: clock.now(), message }).events);
  } finally {
    await journal.close();
  }
  return requireRun(runId, readPastRun(archive, runId));
}

/** Replaces the status of a step, and returns the run. Throws `not-found`, `run-active`, `storage`. */
export async function markStep(
  runId: string,
  mark: StepMark,
  { archive, history, clock }: Pick<StopTools, 'archive' | 'history' | 'clock'>,
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

function requireMarkable(runId: string, { step }: StepMark, found: PastRun | null): PastRun {
  const run = requireRun(runId, found);
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
