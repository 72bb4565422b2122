import { readFileSync } from 'node:fs';
import { STATUS_CODES } from 'node:http';
import { join } from 'node:path';
import { parse } from 'yaml';

/**
 * Builds the OpenAPI document from `src/server/openapi/*.yaml`, which use these short forms:
 *
 * - `path`, `query` and `header` are the parameters by name, each with its schema, description and example in one map;
 *   names in a path are described once, in `x-path`.
 * - `$ref` is the name of a schema.
 * - An object schema has its `properties` only: all are required except those with a `?` after their name.
 * - `x-from: RunSummary` copies the properties of a schema, except those in `x-without`.
 * - `access` is `public`, `read` (the default), `write` or `worker`.
 * - `as` states the media types of a body, by the words of `Route.body`.
 * - A query parameter of type `array` is a text, separated by commas.
 * - `x-narrow` has keywords of the published schema only: the handlers check them themselves, with better messages.
 * - `x-expected` completes the sentence "... must be" in the message about an invalid value.
 * - An empty text in a request counts as not given, except for `x-may-be-empty`.
 * - An integer in a query has the maximum `MAX_INTEGER` unless it has another one.
 * - A response has a `schema` and an `example` if it is JSON. A text instead of a response describes an error.
 *   `x-errors` has those that are possible before a route is reached.
 */

const FILES = ['openapi', 'v2', 'v1'];
/** 15 digits, which every JSON parser keeps exactly. */
const MAX_INTEGER = 999_999_999_999_999;
const MEDIA_TYPES = {
  json: ['application/json'],
  'form-or-json': ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'],
  text: ['text/plain', 'text/yaml', 'application/yaml', 'application/x-yaml'],
  bytes: ['application/octet-stream'],
};

/** The published schemas of `--json` that the API shares, with their names and those of their parts in the document. */
const PUBLISHED = [
  { file: 'run-summary.json', name: 'RunSummary', prefix: 'Run' },
  {
    file: 'event.json',
    name: 'Event',
    prefix: 'Event',
    isLeftOut: (part) => /^(step[.]output|run[.]summary)$/.test(part),
  },
  { file: 'diagnostic.json', name: 'Diagnostic', prefix: 'Diagnostic' },
  { file: 'graph.json', name: 'Graph', prefix: 'Graph' },
  { file: 'log-line.json', name: 'LogLine', prefix: 'LogLine' },
  { file: 'locks.json', name: 'Locks', prefix: '' },
  { file: 'backfill.json', name: 'Backfill', prefix: 'Backfill' },
  { file: 'list.json', name: 'WorkflowList', prefix: '', isLeftOut: (part) => part !== 'schedule' },
];

/** Returns the complete document, for a daemon without a base path, with lists in queries and the keywords `x-...`. */
export function apiDocument(root) {
  const { version, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const [head, ...versions] = FILES.map((name) => readSource(join(root, `src/server/openapi/${name}.yaml`)));
  const schemas = { ...publishedSchemas(root) };
  for (const source of versions) {
    for (const [name, short] of Object.entries(source.components.schemas)) schemas[name] = schema(short, schemas);
  }
  const expand = (source) =>
    mapValues(source.paths, (methods, path) =>
      mapValues(methods, (operation) =>
        operationObject(operation, { path, source, errors: head['x-errors'], schemas }),
      ),
    );
  return {
    openapi: head.openapi,
    info: {
      title: head.info.title,
      version,
      description: head.info.description,
      license: { name: license, identifier: license },
    },
    servers: [{ url: '/' }],
    tags: head.tags,
    paths: Object.assign({}, ...[...versions, head].map(expand)),
    security: head.security,
    components: { schemas, securitySchemes: head.components.securitySchemes },
  };
}

/** Returns the document as it is published. */
export function published(value) {
  if (Array.isArray(value)) return value.map(published);
  if (typeof value !== 'object' || value === null) return value;
  if (value.in === 'query' && value.schema.type === 'array') {
    const pattern = `^,*((${value.schema.items.enum.join('|')})(,+|$))*$`;
    return { ...value, schema: { type: 'string', pattern } };
  }
  const { 'x-expected': _, 'x-may-be-empty': __, 'x-narrow': narrow, ...shown } = value;
  return mapValues({ ...shown, ...narrow }, published);
}

function readSource(file) {
  return parse(readFileSync(file, 'utf8'), { merge: true });
}

function operationObject(short, { path, source, errors, schemas }) {
  const { operationId, tags, access = 'read', summary, description, requestBody, responses } = short;
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [
    name,
    short.path?.[name] ?? source['x-path'][name],
  ]);
  const parameters = [
    ...inPath.map(([name, each]) => ({ name, in: 'path', ...parameter(each, true) })),
    ...Object.entries(short.query ?? {}).map(([name, each]) => ({ name, in: 'query', ...inQuery(each) })),
    ...Object.entries(short.header ?? {}).map(([name, each]) => ({ name, in: 'header', ...parameter(each) })),
  ];
  const isV1 = path.startsWith('/api/v1/');
  const own = mapValues(responses, (each, status) => response(each, status, { isV1, schemas }));
  const common = { ...errors.every, ...errors[access], ...(requestBody === undefined ? {} : errors.body) };
  return {
    operationId,
    tags,
    summary,
    ...(description === undefined ? {} : { description }),
    ...(access === 'public' ? { security: [] } : {}),
    ...(access === 'worker' ? { security: [{ worker: [] }] } : {}),
    ...(access === 'write' ? { 'x-needs': 'a login that may change things' } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(requestBody === undefined ? {} : { requestBody: body(requestBody, schemas) }),
    responses: { ...mapValues(common, (each, status) => response(each, status, { isV1, schemas })), ...own },
  };
}

function parameter({ description, example, required, ...schema }, isInPath = false) {
  const isRequired = isInPath || required ? { required: true } : {};
  return { description, ...isRequired, schema, ...(example === undefined ? {} : { example }) };
}

function inQuery(short) {
  const { schema, ...rest } = parameter(short);
  const bounds = schema.type === 'integer' ? { maximum: MAX_INTEGER } : {};
  const isEmptyKnown = rest.required || schema['x-may-be-empty'];
  return { ...rest, ...(isEmptyKnown ? {} : { allowEmptyValue: true }), schema: { ...bounds, ...schema } };
}

function body({ as, description, required = false, schema: short, example }, schemas) {
  const content = { schema: schema(short, schemas), ...(example === undefined ? {} : { example }) };
  const ofType = (type) => {
    if (type.includes('yaml')) return { ...content, schema: { description: 'A workflow, as YAML.' } };
    return type.includes('form')
      ? { schema: formSchema(published(withoutReference(content.schema, schemas))) }
      : content;
  };
  return { description, required, content: Object.fromEntries(MEDIA_TYPES[as].map((type) => [type, ofType(type)])) };
}

function withoutReference({ $ref, ...own }, schemas) {
  return $ref === undefined ? own : schemas[$ref.split('/').at(-1)];
}

/** Converts the schema of a JSON object to that of a form, whose fields are texts; others cannot be in a form. */
function formSchema({ properties = {}, required = [], additionalProperties, anyOf, ...rest }) {
  const fields = Object.entries(properties).map(([name, each]) => [name, formField(each, required.includes(name))]);
  return {
    ...rest,
    properties: Object.fromEntries(fields.filter(([, field]) => field !== null)),
    ...(required.length === 0 ? {} : { required }),
    ...(additionalProperties === undefined ? {} : { additionalProperties: additionalProperties && { type: 'string' } }),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map(formSchema) }),
  };
}

/** Returns null for a field that is no text. An optional field may be empty. */
function formField({ type, anyOf = [], enum: words, const: word, description, minLength, pattern }, isRequired) {
  const about = description === undefined ? {} : { description };
  const types = [type ?? [], ...anyOf.map((each) => each.type)].flat();
  const known =
    words ??
    (word === undefined ? null : [word]) ??
    (types.includes('string') || types[0] !== 'boolean' ? null : [true, false]);
  if (known !== null) {
    const texts = [...known.filter((each) => each !== null).map(String), ...(isRequired ? [] : [''])];
    return { ...about, type: 'string', enum: [...new Set(texts)] };
  }
  if (!types.includes('string')) return null;
  return { ...about, type: 'string', ...(minLength && { minLength }), ...(pattern && { pattern }) };
}

function response(short, status, { isV1, schemas }) {
  if (typeof short === 'string') return error(short, status, isV1);
  const { description, headers, schema: inJson, example } = short;
  const json = inJson === undefined ? {} : { 'application/json': { schema: inJson, example } };
  const content = mapValues({ ...json, ...short.content }, (each) => ({
    ...(each.schema === undefined ? {} : { schema: schema(each.schema, schemas) }),
    ...(each.example === undefined ? {} : { example: each.example }),
  }));
  return {
    description,
    ...(headers === undefined ? {} : { headers: mapValues(headers, header) }),
    ...(Object.keys(content).length === 0 ? {} : { content }),
  };
}

function header(description) {
  return { description, schema: { type: 'string' } };
}

/** Errors before the route is known have the format of v1 everywhere. */
function error(text, status, isV1) {
  const headers = {
    401: { 'WWW-Authenticate': header('The accepted logins.') },
    429: { 'Retry-After': header('Seconds to wait.') },
    503: { 'Retry-After': header('Seconds to wait.') },
  }[status];
  const problem = { 'application/problem+json': { schema: reference('Problem') } };
  const message = { 'application/json': { schema: reference('ErrorV1') } };
  const isEither = ['400', '431', '503'].includes(status);
  const content = isV1 || status === '408' ? message : isEither ? { ...problem, ...message } : problem;
  return { description: `${STATUS_CODES[status]}. ${text}`, ...(headers === undefined ? {} : { headers }), content };
}

function reference(name) {
  return { $ref: `#/components/schemas/${name}` };
}

/** Expands a schema. `known`: the schemas before it, which `x-from` may name. */
function schema(short, known) {
  if (Array.isArray(short)) return short.map((each) => schema(each, known));
  if (typeof short !== 'object' || short === null) return short;
  if (short.$ref !== undefined) return { ...short, ...reference(short.$ref) };
  const { description, properties, 'x-from': from, 'x-without': without = [], ...rest } = short;
  const about = description === undefined ? {} : { description };
  const keywords = mapValues(rest, (value, keyword) =>
    /^(?:enum|default|required)$/.test(keyword) ? value : schema(value, known),
  );
  if (properties === undefined && from === undefined) return { ...keywords, ...about };
  const copied = from === undefined ? { properties: {}, required: [] } : known[from];
  const own = Object.entries(properties ?? {});
  const kept = Object.entries(copied.properties).filter(([name]) => !without.includes(name));
  const required = [
    ...copied.required.filter((name) => !without.includes(name)),
    ...own.map(([name]) => name).filter((name) => !name.endsWith('?')),
  ];
  return {
    ...about,
    type: 'object',
    properties: Object.fromEntries([
      ...kept,
      ...own.map(([name, each]) => [name.replace(/[?]$/, ''), schema(each, known)]),
    ]),
    ...(required.length === 0 ? {} : { required }),
    ...keywords,
  };
}

function publishedSchemas(root) {
  const found = PUBLISHED.flatMap((published) => {
    const { file, name, isLeftOut = () => false } = published;
    const { $schema: _, $id: __, $defs = {}, title: ___, ...whole } = readJson(root, file);
    const parts = Object.keys($defs).filter((part) => !isLeftOut(part));
    return [[name, whole], ...parts.map((part) => [partName(published, part), $defs[part]])].map(([key, value]) => [
      key,
      JSON.parse(JSON.stringify(value), (each, target) => (each === '$ref' ? documentRef(target, file) : target)),
    ]);
  });
  const { WorkflowList: _, ...schemas } = Object.fromEntries(found);
  const isKept = ({ $ref }) => $ref !== undefined && schemas[$ref.replace('#/components/schemas/', '')] !== undefined;
  const oneOf = schemas.Event.oneOf.filter(isKept);
  return { ...schemas, Event: { description: 'An event of a run, as in its journal.', oneOf } };
}

function readJson(root, file) {
  return JSON.parse(readFileSync(join(root, 'docs/reference/schemas', file), 'utf8'));
}

/** Converts a reference between files to one within the document. */
function documentRef(target, from) {
  const [file, part] = target.split('#/$defs/');
  const published = PUBLISHED.find((each) => each.file === (file || from));
  return reference(part === undefined ? published.name : partName(published, part)).$ref;
}

/** `step` of a RunSummary is `RunStep`, `run.created` of an Event `EventRunCreated`. */
function partName({ prefix }, part) {
  const words = part.split('.').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return [prefix, ...words].join('');
}

function mapValues(map, convert) {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, convert(value, key)]));
}
