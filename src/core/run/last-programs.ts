import { nodeAt, nodeIndex } from '../graph.ts';
import type { HandlerKind } from '../workflow.ts';
import { handlerState, unsettledHandlers } from './handling.ts';
import { isFinished, type RunState, type StepState, unsettledSteps } from './run-state.ts';

/** The handlers that run after the steps or beside them. */
const laterHandlers: readonly HandlerKind[] = ['success', 'failure', 'cancel', 'exit', 'wait'];

/** Whether no further program will start: every unsettled step is running its last program. */
export function startsNoMore(run: RunState): boolean {
  const { pending, scheduled, waiting } = run.counts;
  if (run.startedAt === null || isFinished(run) || pending + scheduled + waiting > 0) return false;
  if (run.handling === null && laterHandlers.some((kind) => handlerState(run, kind) !== null)) return false;
  return [...unsettledSteps(run), ...unsettledHandlers(run)].every((step) => isLastProgram(run, step));
}

/** Other executors start several programs, as do services, which are checked. A variable may give a number of retries. */
function isLastProgram({ graph }: RunState, { name, status, process, retries }: StepState): boolean {
  const { executor, service, fanOut, retry, repeat, numbers } = nodeAt(graph, nodeIndex(graph, name));
  const isOneProgram = executor.type === 'command' && service === undefined && fanOut === undefined;
  const isLastAttempt = retries >= retry.limit && repeat === null && numbers === undefined;
  return status === 'running' && process !== null && isOneProgram && isLastAttempt;
}
