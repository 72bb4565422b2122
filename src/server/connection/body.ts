import type { IncomingMessage } from 'node:http';
import { messageOf } from '#system/errors.ts';
import { HttpError, type Route } from '../route.ts';
import { decodeFields } from '../router.ts';
import type { Limits } from './load-limits.ts';

/** The options of reading a body. */
export type BodyReading = Pick<Limits, 'bodyBytes' | 'discardedBytes'> & {
  /** Called before the first byte is read, once the body is accepted. */
  readonly proceed: () => void;
};

/**
 * Reads the body for a route: parsed JSON, the fields of a form (the first of each name), a text, or a buffer; undefined
 * without a body. Throws an `HttpError`: 400 for a malformed body, 413 for a body that is too large, 415 for another media type.
 */
export async function receiveBody(
  request: IncomingMessage,
  kind: Route['body'],
  reading: BodyReading,
): Promise<unknown> {
  const { 'transfer-encoding': encoding, 'content-length': length = 0 } = request.headers;
  if (encoding === undefined && !(Number(length) > 0)) return undefined;
  const type = kind === 'none' ? null : mediaType(request, kind);
  const bytes = await readBytes(request, reading);
  if (type === null || bytes.length === 0) return undefined;
  if (type === 'bytes') return bytes;
  if (type === 'multipart') return parseMultipart(bytes, request.headers['content-type'] ?? '');
  const text = decode(bytes);
  switch (type) {
    case 'json':
      return parseJson(text);
    case 'form':
      return fieldsOf(decodeFields(text, 'the form'));
    case 'text':
      return text;
  }
}

type BodyType = 'json' | 'form' | 'multipart' | 'text' | 'bytes';

const mediaTypes: { readonly [type: string]: BodyType } = {
  'application/json': 'json',
  'application/x-www-form-urlencoded': 'form',
  'multipart/form-data': 'multipart',
  'text/plain': 'text',
  'text/yaml': 'text',
  'application/yaml': 'text',
  'application/x-yaml': 'text',
  'application/octet-stream': 'bytes',
};

const taken: { readonly [kind in Exclude<Route['body'], 'none'>]: readonly BodyType[] } = {
  json: ['json'],
  'form-or-json': ['form', 'multipart', 'json'],
  text: ['text'],
  bytes: ['bytes'],
};

function mediaType({ headers }: IncomingMessage, kind: Exclude<Route['body'], 'none'>): BodyType {
  const [name = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';');
  const type = mediaTypes[name.trim()];
  const charset = parameters.map((parameter) => /^\s*charset="?([^"]*)"?\s*$/.exec(parameter)?.[1]).find(Boolean);
  const isPlain = (headers['content-encoding'] ?? 'identity') === 'identity' && (charset ?? 'utf-8') === 'utf-8';
  if (type !== undefined && taken[kind].includes(type) && isPlain) return type;
  const names = acceptedTypes(kind);
  const charsetNote = kind === 'bytes' ? '' : 'in UTF-8 and ';
  throw new HttpError(415, `the body must be ${names.join(' or ')}, ${charsetNote}not compressed`, {
    headers: { Accept: names.join(', ') },
  });
}

/** Returns the media types that a kind of body accepts. */
export function acceptedTypes(kind: Route['body']): readonly string[] {
  if (kind === 'none') return [];
  return Object.keys(mediaTypes).filter((each) => taken[kind].some((one) => one === mediaTypes[each]));
}

/** Reads the bytes. A body that is too large is rejected unread, unless the rest is small enough to discard. */
async function readBytes(request: IncomingMessage, reading: BodyReading): Promise<Buffer<ArrayBuffer>> {
  const { bodyBytes, discardedBytes, proceed } = reading;
  if (Number(request.headers['content-length'] ?? 0) > bodyBytes + discardedBytes) throw tooLarge(bodyBytes, true);
  proceed();
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length <= bodyBytes) chunks.push(chunk);
      else chunks.length = 0;
      if (length > bodyBytes + discardedBytes) throw tooLarge(bodyBytes, true);
    }
  } catch (error) {
    throw error instanceof HttpError ? error : new HttpError(400, 'the body ended too early');
  }
  if (length > bodyBytes) throw tooLarge(bodyBytes, false);
  return Buffer.concat(chunks, length);
}

function tooLarge(bodyBytes: number, isUnread: boolean): HttpError {
  return new HttpError(413, `the body is larger than ${bodyBytes} bytes`, {
    headers: isUnread ? { Connection: 'close' } : {},
  });
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new HttpError(400, 'the body is not UTF-8');
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new HttpError(400, `the body is not JSON: ${messageOf(error)}`);
  }
}

/** Parses a multipart form (`curl -F`) with the parser in Node's `Response`. */
async function parseMultipart(bytes: Buffer<ArrayBuffer>, type: string): Promise<Readonly<Record<string, string>>> {
  const form = await new Response(bytes, { headers: { 'Content-Type': type } }).formData().catch(() => {
    throw new HttpError(400, 'the form is malformed');
  });
  return fieldsOf(
    [...form].map(([name, value]) => {
      if (typeof value === 'string') return [name, value];
      throw new HttpError(400, `the field "${name}" of the form must be a text, not a file`);
    }),
  );
}

function fieldsOf(fields: Iterable<readonly [string, string]>): Readonly<Record<string, string>> {
  const first = new Map<string, string>();
  for (const [name, value] of fields) if (!first.has(name)) first.set(name, value);
  return Object.fromEntries(first);
}
