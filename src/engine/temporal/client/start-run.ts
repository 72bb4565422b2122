import type { Client, Connection } from '@temporalio/client';
import { allSteps, type Workflow } from '#core/workflow.ts';
import type { RunRequest } from '../../engine.ts';
import { type EngineAccess, ifGone } from '../connection.ts';
import { firstEvents, payloadValue } from '../history.ts';
import { DEFAULT_QUEUE, type EngineRun, RUN_TYPE, type RunQueueRef } from '../protocol.ts';

/** What a run of the engine needs besides its request. `queueSize`: the most runs of a queue at once, by its name. */
export type EngineRunParts = Pick<EngineRun, 'engine' | 'at' | 'lostAfterMs'> & {
  readonly keyId: string | null;
  readonly queueSize: (name: string) => number;
};

/** The argument of the workflow of a run. */
export function engineRun(request: RunRequest, { keyId, queueSize, ...own }: EngineRunParts): EngineRun {
  const { name, queue, maxConcurrent } = request.workflow;
  // Workers with another key cannot read the messages of a queue.
  const idOf = (kind: 'queue' | 'workflow', of: string) => `wf.${kind}.${keyId === null ? '' : `${keyId}.`}${of}`;
  // A run that waits for others of its workflow must not hold a slot that others need.
  const queues: readonly RunQueueRef[] = [
    ...(maxConcurrent === undefined
      ? []
      : [{ id: idOf('workflow', name), name: `${name} (maxConcurrent)`, limit: maxConcurrent }]),
    ...(queue === undefined ? [] : [{ id: idOf('queue', queue), name: queue, limit: queueSize(queue) }]),
  ];
  return { request, ...own, ...(queues.length === 0 ? {} : { queues }) };
}

/** A worker that does not know a run of this number of attempts may need longer for a replay than the usual limit. */
const LARGE_RUN = 1000;

/** Whether a run can make more attempts than that. */
function mayBeLarge(workflow: Workflow): boolean {
  const attempts = allSteps(workflow).reduce((sum, { fanOut, retry, repeat }) => {
    const items =
      fanOut === undefined ? 1 : typeof fanOut.items === 'string' ? Number.POSITIVE_INFINITY : fanOut.items.length;
    const repetitions = repeat === null ? 1 : (repeat.limit ?? Number.POSITIVE_INFINITY);
    return sum + items * repetitions * (1 + retry.limit);
  }, 0);
  return attempts > LARGE_RUN;
}

/** Starts a run in the engine. Resolves to false if it has a run with that id. Rejects with the errors of the connection. */
export async function startRun(client: Client, run: EngineRun): Promise<boolean> {
  const { runId, workflow, trigger } = run.request;
  try {
    await client.workflow.start(RUN_TYPE, {
      workflowId: runId,
      taskQueue: DEFAULT_QUEUE,
      args: [run],
      memo: { name: workflow.name, trigger },
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      workflowTaskTimeout: mayBeLarge(workflow) ? '60 seconds' : '10 seconds',
    });
    return true;
  } catch (error) {
    if (error instanceof Error && error.name === 'WorkflowExecutionAlreadyStartedError') return false;
    throw error;
  }
}

/** Reads what a run of the engine was started with; null if the engine does not know it, or no longer. */
export async function readStartedRun(access: EngineAccess<Connection>, runId: string): Promise<EngineRun | null> {
  const [first] = await firstEvents(access, { workflowId: runId }).catch(ifGone([]));
  const { input } = first?.workflowExecutionStartedEventAttributes ?? {};
  return ((await payloadValue(input, access.dataConverter.payloadCodecs ?? [])) as EngineRun | undefined) ?? null;
}
