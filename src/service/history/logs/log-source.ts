import type { RunSummary } from '../../../core/summary/summary.ts';

/**
 * Returns the run that has the logs of a step: an earlier one if retries have kept the step, unless that was removed. `read`
 * returns null for a run that does not exist.
 */
export async function logSource(
  run: RunSummary,
  step: string | null,
  read: (runId: string) => Promise<RunSummary | null>,
): Promise<RunSummary> {
  let source: RunSummary | null = run;
  while (source !== null && isKept(source, step)) source = source.retryOf === null ? null : await read(source.retryOf);
  return source?.steps.some(({ name, attempts }) => name === step && attempts > 0) ? source : run;
}

/** Whether a step has logs: it had an attempt, or one of its instances did. */
function isKept({ steps }: RunSummary, step: string | null): boolean {
  const found = steps.find(({ name }) => name === step);
  if (found?.status !== 'succeeded' && found?.status !== 'failed') return false;
  return [found, ...(found.items ?? [])].every(({ attempts }) => attempts === 0);
}

/** Names the run whose logs are printed. */
export function keptText(step: string | null, runId: string): string {
  return `step "${step}" was kept from run ${runId}, which has this output`;
}
