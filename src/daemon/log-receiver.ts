import { namedStep } from '#core/fan-out/instance-name.ts';
import { isFinished, stepState } from '#core/run/run-state.ts';
import type { History, PastRun } from '#service/history.ts';
import type { LogReceiver, SentLog } from '#service/served.ts';
import { WfError } from '#system/errors.ts';
import { type FilePiece, writePiece } from '#system/file-pieces.ts';

/** What logs of workers are received with. */
type ReceiverParts = {
  readonly history: Pick<History, 'read'>;
  /** The worker that makes an attempt of an engine's run now, by its name; null: none. */
  readonly holderOf: (run: PastRun, step: string, attempt: number) => Promise<string | null>;
};

/** Running attempts whose workers are remembered. */
const MAX_HELD = 5000;

/** Receives the logs of an engine's runs from its workers, each of those attempts that it makes. */
export function createLogReceiver({ history, holderOf }: ReceiverParts): LogReceiver {
  const held = new Map<string, string>();
  const isHeld = async (run: PastRun, { step, attempt, worker }: SentLog): Promise<boolean> => {
    const key = JSON.stringify([run.runId, step, attempt]);
    if (held.get(key) === worker) return true;
    if ((await holderOf(run, step, attempt)) !== worker) return false;
    held.set(key, worker);
    const [oldest] = held.keys();
    if (held.size > MAX_HELD && oldest !== undefined) held.delete(oldest);
    return true;
  };
  return async (log: SentLog, piece: FilePiece) => {
    const { runId, step, attempt, stream, worker } = log;
    const run = await history.read(runId);
    if (run?.stored == null) throw new WfError('not-found', `there is no run "${runId}"`);
    const { owner } = run.state;
    if (owner === null || !('engine' in owner)) throw new WfError('conflict', `run ${runId} is not one of an engine`);
    if (namedStep(run.state, step) !== step) throw new WfError('not-found', `the run has no step "${step}"`);
    if (!hasEnded(run, step, attempt) && !(await isHeld(run, log)))
      throw new WfError('conflict', `the worker "${worker}" does not make attempt ${attempt} of step "${step}"`);
    const { path } = run.stored.logs.file(step, attempt, stream);
    if (path === null) throw new Error('a stored log has no path');
    return writePiece(path, piece);
  };
}

function hasEnded({ state }: PastRun, name: string, attempt: number): boolean {
  const { attempt: last, status } = stepState(state, name);
  if (attempt !== last) return attempt < last;
  return isFinished(state) || !['scheduled', 'running'].includes(status);
}
