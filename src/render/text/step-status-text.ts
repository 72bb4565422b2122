import type { StepStatus } from '../../core/run/run.ts';

/** Returns the final status of a step in words: `not run` for a step whose dependency failed. */
export function stepStatusText(status: StepStatus): string {
  switch (status) {
    case 'upstream_failed':
      return 'not run';
    case 'pending':
      return 'not reached';
    case 'scheduled':
    case 'running':
    case 'waiting':
    case 'succeeded':
    case 'failed':
    case 'skipped':
    case 'canceled':
      return status;
  }
}
