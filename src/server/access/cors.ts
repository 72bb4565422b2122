import type { IncomingMessage } from 'node:http';
import type { Reply } from '../route.ts';

const requestHeaders = 'Accept, Authorization, Content-Type, If-Match, If-None-Match, Last-Event-ID';

/** Returns the headers that let a page of an allowed origin read a response; empty for other origins. */
export function corsHeaders(origin: string | null): Readonly<Record<string, string>> {
  if (origin === null) return {};
  return { 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': 'ETag, Retry-After, Location' };
}

/** Whether a request is a CORS preflight, which browsers send without a login. */
export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && 'access-control-request-method' in headers;
}

/** Returns the response to a preflight from an allowed origin. */
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
