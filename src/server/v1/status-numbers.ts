import type { RunStatus } from '#core/run/run.ts';
import type { StepSummary } from '#core/summary/summary.ts';

/** A status of the v1 API: a number and its text. */
export type NumberedStatus = { readonly Status: number; readonly StatusText: string };

const notStarted: NumberedStatus = { Status: 0, StatusText: 'not started' };
const running: NumberedStatus = { Status: 1, StatusText: 'running' };
const failed: NumberedStatus = { Status: 2, StatusText: 'failed' };
const canceled: NumberedStatus = { Status: 3, StatusText: 'canceled' };
const finished: NumberedStatus = { Status: 4, StatusText: 'finished' };
const skipped: NumberedStatus = { Status: 5, StatusText: 'skipped' };

/** Converts the status of a run; null for a workflow that has never run. A run skipped by its precondition is finished. */
export function runStatus(status: RunStatus | null): NumberedStatus {
  switch (status) {
    case null:
    case 'queued':
      return notStarted;
    case 'running':
    case 'canceling':
    case 'handling':
      return running;
    case 'failed':
      return failed;
    case 'canceled':
      return canceled;
    case 'succeeded':
    case 'partially_succeeded':
    case 'skipped':
      return finished;
  }
}

type StatusOfStep = Pick<StepSummary, 'status' | 'waitingFor' | 'service'>;

/** Converts the status of a step or handler. A running service that is ready is `ready` in words. */
export function stepStatus({ status, waitingFor = 'retry', service }: StatusOfStep): NumberedStatus {
  switch (status) {
    case 'pending':
    case 'scheduled':
      return notStarted;
    case 'running':
      return service?.ready === true ? { ...running, StatusText: 'ready' } : running;
    case 'waiting':
      return { ...running, StatusText: `waiting for ${waitingFor}` };
    case 'failed':
      return failed;
    case 'canceled':
    case 'upstream_failed':
      return canceled;
    case 'succeeded':
      return finished;
    case 'skipped':
      return skipped;
  }
}
