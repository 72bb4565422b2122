import type { RunSummary } from '#core/summary/summary.ts';

/** Reports that a followed run did not end by itself, so that its output may be incomplete; null if it did. */
export function lostText({ runId, reason, error }: Pick<RunSummary, 'runId' | 'reason' | 'error'>): string | null {
  return reason === 'lost' ? `run ${runId} is lost: ${error ?? 'its process died'}` : null;
}
