import { given } from '#core/data/collections.ts';
import { diagnosticJson } from '#render/data-views.ts';
import type { ListedWorkflow } from '#service/workflows.ts';
import { entityTag } from '../../reply/send.ts';
import type { ApiRequest, Handler, Reply } from '../../route.ts';
import { HttpError, jsonReply, readBody, readQuery } from '../../route.ts';
import type { V2Parts } from '../v2-parts.ts';
import { readMoment } from '../v2-parts.ts';

/** `POST /api/v2/workflows/{name}/rename`. */
export function renameWorkflow({ workflows }: V2Parts): Handler {
  return async (request) => {
    const listed = workflows.get(request.params['name'] ?? '');
    const { to, group } = readBody('renameWorkflow', request.body);
    const file = await workflows.rename(listed, to, {
      check: expectedText(request),
      ...given({ group }),
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

/** `GET /api/v2/workflows/{name}/source`. */
export function showSource(parts: V2Parts): Handler {
  return ({ params: { name = '' }, access }) => {
    const listed = parts.workflows.get(name);
    const text = access === 'write' ? parts.workflows.read(listed) : maskedText(listed, parts);
    return {
      status: 200,
      headers: {
        'Content-Type': 'text/yaml; charset=utf-8',
        ETag: entityTag(text),
        'Cache-Control': 'private, no-cache',
      },
      body: text,
    };
  };
}

/** `PUT /api/v2/workflows/{name}/source`. */
export function saveSource(parts: V2Parts): Handler {
  return (request) => (request.headers['if-none-match'] === undefined ? save(request, parts) : create(request, parts));
}

/** The text as read by the catalog: a newer one on the disk could contain a secret that the catalog cannot mask. */
function maskedText({ workflow, sources }: ListedWorkflow, { workflows }: Pick<V2Parts, 'workflows'>): string {
  if (workflow !== null) return workflows.shownText(sources[0]?.text ?? '', workflow);
  throw new HttpError(403, 'a read-only login cannot see the text of a file with errors');
}

async function save(request: ApiRequest, parts: V2Parts): Promise<Reply> {
  const listed = parts.workflows.get(request.params['name'] ?? '');
  const text = textIn(request);
  const { allowInvalid } = readQuery('saveSource', request.query);
  await parts.workflows.save(listed, text, { check: expectedText(request), allowInvalid });
  return savedReply(listed.file, text, { status: 200, parts });
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
  return savedReply(file, text, { status: 201, parts });
}

function textIn({ body }: ApiRequest): string {
  return typeof body === 'string' ? body : '';
}

function savedReply(
  file: string,
  text: string,
  { status, parts }: { readonly status: 200 | 201; readonly parts: V2Parts },
): Reply {
  const listed = parts.workflows.list().find((each) => each.file === file);
  if (listed === undefined) throw new HttpError(409, 'the file was removed again');
  const id = parts.workflows.nameOf(listed);
  const location = `${parts.basePath}/api/v2/workflows/${encodeURIComponent(id)}`;
  const body = { id, file, diagnostics: listed.diagnostics.map(diagnosticJson) };
  return {
    status,
    headers: { ETag: entityTag(text), ...(status === 201 ? { Location: location } : {}) },
    body: `${JSON.stringify(body)}\n`,
  };
}

/**
 * Checks a request against the present text of a file. The check throws an `HttpError` 412 for another text. Throws an
 * `HttpError` 428 if the request has no `If-Match`.
 */
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
