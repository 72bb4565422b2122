import type { IncomingHttpHeaders } from 'node:http';
import type { Writable } from 'node:stream';
import type { Visitor } from './access/sessions.ts';
import {
  type Bodies,
  bodies,
  type Queries,
  queries,
  type RequestCheck,
  type RequestSchema,
  type SchemaError,
} from './generated/requests.mjs';

/**
 * The access that a route requires: none, none for a browser that wants a page and else reading, reading, or changing; or the
 * token of workers, which is for nothing else.
 */
type Access = 'public' | 'page' | 'read' | 'write' | 'worker';

/** A request that has passed the general checks: login, Host, origin, sizes, encodings. */
export type ApiRequest = {
  /** Values of the `{name}` parts of the route's path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** The access of the login; a read-only login must not see secrets in files. */
  readonly access: 'read' | 'write';
  /** The client, for routes about its session. */
  readonly visitor: Visitor;
  /** The body by the route's `body`: parsed JSON, the fields of a form, a text, a buffer; undefined without one. */
  readonly body: unknown;
  /** Aborted when the client disconnects or the server closes. */
  readonly signal: AbortSignal;
};

/** The response: a complete body or a stream. */
export type Reply = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
} & (
  | { readonly body: string | Uint8Array | null }
  | {
      readonly stream: (output: Writable, signal: AbortSignal) => Promise<void>;
      /** Whether the stream may be silent for longer than a connection may be idle. */
      readonly isQuiet?: boolean;
    }
);

/** One entry of the table that router, checks, description and tests share. */
export type Route = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path with a leading slash, without the base path; `{name}` matches one segment: `/api/v2/runs/{id}`. */
  readonly path: string;
  readonly access: Access;
  /** The accepted bodies; any other media type gets 415. */
  readonly body: 'none' | 'json' | 'form-or-json' | 'text' | 'bytes';
  /** The format of errors: that of the v1 API, or RFC 9457 problem details. */
  readonly errors: 'v1' | 'problem';
  readonly handle: Handler;
};

/** Answers a request to a route. */
export type Handler = (request: ApiRequest) => Promise<Reply> | Reply;

/** Creates a JSON response. */
export function jsonReply(value: unknown, status = 200): Reply {
  return { status, body: `${JSON.stringify(value)}\n` };
}

/** Creates a response without a body. */
export function noContent(headers: Readonly<Record<string, string>> = {}): Reply {
  return { status: 204, headers, body: null };
}

/** An error of the HTTP request itself; `error-reply.ts` converts it to a response. */
export class HttpError extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Help for the client, as a sentence; null if the message is sufficient. */
  readonly help: string | null;

  constructor(
    status: number,
    message: string,
    options: { readonly help?: string; readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message);
    this.name = 'HttpError';
    this.status = status;
    this.headers = options.headers ?? {};
    this.help = options.help ?? null;
  }
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Returns the parameters of a query by the description of the operation, with defaults; null for missing ones. Unknown
 * parameters are ignored. Throws an `HttpError` 400 for invalid values.
 */
export function readQuery<Id extends keyof Queries>(id: Id, query: URLSearchParams): Queries[Id] {
  const { properties = {} } = queries[id].schema;
  const given = Object.entries(properties).map(
    ([name, schema]) => [name, queryValue(query.getAll(name), schema)] as const,
  );
  return checked(Object.fromEntries(given), queries[id]) as Queries[Id];
}

/**
 * Returns the fields of a body, JSON or a form, by the description of the operation, with defaults; null for missing
 * ones. A missing body (undefined) has no fields. Throws an `HttpError` 400 for another body.
 */
export function readBody<Id extends keyof Bodies>(id: Id, body: unknown = {}): Bodies[Id] {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new HttpError(400, 'the body must be an object');
  }
  const { properties = {} } = bodies[id].schema;
  const given = Object.entries(body).map(([name, value]) => {
    return [name, Object.hasOwn(properties, name) ? fieldValue(value, properties[name] ?? {}) : value] as const;
  });
  return checked(Object.fromEntries(given), bodies[id]) as Bodies[Id];
}

/** `texts`: the values of a repeated parameter. An empty value counts as missing; that of a flag is true. */
function queryValue(texts: readonly string[], schema: RequestSchema): unknown {
  const [text] = texts;
  switch (schema.type) {
    case 'array': {
      const words = texts.flatMap((each) => each.split(',')).filter((word) => word !== '');
      return words.length === 0 ? undefined : words;
    }
    case 'boolean':
      return text === '' ? true : fieldValue(text, schema);
    case 'integer':
      return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : fieldValue(text, schema);
    default:
      return fieldValue(text, schema);
  }
}

/** Forms contain texts. */
function fieldValue(value: unknown, schema: RequestSchema): unknown {
  if (value === null || (value === '' && schema['x-may-be-empty'] !== true)) return undefined;
  const isFlag = [schema, ...(schema.anyOf ?? [])].some((each) => typesOf(each).join() === 'boolean');
  return isFlag && (value === 'true' || value === 'false') ? value === 'true' : value;
}

function checked(given: Fields, { schema, isValid }: RequestCheck): Fields {
  const fields = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  if (!isValid(fields)) throw problem(isValid.errors ?? [], fields, schema);
  const known = Object.entries(schema.properties ?? {});
  const defaults = known.map(([name, { default: value = null }]) => [name, value] as const);
  return { ...Object.fromEntries(defaults), ...fields };
}

function problem(errors: readonly SchemaError[], fields: Fields, schema: RequestSchema): HttpError {
  const error = decisive(errors);
  const { keyword, params } = error;
  if (keyword === 'required' && error.instancePath === '') {
    const name = String(params['missingProperty']);
    return new HttpError(400, `"${name}" is missing`, { help: explained(schema.properties?.[name] ?? {}) });
  }
  if (keyword === 'additionalProperties') {
    const help = `fields: ${Object.keys(schema.properties ?? {}).join(', ')}`;
    return new HttpError(400, `there is no field "${params['additionalProperty']}"`, { help });
  }
  const { name, value, schema: own } = located(error.instancePath, fields, schema);
  switch (typeof value === 'string' || keyword === 'propertyNames' ? keyword : 'type') {
    case 'propertyNames':
      return new HttpError(400, `"${params['propertyName']}" is not the name of a parameter`);
    case 'enum':
      // An entry of a list is one of several words, which needs no position.
      return new HttpError(400, `"${name.replace(/\[\d+\]$/, '')}" cannot be "${value}"`, { help: possible(own) });
    case 'pattern':
      return new HttpError(400, `"${name}" cannot be "${value}"`);
    default:
      return new HttpError(400, `"${name}" must be ${expected(own)}`);
  }
}

/**
 * Returns the error to report: of the first invalid field, the most precise one. All alternatives of a value report
 * errors, and the alternatives themselves come last.
 */
function decisive(errors: readonly SchemaError[]): SchemaError {
  const [first] = errors;
  if (first === undefined) throw new Error('an invalid value without an error');
  const [, field] = first.instancePath.split('/');
  if (field === undefined) return first;
  const depth = ({ instancePath }: SchemaError) => instancePath.split('/').length;
  let found = first;
  for (const each of errors) {
    const isDeeper = each.instancePath.split('/')[1] === field && depth(each) > depth(found);
    const isSamePosition = each.instancePath === found.instancePath;
    if (isDeeper || (isSamePosition && found.keyword !== 'propertyNames')) found = each;
  }
  return found;
}

type Located = { readonly name: string; readonly value: unknown; readonly schema: RequestSchema };

/** Returns the value and its schema for a JSON pointer, with its name for messages: `params[0].name`. */
function located(pointer: string, fields: Fields, schema: RequestSchema): Located {
  const keys = pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  let at: Located = { name: '', value: fields, schema };
  for (const key of keys) {
    const isEntry = Array.isArray(at.value);
    const branches = [at.schema, ...(at.schema.anyOf ?? [])];
    const { additionalProperties: other } =
      branches.find((each) => typeof each.additionalProperties === 'object') ?? {};
    const own = branches.find(({ properties = {} }) => Object.hasOwn(properties, key))?.properties?.[key];
    const next = isEntry ? branches.find(({ items }) => items !== undefined)?.items : (own ?? other);
    at = {
      name: isEntry ? `${at.name}[${key}]` : [at.name, key].filter((part) => part !== '').join('.'),
      value: (at.value as Fields)[key],
      schema: typeof next === 'object' ? next : {},
    };
  }
  return at;
}

function explained(schema: RequestSchema): string {
  return schema.description ?? (schema.enum === undefined ? `it must be ${expected(schema)}` : possible(schema));
}

function possible({ enum: words = [] }: RequestSchema): string {
  return `possible: ${words.join(', ')}`;
}

function expected(schema: RequestSchema): string {
  if (schema['x-expected'] !== undefined) return schema['x-expected'];
  switch (typesOf(schema)[0]) {
    case 'integer':
      return `a whole number${range(schema)}`;
    case 'boolean':
      return 'true or false';
    default:
      return 'a text';
  }
}

function typesOf({ type }: RequestSchema): readonly string[] {
  return [type ?? []].flat().filter((each) => each !== 'null');
}

function range({ minimum = 0, maximum }: RequestSchema): string {
  return maximum === undefined ? '' : ` from ${minimum} to ${maximum}`;
}
