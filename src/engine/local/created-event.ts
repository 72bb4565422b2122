import type { RunEvent } from '#core/run/run.ts';
import type { Workflow } from '#core/workflow.ts';
import type { RunRequest } from '../engine.ts';

type RunCreated = Extract<RunEvent, { type: 'run.created' }>;

/** The first event of a run, unmasked. */
export function createdEvent(request: RunRequest, at: number): RunEvent {
  const { runId, workflow, trigger, retryOf, params, strict, dotenv, selection } = request;
  const { name, group, file } = workflow;
  const created = { type: 'run.created', at, runId, workflow: name, group, file, trigger, retryOf, params } as const;
  const files = dotenv === undefined || dotenv.files.length === 0 ? {} : { dotenv: dotenv.files };
  return {
    ...created,
    ...(strict ? { strict } : {}),
    ...(workflow.tags.length === 0 ? {} : { tags: workflow.tags }),
    ...files,
    ...(selection === undefined ? {} : { selection }),
    ...(trigger === 'workflow' ? {} : line(workflow)),
    ...retries(request),
  };
}

/** Only a daemon retries runs, and only those that it started. */
function retries({ workflow, trigger, retryNumber = 0 }: RunRequest): Pick<RunCreated, 'autoRetry'> {
  if (workflow.retry === undefined || trigger === 'cli' || trigger === 'workflow') return {};
  return { autoRetry: { ...workflow.retry, n: retryNumber } };
}

function line({ queue, maxConcurrent }: Workflow): Pick<RunCreated, 'queue' | 'maxConcurrent'> {
  return { ...(queue === undefined ? {} : { queue }), ...(maxConcurrent === undefined ? {} : { maxConcurrent }) };
}
