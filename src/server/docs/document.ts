import { STATUS_CODES } from 'node:http';
import manifest from '../../../package.json' with { type: 'json' };
import type { Json, JsonObject } from '../../core/workflow.ts';
import { acceptedTypes } from '../connection/body.ts';
import type { Route } from '../route.ts';
import type { Answer, DescribedRoute, Operation, Parameter, Schema } from './operation.ts';
import { ref } from './operation.ts';

/** An OpenAPI 3.1 document. */
export type OpenApiDocument = JsonObject & {
  readonly info: JsonObject & { readonly title: string; readonly version: string; readonly description: string };
  readonly paths: { readonly [path: string]: { readonly [method: string]: JsonObject } };
  readonly components: JsonObject & { readonly schemas: { readonly [name: string]: Schema } };
};

const description = `What \`wf serve\` answers: the project's own API under \`/api/v2\`, and the one that clients of Blackdagger 2
and Dagu 1 speak under \`/api/v1\`.

Where a login is set up, every route but \`/health\` needs one: \`Authorization: Bearer <token>\`, or a basic login. Routes
with GET can be asked with HEAD, too. Times are ISO 8601 UTC, what is not known is \`null\`. New keys may come with new
versions.`;

const tags: readonly (readonly [name: Operation['tag'], description: string])[] = [
  ['Workflows', 'The files of the workflows directory.'],
  ['Runs', 'Past, running and waiting runs.'],
  ['Logs and events', 'The output of steps and the events of runs, also live.'],
  ['Daemon', 'The daemon itself.'],
  ['Version 1', 'The API of Blackdagger 2 and Dagu 1, for existing clients.'],
];

/** The options of the document: `basePath` begins with a slash and ends without one, or is empty. */
export type DocumentOptions = {
  readonly basePath: string;
  /** Schemas by the names in references. */
  readonly schemas: Readonly<Record<string, Schema>>;
};

/** Creates the document from the table of routes and their operations. */
export function openApiDocument(
  routes: readonly DescribedRoute[],
  { basePath, schemas }: DocumentOptions,
): OpenApiDocument {
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operationObject(route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'wf',
      version: manifest.version,
      description,
      license: { name: manifest.license, identifier: manifest.license },
    },
    servers: [{ url: basePath === '' ? '/' : basePath }],
    tags: tags.map(([name, about]) => ({ name, description: about })),
    paths,
    security: [{ token: [] }, { basic: [] }],
    components: {
      schemas,
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'The token of the daemon, or the read-only token.' },
        basic: { type: 'http', scheme: 'basic', description: 'User and password; a token may be the password.' },
      },
    },
  };
}

function operationObject(route: DescribedRoute): JsonObject {
  const { operation, access } = route;
  const { id, tag, summary, description: text, parameters = [], body } = operation;
  requirePathParameters(route, parameters);
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(text === undefined ? {} : { description: text }),
    ...(access === 'public' ? { security: [] } : {}),
    ...(access === 'write' ? { 'x-needs': 'a login that may change things' } : {}),
    ...(parameters.length === 0 ? {} : { parameters: parameters.map(parameterObject) }),
    ...(body === undefined ? {} : { requestBody: bodyObject(route, body) }),
    responses: responses(route),
  };
}

function parameterObject({ name, in: place, description: text, schema, example }: Parameter): JsonObject {
  const required = place === 'path' ? { required: true } : {};
  return { name, in: place, description: text, ...required, schema, ...(example === undefined ? {} : { example }) };
}

function bodyObject({ body: kind }: Route, body: NonNullable<Operation['body']>): JsonObject {
  const { description: text, isRequired, schema, example } = body;
  const inJson = example === undefined ? { schema } : { schema, example };
  const content = acceptedTypes(kind).map((type): readonly [string, JsonObject] => {
    return [type, type.includes('form') ? { schema } : inJson];
  });
  return { description: text, required: isRequired, content: Object.fromEntries(content) };
}

function responses(route: DescribedRoute): JsonObject {
  const { answers, problems = {} } = route.operation;
  const described = Object.entries(answers).map(([status, answer]) => [status, answerObject(answer)] as const);
  const refused = { ...commonProblems(route), ...problems };
  const errors = Object.entries(refused).map(([status, text]) => [status, errorObject(status, text, route)] as const);
  return Object.fromEntries([...described, ...errors].sort(([a], [b]) => a.localeCompare(b)));
}

function answerObject({ description: text, headers = {}, content }: Answer): JsonObject {
  const described = Object.entries(headers).map(([name, about]): readonly [string, Json] => {
    return [name, { description: about, schema: { type: 'string' } }];
  });
  return {
    description: text,
    ...(described.length === 0 ? {} : { headers: Object.fromEntries(described) }),
    ...(content === undefined ? {} : { content: content as JsonObject }),
  };
}

/** Returns the errors that are possible before a route is reached. */
function commonProblems({ access, body }: Route): Readonly<Record<string, string>> {
  return {
    400: 'Invalid request; the message contains the reason.',
    ...(access === 'public' ? {} : { 401: 'The login is missing or wrong.', 429: 'There were too many wrong logins.' }),
    403:
      access === 'write'
        ? 'The login is read-only, or the request comes from a page of another site.'
        : 'The request comes from a page of another site.',
    408: 'The request arrived too slowly.',
    413: 'The body is too large.',
    ...(body === 'none' ? {} : { 415: 'The media type of the body is not supported.' }),
    421: 'The host name is unknown.',
    431: 'There are too many headers, or they are too long.',
    500: 'A storage error or an internal error; see the log of the daemon.',
    503: 'There are too many connections, or the daemon has no descriptors, processes or memory left.',
    507: 'The disk is full.',
  };
}

function errorObject(status: string, text: string, { errors }: Route): JsonObject {
  const retry = status === '429' || status === '503' ? { headers: retryAfter } : {};
  const login = status === '401' ? { headers: authenticate } : {};
  return { description: `${STATUS_CODES[status]}. ${text}`, ...retry, ...login, content: errorContent(status, errors) };
}

/** Returns the content of an error. Errors before the route is known have the v1 format everywhere. */
function errorContent(status: string, errors: Route['errors']): JsonObject {
  const problem = { 'application/problem+json': { schema: ref('Problem') } };
  const message = { 'application/json': { schema: ref('ErrorV1') } };
  if (errors === 'v1' || status === '408') return message;
  return status === '400' || status === '431' || status === '503' ? { ...problem, ...message } : problem;
}

const retryAfter = { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'string' } } };
const authenticate = { 'WWW-Authenticate': { description: 'The accepted logins.', schema: { type: 'string' } } };

function requirePathParameters({ path }: Route, parameters: readonly Parameter[]): void {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const described = parameters.filter((each) => each.in === 'path').map(({ name }) => name);
  if (inPath.join() !== described.join()) throw new Error(`the parameters of ${path} are not described as they are`);
}
