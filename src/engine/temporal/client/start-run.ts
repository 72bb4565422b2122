import type { Client } from '@temporalio/client';
import { allSteps, type Workflow } from '#core/workflow.ts';
import type { RunRequest } from '../../engine.ts';
import { type EngineAccess, ifGone } from '../connection.ts';
import { type Connected, firstEvents, payloadValue } from '../history.ts';
import { type EngineLocks, type EngineRun, RUN_TYPE, type RunQueueRef, runOptions } from '../protocol.ts';

/** What a run of the engine needs besides its request. `queueSize`: the most runs of a queue at once, by its name. */
export type EngineRunParts = Pick<EngineRun, 'engine' | 'at' | 'lostAfterMs'> & {
  /** The version of this program. */
  readonly release: string;
  readonly keyId: string | null;
  readonly queueSize: (name: string) => number;
  /** The setting `pools`. */
  readonly pools: EngineLocks['pools'];
};

/** The argument of the workflow of a run. */
export function engineRun(
  request: RunRequest,
  { keyId, queueSize, pools, engine, release, at, lostAfterMs }: EngineRunParts,
): EngineRun {
  const { name, queue, maxConcurrent } = request.workflow;
  // Workers with another key cannot read the messages of a queue.
  const idOf = (kind: 'queue' | 'workflow' | 'lock', of: string) =>
    `wf.${kind}.${keyId === null ? '' : `${keyId}.`}${of}`;
  const queueRef = (of: string): RunQueueRef => ({ id: idOf('queue', of), name: of, limit: queueSize(of) });
  // A run that waits for others of its workflow must not hold a slot that others need.
  const queues: readonly RunQueueRef[] = [
    ...(maxConcurrent === undefined
      ? []
      : [{ id: idOf('workflow', name), name: `${name} (maxConcurrent)`, limit: maxConcurrent }]),
    ...(queue === undefined ? [] : [queueRef(queue)]),
  ];
  const childQueues = [...childQueuesOf(request)].map(queueRef);
  return {
    request,
    engine,
    release,
    at,
    lostAfterMs,
    ...(hasLocks(request) ? { locks: { prefix: idOf('lock', ''), pools } } : {}),
    ...(queues.length === 0 ? {} : { queues }),
    ...(childQueues.length === 0 ? {} : { childQueues }),
  };
}

/** The workflow of a run, and those that it may run. */
function allWorkflows({ workflow, known }: RunRequest): readonly Workflow[] {
  const files = Object.values(known?.workflows ?? {}).map((file) => file.workflow);
  return [workflow, ...files].flatMap((file) => [file, ...Object.values(file.documents ?? {})]);
}

function hasLocks(request: RunRequest): boolean {
  return allWorkflows(request).some(
    (workflow) => workflow.locks !== undefined || allSteps(workflow).some(({ locks }) => locks !== undefined),
  );
}

/** The names of the queues of the workflows that a run may run. */
function childQueuesOf(request: RunRequest): ReadonlySet<string> {
  const { workflow } = request;
  return new Set(
    allWorkflows(request).flatMap((child) => (child === workflow || child.queue === undefined ? [] : [child.queue])),
  );
}

/** Starts a run in the engine. Resolves to false if it has a run with that id. Rejects with the errors of the connection. */
export async function startRun(client: Client, run: EngineRun): Promise<boolean> {
  try {
    await client.workflow.start(RUN_TYPE, runOptions(run));
    return true;
  } catch (error) {
    if (error instanceof Error && error.name === 'WorkflowExecutionAlreadyStartedError') return false;
    throw error;
  }
}

/** Reads what a run of the engine was started with; null if the engine does not know it, or no longer. */
export async function readStartedRun(access: EngineAccess<Connected>, runId: string): Promise<EngineRun | null> {
  const [first] = await firstEvents(access, { workflowId: runId }).catch(ifGone([]));
  const { input } = first?.workflowExecutionStartedEventAttributes ?? {};
  return ((await payloadValue(input, access.dataConverter.payloadCodecs ?? [])) as EngineRun | undefined) ?? null;
}
