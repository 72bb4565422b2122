import { given } from '#core/data/collections.ts';
import type { RunEvent } from '#core/run/run.ts';
import type { RunRequest } from '../engine.ts';

/** The first event of a run, unmasked. */
export function createdEvent(request: RunRequest, at: number): RunEvent {
  const { runId, workflow, trigger, retryOf, params, strict, dotenv, selection, retryNumber = 0, backfill } = request;
  const { name, group, file, tags, queue, maxConcurrent, retry } = workflow;
  const created = { type: 'run.created', at, runId, workflow: name, group, file, trigger, retryOf, params } as const;
  // Only a daemon retries runs, and only those that it started; the next start of a backfill retries its failed moments.
  const isRetried = retry !== undefined && !['cli', 'workflow', 'backfill'].includes(trigger);
  return {
    ...created,
    ...request.moment,
    ...request.latest,
    ...given({
      backfill,
      strict: strict || null,
      tags: tags.length === 0 ? null : tags,
      dotenv: dotenv?.files.length === 0 ? null : dotenv?.files,
      selection,
    }),
    ...(trigger === 'workflow' ? queueOfChild(request) : given({ queue, maxConcurrent })),
    ...(isRetried ? { autoRetry: { ...retry, n: retryNumber } } : {}),
  };
}

/** The queue in which a child run has a slot of its own. */
function queueOfChild({ workflow: { queue }, queues }: RunRequest): { readonly queue?: string } {
  return queue === undefined || queues === undefined || queues.includes(queue) ? {} : { queue };
}
