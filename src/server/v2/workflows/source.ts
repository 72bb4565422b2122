import { diagnosticJson } from '../../../render/views/diagnostic-json.ts';
import type { ListedWorkflow } from '../../../service/workflows/listed-workflow.ts';
import { type DescribedRoute, json, type Operation, ref } from '../../docs/operation.ts';
import { HttpError } from '../../reply/http-error.ts';
import { entityTag } from '../../reply/send.ts';
import type { ApiRequest, Reply } from '../../route.ts';
import { exampleSaved, exampleWorkflowDetail } from '../examples.ts';
import { flag, workflowName } from '../parameters.ts';
import type { V2Parts } from '../parts.ts';
import { flagIn } from '../query.ts';
import { expectedText, ifMatch } from './conditions.ts';

const path = '/api/v2/workflows/{name}/source';
const noWorkflow = { 404: 'There is no such workflow.', 409: 'The name is that of several workflows.' };
const example = exampleWorkflowDetail['definition'] ?? '';
const tagHeader = { ETag: 'Names the text.' };

const showing: Operation = {
  id: 'showSource',
  tag: 'Workflows',
  summary: 'Returns the text of a workflow file',
  description:
    'As it is on the disk. A read-only login gets it with `***` for secrets, and gets 403 for a file with errors, whose secrets cannot be found.',
  parameters: [workflowName],
  answers: {
    200: {
      description: 'The text.',
      headers: tagHeader,
      content: { 'text/yaml': { schema: { type: 'string' }, example } },
    },
    304: { description: 'The client has this text.' },
  },
  problems: noWorkflow,
};

const saving: Operation = {
  id: 'saveSource',
  tag: 'Workflows',
  summary: 'Saves the text of a workflow file, or creates one',
  description:
    'With `If-Match` the text replaces that of the file, whole or not at all. With `If-None-Match: *` a new file is made in the workflows directory. A text with errors is not saved unless `allowInvalid` is true.',
  parameters: [
    workflowName,
    flag('allowInvalid', 'Saves a text with errors, too.'),
    ifMatch,
    {
      name: 'If-None-Match',
      in: 'header',
      description: '`*`: makes a new file.',
      schema: { type: 'string' },
    },
    {
      name: 'group',
      in: 'query',
      description: 'The subdirectory of a new file, such as `ops/nightly`; it is created if it does not exist.',
      schema: { type: 'string' },
    },
  ],
  body: { description: 'The text.', isRequired: true, schema: { type: 'string' }, example },
  answers: {
    200: { ...json('The text is saved.', ref('SavedWorkflow'), exampleSaved), headers: tagHeader },
    201: {
      ...json('The file is made.', ref('SavedWorkflow'), exampleSaved),
      headers: { ...tagHeader, Location: 'The workflow.' },
    },
  },
  problems: {
    ...noWorkflow,
    409: 'The name is that of several workflows, or of one in another folder.',
    412: 'The file has changed since, `ETag` is that of the present text; or it exists already.',
    422: 'The text has errors, which `diagnostics` lists. Nothing is changed.',
    428: 'The request has neither `If-Match` nor `If-None-Match: *`.',
  },
};

/** `GET /api/v2/workflows/{name}/source`. */
export function showSourceRoute(parts: V2Parts): DescribedRoute {
  return {
    method: 'GET',
    path,
    access: 'read',
    body: 'none',
    errors: 'problem',
    handle: ({ params: { name = '' }, access }) => {
      const listed = parts.names.find(name);
      const text = access === 'write' ? parts.editor.read(listed) : maskedText(listed, parts);
      return {
        status: 200,
        headers: {
          'Content-Type': 'text/yaml; charset=utf-8',
          ETag: entityTag(text),
          'Cache-Control': 'private, no-cache',
        },
        body: text,
      };
    },
    operation: showing,
  };
}

/** `PUT /api/v2/workflows/{name}/source`. */
export function saveSourceRoute(parts: V2Parts): DescribedRoute {
  return {
    method: 'PUT',
    path,
    access: 'write',
    body: 'text',
    errors: 'problem',
    handle: (request) =>
      request.headers['if-none-match'] === undefined ? save(request, parts) : create(request, parts),
    operation: saving,
  };
}

/** The text that the catalog has read: a newer one on the disk could hold a secret that its masks do not know. */
function maskedText({ workflow, sources }: ListedWorkflow, { shownText }: Pick<V2Parts, 'shownText'>): string {
  if (workflow !== null) return shownText(sources[0]?.text ?? '', workflow);
  throw new HttpError(403, 'a read-only login cannot see the text of a file with errors');
}

async function save(request: ApiRequest, parts: V2Parts): Promise<Reply> {
  const listed = parts.names.find(request.params['name'] ?? '');
  const text = textIn(request);
  const allowInvalid = flagIn(request.query, 'allowInvalid');
  await parts.editor.save(listed, text, { check: expectedText(request), allowInvalid });
  return savedReply(listed.file, text, { status: 200, parts });
}

async function create(request: ApiRequest, parts: V2Parts): Promise<Reply> {
  const { params, query, headers } = request;
  const { name = '' } = params;
  if (headers['if-none-match']?.trim() !== '*') throw new HttpError(400, '"If-None-Match" must be "*"');
  if (headers['if-match'] !== undefined) throw new HttpError(400, '"If-Match" and "If-None-Match" exclude each other');
  if (isListed(name, parts)) throw new HttpError(412, `a workflow "${name}" exists already`);
  const text = textIn(request);
  const file = await parts.editor.create(name, {
    text,
    allowInvalid: flagIn(query, 'allowInvalid'),
    group: query.get('group') ?? '',
  });
  return savedReply(file, text, { status: 201, parts });
}

function isListed(name: string, { names }: Pick<V2Parts, 'names'>): boolean {
  try {
    names.find(name);
    return true;
  } catch {
    return false;
  }
}

function textIn({ body }: ApiRequest): string {
  return typeof body === 'string' ? body : '';
}

function savedReply(
  file: string,
  text: string,
  { status, parts }: { readonly status: 200 | 201; readonly parts: V2Parts },
): Reply {
  const listed = parts.catalog.list().find((each) => each.file === file);
  if (listed === undefined) throw new HttpError(409, 'the file was removed again');
  const id = parts.names.nameOf(listed);
  const location = `${parts.basePath}/api/v2/workflows/${encodeURIComponent(id)}`;
  const body = { id, file, diagnostics: listed.diagnostics.map(diagnosticJson) };
  return {
    status,
    headers: { ETag: entityTag(text), ...(status === 201 ? { Location: location } : {}) },
    body: `${JSON.stringify(body)}\n`,
  };
}
