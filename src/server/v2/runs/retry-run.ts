import type { RetrySelection } from '../../../core/run/retry.ts';
import type { Bodies } from '../../generated/requests.mjs';
import { HttpError } from '../../reply/http-error.ts';
import { readBody } from '../../requests.ts';
import type { Handler } from '../../route.ts';
import { readParams } from '../params-field.ts';
import type { V2Parts } from '../parts.ts';
import { acceptedReply } from './accepted.ts';
import { findRun } from './find-run.ts';

/** `POST /api/v2/runs/{id}/retry`. */
export function retryRun(parts: V2Parts): Handler {
  return async ({ params: { id = '' }, body }) => {
    const { params, useFile, runId, strict, ...chosen } = readBody('retryRun', body);
    const order = { selection: selectionOf(chosen), params: readParams(params), useFile, newRunId: runId, strict };
    const run = await findRun(id, parts);
    const accepted = await parts.runs.retry({ runId: run.runId, trigger: 'api', ...order });
    if (accepted !== null) return acceptedReply(accepted, ({ retryOf }) => retryOf === run.runId, parts);
    throw new HttpError(409, `there is nothing to retry: every step of the run ${run.runId} succeeded`, {
      help: 'name a step with "step" or "from"',
    });
  };
}

function selectionOf({ step, from }: Pick<Bodies['retryRun'], 'step' | 'from'>): RetrySelection {
  if (step !== null && from !== null) throw new HttpError(400, '"step" and "from" exclude each other');
  if (step !== null) return { only: step };
  return from === null ? { steps: 'unfinished' } : { from };
}
