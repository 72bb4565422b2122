import { given } from '#core/data/collections.ts';
import { diagnosticJson } from '#render/data-views.ts';
import type { ListedWorkflow } from '#service/workflows.ts';
import { shownSource } from '../../both-versions.ts';
import { entityTag } from '../../reply/send.ts';
import { type ApiRequest, HttpError, jsonReply, noContent, type Reply, readBody, readQuery } from '../../route.ts';
import { readMoment, type V2Handler, type V2Parts } from '../v2-parts.ts';

/** `POST /api/v2/workflows/{name}/rename`. */
export const renameWorkflow: V2Handler = async (request, { workflows }) => {
  const listed = workflows.get(request.params['name'] ?? '');
  const { to, group } = readBody('renameWorkflow', request.body);
  const file = await workflows.rename(listed, to, { check: expectedText(request), ...given({ group }) });
  return jsonReply({ id: workflows.nameOf(listedFile(file, workflows)), file });
};

/** `DELETE /api/v2/workflows/{name}`. */
export const deleteWorkflow: V2Handler = async (request, { workflows }) => {
  const listed = workflows.get(request.params['name'] ?? '');
  await workflows.remove(listed, expectedText(request));
  return noContent();
};

/** `PUT /api/v2/workflows/{name}/suspended`. */
export const suspendWorkflow: V2Handler = ({ params: { name = '' }, body }, { workflows, clock }) => {
  const { file } = workflows.get(name);
  const { suspended, until } = readBody('suspendWorkflow', body);
  const end = readEnd(suspended, until, clock.now());
  workflows.suspend(file, suspended ? (end ?? Number.POSITIVE_INFINITY) : null);
  return jsonReply({ suspended, until: end === null ? null : new Date(end) });
};

function readEnd(isSuspended: boolean, until: string | null, now: number): number | null {
  const end = readMoment('until', until);
  if (end === null) return null;
  if (!isSuspended) throw new HttpError(400, '"until" needs "suspended": true');
  if (end <= now) throw new HttpError(400, '"until" has passed', { help: 'give a later time, or leave it out' });
  return end;
}

/** `GET /api/v2/workflows/{name}/source`. */
export const showSource: V2Handler = ({ params: { name = '' }, access }, { workflows }) => {
  const listed = workflows.get(name);
  // For a read-only login not the newest text, which could contain a secret that the catalog cannot mask.
  const text = access === 'write' ? workflows.read(listed) : shownSource(listed, access, workflows);
  if (text === null) throw new HttpError(403, 'a read-only login cannot see the text of a file with errors');
  const kept = { ETag: entityTag(text), 'Cache-Control': 'private, no-cache' };
  return { status: 200, headers: { 'Content-Type': 'text/yaml; charset=utf-8', ...kept }, body: text };
};

/** `PUT /api/v2/workflows/{name}/source`. */
export const saveSource: V2Handler = (request, parts) =>
  request.headers['if-none-match'] === undefined ? save(request, parts) : create(request, parts);

async function save(request: ApiRequest, parts: V2Parts): Promise<Reply> {
  const listed = parts.workflows.get(request.params['name'] ?? '');
  const text = textIn(request);
  const { allowInvalid } = readQuery('saveSource', request.query);
  await parts.workflows.save(listed, text, { check: expectedText(request), allowInvalid });
  return savedReply(200, listed.file, text, parts);
}

async function create(request: ApiRequest, parts: V2Parts): Promise<Reply> {
  const { params, query, headers } = request;
  const { name = '' } = params;
  const { allowInvalid, group } = readQuery('saveSource', query);
  if (headers['if-none-match']?.trim() !== '*') throw new HttpError(400, '"If-None-Match" must be "*"');
  if (headers['if-match'] !== undefined) throw new HttpError(400, '"If-Match" and "If-None-Match" exclude each other');
  if (parts.workflows.has(name)) throw new HttpError(412, `a workflow "${name}" exists already`);
  const text = textIn(request);
  const file = await parts.workflows.create(name, { text, allowInvalid, group: group ?? '' });
  return savedReply(201, file, text, parts);
}

function textIn({ body }: ApiRequest): string {
  return typeof body === 'string' ? body : '';
}

function savedReply(status: 200 | 201, file: string, text: string, { workflows, basePath }: V2Parts): Reply {
  const listed = listedFile(file, workflows);
  const id = workflows.nameOf(listed);
  const location = status === 201 ? { Location: `${basePath}/api/v2/workflows/${encodeURIComponent(id)}` } : {};
  const body = { id, file, diagnostics: listed.diagnostics.map(diagnosticJson) };
  return { ...jsonReply(body, status), headers: { ETag: entityTag(text), ...location } };
}

/** Returns a file that was just written. Throws an `HttpError` 409 if it is gone. */
function listedFile(file: string, workflows: V2Parts['workflows']): ListedWorkflow {
  const listed = workflows.list().find((each) => each.file === file);
  if (listed === undefined) throw new HttpError(409, 'the file was removed again');
  return listed;
}

/** Returns the check of `If-Match`, which throws an `HttpError` 412; throws 428 without that header. */
function expectedText({ headers }: Pick<ApiRequest, 'headers'>): (present: string) => void {
  const known = headers['if-match'];
  if (known === undefined) {
    throw new HttpError(428, 'a change needs the header "If-Match"', {
      help: 'send the ETag of GET /api/v2/workflows/{name}/source',
    });
  }
  // The tag of a compressed response is weak, but names the same text.
  const tags = known.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return (present) => {
    const tag = entityTag(present);
    if (tags.includes('*') || tags.includes(tag)) return;
    throw new HttpError(412, 'the file has changed since it was read', { headers: { ETag: tag } });
  };
}
