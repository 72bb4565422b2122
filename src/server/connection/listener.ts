import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { CountedRequest } from '../../daemon/metrics.ts';
import { stackOf } from '../../stack.ts';
import { createTurns } from '../../turns.ts';
import { type Guard, requireAccess } from '../access/auth.ts';
import { corsHeaders, isPreflight, preflightReply } from '../access/cors.ts';
import { checkHost, type HostNames } from '../access/host-check.ts';
import { checkOrigin } from '../access/origin-check.ts';
import { prefers } from '../reply/accept.ts';
import { type ErrorStyle, errorReply } from '../reply/error-reply.ts';
import { HttpError } from '../reply/http-error.ts';
import { send } from '../reply/send.ts';
import type { ApiRequest, Reply, Route } from '../route.ts';
import type { Found, Router } from '../router.ts';
import { readBody } from './body.ts';
import type { Limits } from './limits.ts';
import { decodeFields } from './percent.ts';

/** The checks between a request and its route. */
export type Gate = {
  readonly router: Router;
  readonly guard: Guard;
  readonly names: HostNames;
  readonly corsOrigins: readonly string[];
  readonly limits: Limits;
  readonly log: (line: string) => void;
  readonly observe: (request: CountedRequest) => void;
  /** The page for browsers at unknown paths; null: the error for programs. */
  readonly notFoundPage: Reply | null;
  /** Aborted when the server closes. */
  readonly closing: AbortSignal;
};

/**
 * Creates the request handler. It checks host name, origin and login first, so that a request without a valid login does
 * not learn which paths exist.
 */
export function createListener(gate: Gate): RequestListener {
  const takeTurns = createTurns(mostInATurn);
  return (request, response) => {
    const work = () => {
      if (request.socket.destroyed) return;
      serve(request, response, gate).catch((error: unknown) => {
        gate.log(`an answer could not be sent: ${stackOf(error)}`);
        response.destroy();
      });
    };
    // Starts and stops do not wait for reading requests.
    takeTurns(work, request.method !== 'GET' && request.method !== 'HEAD');
  };
}

/** Reading requests handled per turn of the event loop: some milliseconds. */
const mostInATurn = 20;

async function serve(request: IncomingMessage, response: ServerResponse, gate: Gate): Promise<void> {
  const gone = new AbortController();
  const close = () => {
    if (!response.writableFinished) gone.abort();
  };
  response.once('close', close);
  gate.closing.addEventListener('abort', close);
  const state: ReplyState = {
    style: styleOf(request.url ?? ''),
    headers: gate.corsOrigins.length > 0 ? { Vary: 'Origin' } : {},
    route: null,
  };
  const startedAt = performance.now();
  const sending = { request, response, signal: gone.signal };
  try {
    const reply = await answer(request, response, { gate, state, signal: gone.signal });
    await send(reply, { ...sending, headers: state.headers });
  } catch (error) {
    const reply = errorReply(error, state.style, gate.log);
    const headers = isLeftUnread(request, gate.limits) ? { ...state.headers, Connection: 'close' } : state.headers;
    if (!response.headersSent) await send(reply, { ...sending, headers });
  } finally {
    const seconds = (performance.now() - startedAt) / 1000;
    gate.observe({ ...countedAs(state.route), status: response.statusCode, seconds });
    gate.closing.removeEventListener('abort', close);
    // A connection that Node keeps alive would delay the close.
    if (gate.closing.aborted) request.socket.end();
  }
}

/** Returns the labels of a request, only from the table of routes: clients must not create series of metrics. */
function countedAs(route: Route | null): Pick<CountedRequest, 'method' | 'route'> {
  return route === null ? { method: 'any', route: 'none' } : { method: route.method, route: route.path };
}

/** Whether an unread body may be long or never arrive, so that it is not awaited. */
function isLeftUnread({ headers, complete }: IncomingMessage, { discardedBytes }: Limits): boolean {
  if (complete) return false;
  const isLong = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > discardedBytes;
  return isLong || headers.expect !== undefined;
}

/** The properties of the response that errors need too. */
type ReplyState = { style: ErrorStyle; headers: Readonly<Record<string, string>>; route: Route | null };

type Asked = { readonly gate: Gate; readonly state: ReplyState; readonly signal: AbortSignal };

async function answer(request: IncomingMessage, response: ServerResponse, asked: Asked): Promise<Reply> {
  const { gate, state, signal } = asked;
  const { headers } = request;
  const { path, query } = target(request);
  checkHeaderCount(request, gate.limits);
  checkHost(request, gate.names);
  const origin = checkOrigin(request, gate.corsOrigins);
  state.headers = { ...state.headers, ...corsHeaders(origin) };
  if (origin !== null && isPreflight(request)) return preflightReply(request);
  const { found, access } = findAllowed(request, path, gate);
  if (found.kind === 'route') {
    state.style = found.match.route.errors;
    state.route = found.match.route;
  }
  if (found.kind !== 'route') return otherwise(found, request, gate);
  const { route, params } = found.match;
  const proceed = () => {
    if (headers.expect !== undefined) response.writeContinue();
  };
  const body = await readBody(request, route.body, { ...gate.limits, proceed });
  return route.handle({ params, query: decodeFields(query, 'the query'), headers, access, body, signal });
}

/** Returns the format of errors for a path, even if it has no route. */
function styleOf(url: string): ErrorStyle {
  return url.replace(/\?.*/s, '').includes('/api/v1') ? 'v1' : 'problem';
}

/** Splits the request target. Absolute URLs, as for proxies, are rejected: they contain a second host. */
function target({ url = '' }: IncomingMessage): { readonly path: string; readonly query: string } {
  if (!url.startsWith('/')) throw new HttpError(400, 'the target of a request must be a path');
  const at = url.indexOf('?');
  return at === -1 ? { path: url, query: '' } : { path: url.slice(0, at), query: url.slice(at + 1) };
}

/** Rejects too many headers. Node's own limit, which is higher by one, silently drops the others. */
function checkHeaderCount({ rawHeaders }: IncomingMessage, { headerCount }: Limits): void {
  if (rawHeaders.length / 2 <= headerCount) return;
  throw new HttpError(431, `more than ${headerCount} header lines`, { headers: { Connection: 'close' } });
}

type Allowed = { readonly found: Found; readonly access: ApiRequest['access'] };

/** Finds the route, after checking the login unless the route is public. */
function findAllowed(request: IncomingMessage, path: string, { router, guard }: Gate): Allowed {
  const found = tryFind(router, request.method ?? '', path);
  const isError = found instanceof HttpError;
  if (!isError && found.kind === 'route' && found.match.route.access === 'public') return { found, access: 'read' };
  const access = guard.authenticate(request);
  if (isError) throw found;
  if (found.kind === 'route') requireAccess(access, found.match.route.access);
  return { found, access };
}

function tryFind(router: Router, method: string, path: string): Found | HttpError {
  try {
    return router.find(method, path);
  } catch (error) {
    if (error instanceof HttpError) return error;
    throw error;
  }
}

function otherwise(
  found: Exclude<Found, { kind: 'route' }>,
  { method = '', headers }: IncomingMessage,
  { notFoundPage }: Gate,
): Reply {
  if (found.kind === 'nothing') {
    const isShown = method === 'GET' && prefers(headers.accept, ['text/html'], ['application/json']);
    if (notFoundPage !== null && isShown) return notFoundPage;
    throw new HttpError(404, 'there is nothing at this path');
  }
  const allow = { Allow: found.allow.join(', ') };
  if (method === 'OPTIONS') return { status: 204, headers: allow, body: null };
  throw new HttpError(405, `${method} is not possible here`, { help: `possible: ${allow.Allow}`, headers: allow });
}
