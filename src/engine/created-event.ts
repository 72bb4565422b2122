import type { RunEvent } from '../core/run.ts';
import type { RunRequest } from './engine.ts';

/** The first event of a run, with its secrets. */
export function createdEvent(request: RunRequest, at: number): RunEvent {
  const { runId, workflow, trigger, retryOf, params } = request;
  const { name, group, file } = workflow;
  return { type: 'run.created', at, runId, workflow: name, group, file, trigger, retryOf, params };
}
