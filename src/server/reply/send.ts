import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Reply } from '../route.ts';

/** The default headers of every response: no caching, framing, sniffing or referrer. */
const usualHeaders: Readonly<Record<string, string>> = {
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/** The idle time of a connection before the system probes the peer. */
const PROBE_MS = 30_000;

/** The context of sending a reply. */
type Sending = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Headers that do not depend on the route. */
  readonly headers: Readonly<Record<string, string>>;
  /** Aborted when the client disconnects or the server closes. */
  readonly signal: AbortSignal;
};

/**
 * Sends a reply. A complete body is sent with its length, or as 304 if the client has it; a stream is sent in chunks.
 * Rejects if a stream fails, which the client sees as a broken connection.
 */
export async function send(reply: Reply, { request, response, headers, signal }: Sending): Promise<void> {
  const all = merge(usualHeaders, headers, reply.headers ?? {});
  if ('body' in reply) return sendBody(reply, { request, response, headers: all, signal });
  response.writeHead(reply.status, all);
  if (request.method === 'HEAD') return void response.end();
  if (reply.isQuiet) {
    // The system probes an idle peer. The normal limit is restored for the next request.
    request.socket.setTimeout(0);
    request.socket.setKeepAlive(true, PROBE_MS);
  }
  response.flushHeaders();
  try {
    await reply.stream(response, signal);
    response.end();
  } catch (error) {
    response.destroy();
    if (!signal.aborted) throw error;
  }
}

/** Returns the entity tag of a body, for conditional requests. */
export function entityTag(body: string | Uint8Array): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
}

async function sendBody(reply: Extract<Reply, { body: unknown }>, sending: Sending): Promise<void> {
  const { request, response } = sending;
  const { status, body } = reply;
  const isCompressible = body !== null && mayCompress(request, sending.headers);
  const headers = isCompressible ? merge(sending.headers, { Vary: varyOf(sending.headers) }) : sending.headers;
  if (status === 200 && isKnown(request, headers['ETag'])) return void response.writeHead(304, headers).end();
  if (body === null) {
    const { 'Content-Type': _, ...rest } = headers;
    return void response.writeHead(status, status === 204 ? rest : { ...rest, 'Content-Length': '0' }).end();
  }
  const isLong = isCompressible && Buffer.byteLength(body) >= MIN_COMPRESSED;
  const encoding = isLong ? bestEncoding(request.headers['accept-encoding'], ['br', 'gzip']) : 'identity';
  const sent = encoding === 'identity' ? body : await compressed(body, encoding);
  // The same text in other bytes: its tag is weak.
  const tag = headers['ETag'] === undefined ? {} : { ETag: `W/${headers['ETag']}` };
  const encoded = encoding === 'identity' ? headers : { ...headers, ...tag, 'Content-Encoding': encoding };
  response.writeHead(status, { ...encoded, 'Content-Length': String(Buffer.byteLength(sent)) });
  response.end(request.method === 'HEAD' ? undefined : sent);
}

/** Shorter bodies fit into one packet anyway, in bytes. */
const MIN_COMPRESSED = 1024;

/** Whether a body is text, is no range of another, and has no secret of a session, which its length would betray. */
function mayCompress({ url = '' }: IncomingMessage, headers: Readonly<Record<string, string>>): boolean {
  const isText = /^(application\/([\w.-]+\+)?json|text\/)/.test(headers['Content-Type'] ?? '');
  const isWhole = headers['Content-Encoding'] === undefined && headers['Accept-Ranges'] === undefined;
  return isText && isWhole && !/\/session(\?|$)/.test(url);
}

function varyOf({ Vary: vary }: Readonly<Record<string, string>>): string {
  if (vary === undefined) return 'Accept-Encoding';
  return /accept-encoding/i.test(vary) ? vary : `${vary}, Accept-Encoding`;
}

type Compressed = Map<Encoding, Promise<Buffer>>;

/** The compressed copies of bodies that are kept to be sent again. */
const copies = new WeakMap<Uint8Array, Compressed>();

/** Compresses a body outside of the event loop; one that is kept, once. */
function compressed(body: string | Uint8Array, encoding: 'gzip' | 'br'): Promise<Buffer> {
  if (typeof body === 'string') return compress[encoding](body);
  const known: Compressed = copies.get(body) ?? new Map();
  copies.set(body, known);
  const copy = known.get(encoding) ?? compress[encoding](body);
  known.set(encoding, copy);
  return copy;
}

const [inGzip, inBrotli] = [promisify(gzip), promisify(brotliCompress)];
const compress = {
  gzip: (body: string | Uint8Array) => inGzip(body, { level: 4 }),
  br: (body: string | Uint8Array) => inBrotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
};

function isKnown({ method, headers }: IncomingMessage, tag: string | undefined): boolean {
  const known = headers['if-none-match'];
  if (tag === undefined || known === undefined || (method !== 'GET' && method !== 'HEAD')) return false;
  return known.split(',').some((each) => [tag, `W/${tag}`, '*'].includes(each.trim()));
}

/** Merges headers, ignoring the case of names; later ones override. */
function merge(...all: readonly Readonly<Record<string, string>>[]): Readonly<Record<string, string>> {
  const byName = new Map<string, readonly [string, string]>();
  for (const headers of all) {
    for (const [name, value] of Object.entries(headers)) {
      const before = byName.get(name.toLowerCase());
      byName.set(name.toLowerCase(), [before?.[0] ?? name, value]);
    }
  }
  return Object.fromEntries(byName.values());
}

type Range = { readonly type: string; readonly quality: number };

/**
 * Whether a client prefers `wanted` to `usual`, each given by the names of its media type; the first name is used in
 * responses. Follows the header `Accept` of RFC 9110, section 12.5.1; at equal quality, a named type wins.
 */
export function prefers(accept: string | undefined, wanted: readonly string[], usual: readonly string[]): boolean {
  const ranges = rangesOf(accept ?? '*/*');
  const [one, other] = [likingOf(wanted, ranges), likingOf(usual, ranges)];
  return one.quality > other.quality || (one.quality === other.quality && one.quality > 0 && one.isNamed);
}

/** Parses `text/yaml;q=0.5, application/*`; invalid ranges are ignored. */
function rangesOf(accept: string): readonly Range[] {
  return accept.split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
    return { type, quality: /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(quality) ? Number(quality) : 1 };
  });
}

/** Returns the quality of the most specific range, and whether that names the media type, without a wildcard. */
function likingOf(names: readonly string[], ranges: readonly Range[]) {
  const named = ranges.filter(({ type }) => names.includes(type));
  if (named.length > 0) return { quality: Math.max(...named.map(({ quality }) => quality)), isNamed: true };
  const kind = names[0]?.replace(/\/.*/, '/*');
  const wide = ranges.find(({ type }) => type === kind) ?? ranges.find(({ type }) => type === '*/*');
  return { quality: wide?.quality ?? 0, isNamed: false };
}

/** An encoding of a body; `identity`: not encoded. */
export type Encoding = 'identity' | 'gzip' | 'br';

/** Encodings, the most compact first. */
const preferred: readonly Encoding[] = ['br', 'gzip'];

/** Returns the best available encoding that `Accept-Encoding` allows (RFC 9110, section 12.5.3). */
export function bestEncoding(accepted: string | string[] | undefined, available: readonly Encoding[]): Encoding {
  const qualities = new Map(
    String(accepted ?? '')
      .toLowerCase()
      .split(',')
      .map((each) => {
        const [name = '', ...parameters] = each.split(';').map((part) => part.trim());
        const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
        return [name, quality === undefined ? 1 : Number(quality)] as const;
      }),
  );
  const qualityOf = (encoding: string) => qualities.get(encoding) ?? qualities.get('*') ?? 0;
  const allowed = preferred.filter((each) => available.includes(each) && qualityOf(each) > 0);
  const best = Math.max(...allowed.map(qualityOf));
  const found = allowed.find((each) => qualityOf(each) === best);
  return found === undefined || (qualities.get('identity') ?? 0) > best ? 'identity' : found;
}
