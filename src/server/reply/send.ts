import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
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
const probeMs = 30_000;

/** The context of sending a reply. */
export type Sending = {
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
  if (reply.isQuiet) keepOpen(request);
  response.flushHeaders();
  try {
    await reply.stream(response, signal);
    response.end();
  } catch (error) {
    response.destroy();
    if (!signal.aborted) throw error;
  }
}

/** Lets the system probe an idle peer. The normal limit is restored for the next request. */
function keepOpen({ socket }: IncomingMessage): void {
  socket.setTimeout(0);
  socket.setKeepAlive(true, probeMs);
}

/** Returns the entity tag of a body, for conditional requests. */
export function entityTag(body: string | Uint8Array): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
}

function sendBody(reply: Extract<Reply, { body: unknown }>, { request, response, headers }: Sending): void {
  const { status, body } = reply;
  if (status === 200 && isKnown(request, headers['ETag'])) return void response.writeHead(304, headers).end();
  if (body === null) {
    const { 'Content-Type': _, ...rest } = headers;
    return void response.writeHead(status, status === 204 ? rest : { ...rest, 'Content-Length': '0' }).end();
  }
  response.writeHead(status, { ...headers, 'Content-Length': String(Buffer.byteLength(body)) });
  response.end(request.method === 'HEAD' ? undefined : body);
}

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
