import { Ajv2020 } from 'ajv/dist/2020.js';
import { openApiDocument } from '#server/docs/document.ts';
import type { JsonSchema } from '../docs/json-schemas.ts';
import type { Answer, ApiServer } from './api-server.ts';

type Ask = ApiServer['ask'];

/** As much of an OpenAPI document as tests look at. */
export type ApiDocument = {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
};

/** One route of a document. */
export type ApiOperation = {
  readonly operationId: string;
  readonly security?: readonly unknown[];
  readonly 'x-needs'?: string;
  readonly parameters?: readonly ({
    readonly name: string;
    readonly in: string;
    readonly description: string;
  } & Content)[];
  readonly requestBody?: { readonly description: string; readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content?: Readonly<Record<string, Partial<Content>>> }>
  >;
};

type Content = { readonly schema: JsonSchema; readonly example?: unknown };

/** Returns the OpenAPI document. */
export function apiDocument(): ApiDocument {
  return openApiDocument('') as unknown as ApiDocument;
}

/** The same, but every answer that is not as the document says makes the asking fail. */
export function described(ask: Ask, basePath = ''): Ask {
  const problems = answerCheck(basePath);
  return async (method, path, sent) => {
    const answer = await ask(method, path, sent);
    const found = problems(method, path, answer);
    if (found.length > 0) throw new Error(`${method} ${path} is not as described: ${found.join('; ')}\n${answer.body}`);
    return answer;
  };
}

type AnswerCheck = (method: string, path: string, answer: Answer) => readonly string[];

const checks = new Map<string, AnswerCheck>();

/**
 * What is wrong with an answer by the document, for a server with this base path. The document is taken at its word: no
 * key may be there that it does not know, and no status or media type. What is at no path of it, or has no method there,
 * is left alone.
 */
export function answerCheck(basePath = ''): AnswerCheck {
  const check = checks.get(basePath) ?? createCheck(basePath);
  checks.set(basePath, check);
  return check;
}

function createCheck(basePath: string): AnswerCheck {
  const document = apiDocument();
  const ajv = new Ajv2020({ strict: false, validateSchema: false, allErrors: true });
  ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  ajv.addSchema(closed(document) as object, 'api');
  const problemsWith = (pointer: string, value: unknown): readonly string[] => {
    const validate = ajv.getSchema(`api#${pointer}`);
    if (validate === undefined) return [`there is no ${pointer}`];
    if (validate(value) === true) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  };
  const places = Object.entries(document.paths).map(([path, methods]) => ({ path, methods, pattern: patternOf(path) }));
  return (method, path, answer) => {
    const plain = (path.split('?')[0] ?? '').slice(basePath.length);
    const place = places.find((each) => each.path === plain) ?? places.find(({ pattern }) => pattern.test(plain));
    const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
    const response = place?.methods[verb]?.responses[answer.status];
    if (place === undefined || place.methods[verb] === undefined) return [];
    if (response === undefined) return [`the status ${answer.status} is not described`];
    if (answer.body === '') return [];
    const type = answer.headers['content-type']?.split(';')[0] ?? '';
    if (response.content?.[type] === undefined) return [`"${type}" is not described for ${answer.status}`];
    const parts = [place.path, verb, 'responses', answer.status, 'content', type, 'schema'];
    const pointer = `/paths/${parts.map((part) => encodeURIComponent(String(part).replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`;
    if (type === 'text/event-stream') {
      const schemas = (response.content[type].schema as { readonly 'x-events'?: EventSchemas })['x-events'];
      return eventsOf(answer.body).flatMap(({ event, data }) => {
        const named = schemas === undefined ? '#/components/schemas/Event' : schemas[event]?.$ref;
        return named === undefined ? [`the event "${event}" is not described`] : problemsWith(named.slice(1), data);
      });
    }
    if (type === 'application/x-ndjson') {
      const line = (response.content[type].schema as { readonly 'x-line'?: { readonly $ref: string } })['x-line'];
      return linesOf(answer.body).flatMap((each) => problemsWith(line?.$ref.slice(1) ?? '', each));
    }
    return type.endsWith('json') ? problemsWith(pointer, JSON.parse(answer.body)) : [];
  };
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}/?$`);
}

/** The schemas of a stream by the names of its events. */
type EventSchemas = Readonly<Record<string, { readonly $ref: string }>>;

/** The end of the stream of one run, and its output, are described only in words. */
function eventsOf(text: string): readonly { readonly event: string; readonly data: unknown }[] {
  return text.split('\n\n').flatMap((frame) => {
    const [, event = ''] = /^event: (.*)$/m.exec(frame) ?? [];
    const [, data] = /^data: (.*)$/m.exec(frame) ?? [];
    return data === undefined || event === 'end' || event === 'output' ? [] : [{ event, data: JSON.parse(data) }];
  });
}

function linesOf(text: string): readonly unknown[] {
  return text
    .trimEnd()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((item) => closed(item));
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, key.startsWith('example') ? value : closed(value)]),
  );
  const isObject = 'type' in schema && 'properties' in schema && !('additionalProperties' in schema);
  return isObject && typeof schema.properties === 'object' && isTypeObject(schema.type)
    ? { ...copy, additionalProperties: false }
    : copy;
}

function isTypeObject(type: unknown): boolean {
  return type === 'object' || (Array.isArray(type) && type.includes('object'));
}
