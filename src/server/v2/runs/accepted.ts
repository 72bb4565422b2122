import type { RunSummary } from '../../../core/run/summary.ts';
import type { AcceptedRun } from '../../../service/service.ts';
import { acceptedRun } from '../../accepted-run.ts';
import type { Reply } from '../../route.ts';
import type { V2Parts } from '../parts.ts';

/**
 * Returns the response to a start or retry: 201 with the run's location, or 200 for an existing run for which `isSame`
 * holds. Throws as `acceptedRun` does.
 */
export async function acceptedReply(
  accepted: AcceptedRun,
  isSame: (run: RunSummary) => boolean,
  parts: Pick<V2Parts, 'history' | 'runIndex' | 'basePath'>,
): Promise<Reply> {
  const summary = await acceptedRun(accepted, isSame, parts);
  const location = { Location: `${parts.basePath}/api/v2/runs/${encodeURIComponent(accepted.runId)}` };
  return { status: accepted.isNew ? 201 : 200, headers: location, body: `${JSON.stringify(summary)}\n` };
}
