import type { temporal } from '@temporalio/proto';
import { type EngineAccess, ifGone } from '../connection.ts';
import { DEFAULT_QUEUE, labelsQueue, NAMES } from '../protocol.ts';
import { type ServingWorker, servesLabels, servingWorkers } from '../workers.ts';

type WorkflowService = temporal.api.workflowservice.v1.WorkflowService;
type Connected = {
  readonly workflowService: Pick<WorkflowService, 'describeTaskQueue' | 'describeWorkflowExecution'>;
  readonly withDeadline: <T>(deadline: number, call: () => Promise<T>) => Promise<T>;
};
type Described = temporal.api.workflowservice.v1.IDescribeWorkflowExecutionResponse;

const LIMIT_MS = 10_000;
/** Of work that no worker has taken. */
const SCHEDULED = 1;
/** A decision that has failed so often will fail again; before, its worker may have died. */
const FAILED_DECISIONS = 3;

/**
 * What a run of the engine waits for that may never come, each in one line: workers that are not connected, or some that can
 * continue it. Empty: nothing, or the engine does not know the run. Rejects with the errors of the connection.
 */
export async function runWaits(
  access: Pick<EngineAccess<Connected>, 'connection' | 'namespace'>,
  runId: string,
): Promise<readonly string[]> {
  const { connection, namespace } = access;
  const ask = () =>
    connection.workflowService.describeWorkflowExecution({ namespace, execution: { workflowId: runId } });
  const described = await connection.withDeadline(Date.now() + LIMIT_MS, ask).catch(ifGone(null));
  if (described === null) return [];
  const queues = waitingWork(described);
  const workers = queues.size === 0 ? [] : await servingWorkers(access);
  return [...failedDecisions(described), ...missingWorkers(queues, workers)];
}

/** The steps of a run that no worker has taken yet, by the labels that they need; decisions have the entry without a step. */
function waitingWork({ pendingActivities, pendingWorkflowTask }: Described): ReadonlyMap<string, readonly string[]> {
  const steps = new Map<string, string[]>();
  if (pendingWorkflowTask?.state === SCHEDULED) steps.set('', []);
  for (const { state, activityId, activityOptions } of pendingActivities ?? []) {
    const queue = activityOptions?.taskQueue?.name ?? '';
    const labels = queue === DEFAULT_QUEUE ? '' : queue.startsWith(LABELED) ? queue.slice(LABELED.length) : null;
    if (state !== SCHEDULED || labels === null) continue;
    steps.set(labels, [...(steps.get(labels) ?? []), stepOf(activityId ?? '')]);
  }
  return steps;
}

const LABELED = labelsQueue('-').slice(0, -1);

/** The step of the attempt that an activity makes, see `attemptId`. */
function stepOf(activityId: string): string {
  return activityId.replace(/#\d+(#end)?$/, '');
}

/** Says which of the work waits for workers that are not connected. */
function missingWorkers(
  queues: ReadonlyMap<string, readonly string[]>,
  workers: readonly ServingWorker[],
): readonly string[] {
  if (queues.size > 0 && workers.length === 0)
    return [`no worker serves the queue "${DEFAULT_QUEUE}" of the engine: start one with wf worker`];
  return [...queues].flatMap(([labels, steps]) => {
    if (workers.some((worker) => servesLabels(worker, labels))) return [];
    const [first] = steps;
    const who =
      first === NAMES.bind
        ? 'the run waits'
        : steps.length === 1
          ? `step "${first}" waits`
          : `${steps.length} steps wait`;
    return [`${who} for a worker with ${labels}: none is connected`];
  });
}

function failedDecisions({ pendingWorkflowTask }: Described): readonly string[] {
  const failures = (pendingWorkflowTask?.attempt ?? 1) - 1;
  if (failures < FAILED_DECISIONS) return [];
  return [`workers have failed ${failures} times to continue the run: what they print says why`];
}
