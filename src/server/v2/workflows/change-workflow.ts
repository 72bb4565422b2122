import { readBody } from '../../requests.ts';
import { type Handler, HttpError, jsonReply } from '../../route.ts';
import { readMoment } from '../request-fields.ts';
import type { V2Parts } from '../v2-parts.ts';
import { expectedText } from './conditions.ts';

/** `POST /api/v2/workflows/{name}/rename`. */
export function renameWorkflow({ workflows }: V2Parts): Handler {
  return async (request) => {
    const listed = workflows.get(request.params['name'] ?? '');
    const { to, group } = readBody('renameWorkflow', request.body);
    const file = await workflows.rename(listed, to, {
      check: expectedText(request),
      ...(group === null ? {} : { group }),
    });
    const renamed = workflows.list().find((each) => each.file === file);
    if (renamed === undefined) throw new HttpError(409, 'the file was removed again');
    return jsonReply({ id: workflows.nameOf(renamed), file });
  };
}

/** `DELETE /api/v2/workflows/{name}`. */
export function deleteWorkflow({ workflows }: V2Parts): Handler {
  return async (request) => {
    const listed = workflows.get(request.params['name'] ?? '');
    await workflows.remove(listed, expectedText(request));
    return { status: 204, body: null };
  };
}

/** `PUT /api/v2/workflows/{name}/suspended`. */
export function suspendWorkflow({ workflows, clock }: V2Parts): Handler {
  return ({ params: { name = '' }, body }) => {
    const { file } = workflows.get(name);
    const { suspended, until } = readBody('suspendWorkflow', body);
    const end = readEnd(suspended, until, clock.now());
    workflows.suspend(file, suspended ? (end ?? Number.POSITIVE_INFINITY) : null);
    return jsonReply({ suspended, until: end === null ? null : new Date(end) });
  };
}

function readEnd(isSuspended: boolean, until: string | null, now: number): number | null {
  const end = readMoment('until', until);
  if (end === null) return null;
  if (!isSuspended) throw new HttpError(400, '"until" needs "suspended": true');
  if (end <= now) throw new HttpError(400, '"until" has passed', { help: 'give a later time, or leave it out' });
  return end;
}
