import type { IncomingMessage } from 'node:http';
import type { Reply } from '../route.ts';

const requestHeaders = 'Accept, Authorization, Content-Type, If-Match, If-None-Match, Last-Event-ID';

/** What lets a page of an allowed origin read an answer. Nothing where nothing is allowed. */
export function corsHeaders(origin: string | null): Readonly<Record<string, string>> {
  if (origin === null) return {};
  return { 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': 'ETag, Retry-After, Location' };
}

/** Whether a browser only asks, before a request that a page wants to make. It asks without login. */
export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && 'access-control-request-method' in headers;
}

/** The answer to that for an allowed origin. */
export function preflightReply({ headers }: IncomingMessage): Reply {
  const isLocal = headers['access-control-request-private-network'] === 'true';
  return {
    status: 204,
    headers: {
      'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, DELETE',
      'Access-Control-Allow-Headers': requestHeaders,
      'Access-Control-Max-Age': '600',
      ...(isLocal ? { 'Access-Control-Allow-Private-Network': 'true' } : {}),
    },
    body: null,
  };
}
