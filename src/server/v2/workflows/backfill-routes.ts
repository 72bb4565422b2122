import { InvalidWorkflow } from '#service/workflows.ts';
import { jsonReply, readBody } from '../../route.ts';
import { readParams, type V2Handler } from '../v2-parts.ts';

/** `POST /api/v2/workflows/{name}/backfills`. */
export const startBackfill: V2Handler = async ({ params: { name = '' }, body }, parts) => {
  const { workflow, diagnostics, sources } = parts.workflows.get(name);
  const { params, dryRun, ...asked } = readBody('startBackfill', body);
  if (workflow === null) throw new InvalidWorkflow(name, diagnostics, sources);
  const request = { ...asked, params: readParams(params) ?? [] };
  if (dryRun) return jsonReply(await parts.backfills.plan(workflow, request));
  const backfill = await parts.backfills.begin(workflow, request);
  const location = { Location: `${parts.basePath}/api/v2/backfills/${backfill.id}` };
  return { ...jsonReply(backfill, 202), headers: location };
};

/** `GET /api/v2/backfills/{id}`. */
export const showBackfill: V2Handler = async ({ params: { id = '' } }, { backfills }) =>
  jsonReply(await backfills.find(id));

/** `DELETE /api/v2/backfills/{id}`. */
export const stopBackfill: V2Handler = async ({ params: { id = '' } }, { backfills }) =>
  jsonReply(await backfills.stop(id));
