import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { CountedRequest } from '#daemon/metrics.ts';
import { stackOf } from '#system/stack.ts';
import { createTurns } from '#system/turns.ts';
import { bearerChallenge, type Guard, requireAccess } from '../access/auth.ts';
import {
  checkHost,
  checkOrigin,
  corsHeaders,
  type HostNames,
  isPreflight,
  preflightReply,
} from '../access/origin-check.ts';
import type { User } from '../access/sessions.ts';
import { type ErrorStyle, errorReply } from '../reply/error-reply.ts';
import { prefers, send } from '../reply/send.ts';
import { HttpError, type Reply, type Route } from '../route.ts';
import { decodeFields, type FoundRoute, type Router } from '../router.ts';
import { receiveBody } from './body.ts';
import type { Limits } from './load-limits.ts';

/** The checks between a request and its route. */
export type Gate = {
  readonly router: Router;
  readonly guard: Guard;
  readonly names: HostNames;
  readonly corsOrigins: readonly string[];
  readonly limits: Limits;
  readonly log: (line: string) => void;
  readonly observe: (request: CountedRequest) => void;
  /** The page for browsers at unknown paths, and without a login; null: the error for programs. */
  readonly page: Reply | null;
  /** Aborted when the server closes. */
  readonly closing: AbortSignal;
};

/** Creates the request handler, which reveals no path to a request without a valid login. */
export function createListener(gate: Gate): RequestListener {
  const takeTurns = createTurns(MOST_IN_A_TURN);
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
const MOST_IN_A_TURN = 20;

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
    const reply = await answer(request, response, { gate, state, gone });
    await send(reply, { ...sending, headers: state.headers });
  } catch (error) {
    const reply = errorReply(error, state.style, gate.log);
    const headers = isLeftUnread(request, gate.limits) ? { ...state.headers, Connection: 'close' } : state.headers;
    if (!response.headersSent) await send(reply, { ...sending, headers });
  } finally {
    const seconds = (performance.now() - startedAt) / 1000;
    // Only from the table of routes: clients must not create series of metrics.
    const { method, path: route } = state.route ?? { method: 'any', path: 'none' };
    gate.observe({ method, route, status: response.statusCode, seconds });
    gate.closing.removeEventListener('abort', close);
    // A connection that Node keeps alive would delay the close.
    if (gate.closing.aborted) request.socket.end();
  }
}

/** Whether an unread body may be long or never arrive, so that it is not awaited. */
function isLeftUnread({ headers, complete }: IncomingMessage, { discardedBytes }: Limits): boolean {
  if (complete) return false;
  const isLong = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > discardedBytes;
  return isLong || headers.expect !== undefined;
}

/** The properties of the response that errors need too. */
type ReplyState = { style: ErrorStyle; headers: Readonly<Record<string, string>>; route: Route | null };

type Asked = { readonly gate: Gate; readonly state: ReplyState; readonly gone: AbortController };

async function answer(request: IncomingMessage, response: ServerResponse, asked: Asked): Promise<Reply> {
  const { gate, state, gone } = asked;
  const { headers } = request;
  const { path, query } = target(request);
  checkHeaderCount(request, gate.limits);
  checkHost(request, gate.names);
  const origin = checkOrigin(request, gate.corsOrigins);
  state.headers = { ...state.headers, ...corsHeaders(origin) };
  if (origin !== null && isPreflight(request)) return preflightReply(request);
  const allowed = findAllowed(request, path, gate);
  if (allowed === null) return loginPage(gate);
  const { found, user } = allowed;
  const session = user?.session ?? null;
  const release = session?.use(() => gone.abort());
  if (release !== undefined) response.once('close', release);
  if (found.kind !== 'route') return otherwise(found, request, gate);
  const { route, params } = found;
  state.style = route.errors;
  state.route = route;
  const proceed = () => {
    if (headers.expect !== undefined) response.writeContinue();
  };
  const body = await receiveBody(request, route.body, { ...gate.limits, proceed });
  return route.handle({
    params,
    query: decodeFields(query, 'the query'),
    headers,
    access: user?.to ?? 'read',
    visitor: gate.guard.visitor(request),
    body,
    signal: gone.signal,
  });
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

/** Rejects too many headers. Node's own limit is much higher: what Node 20 drops silently then, Node 24 rejects itself. */
function checkHeaderCount({ rawHeaders }: IncomingMessage, { headerCount }: Limits): void {
  if (rawHeaders.length / 2 <= headerCount) return;
  throw new HttpError(431, `more than ${headerCount} header lines`, { headers: { Connection: 'close' } });
}

/** Finds the route and the user, who is null on a public path; null: a login is missing, and a browser wants a page. */
function findAllowed(request: IncomingMessage, path: string, { router, guard, page }: Gate) {
  const found = tryFind(router, request.method ?? '', path);
  const isError = found instanceof HttpError;
  const route = !isError && found.kind === 'route' ? found.route : null;
  const isPublic = route?.access === 'public' || (route?.access === 'page' && wantsPage(request));
  if (!isError && isPublic) return { found, user: null };
  if (!isError && route?.access === 'worker') {
    guard.requireWorker(request);
    return { found, user: null };
  }
  const user = authenticate(request, guard, page !== null && wantsPage(request));
  if (user === null) return null;
  if (isError) throw found;
  if (route !== null) requireAccess(user, route);
  return { found, user };
}

/** Returns null instead of an `HttpError` 401 for a request that the page answers. */
function authenticate(request: IncomingMessage, guard: Guard, isPageShown: boolean): User | null {
  try {
    return guard.authenticate(request);
  } catch (error) {
    if (isPageShown && error instanceof HttpError && error.status === 401) return null;
    throw error;
  }
}

/** Whether a request is a visit of a browser to an address. */
function wantsPage({ method, headers }: IncomingMessage): boolean {
  const isReading = method === 'GET' || method === 'HEAD';
  return isReading && prefers(headers.accept, ['text/html'], ['application/json']);
}

/** The page asks for the login. Every path has the same response, so that it does not reveal which ones exist. */
function loginPage({ page }: Gate): Reply {
  if (page === null) throw new Error('there is no page');
  return { ...page, status: 401, headers: { ...page.headers, ...bearerChallenge } };
}

function tryFind(router: Router, method: string, path: string): FoundRoute | HttpError {
  try {
    return router.find(method, path);
  } catch (error) {
    if (error instanceof HttpError) return error;
    throw error;
  }
}

function otherwise(found: Exclude<FoundRoute, { kind: 'route' }>, request: IncomingMessage, { page }: Gate): Reply {
  const { method = '' } = request;
  if (found.kind === 'nothing') {
    if (page !== null && wantsPage(request)) return { ...page, status: 404 };
    throw new HttpError(404, 'there is nothing at this path');
  }
  const allow = { Allow: found.allow.join(', ') };
  if (method === 'OPTIONS') return { status: 204, headers: allow, body: null };
  throw new HttpError(405, `${method} is not supported here`, { help: `possible: ${allow.Allow}`, headers: allow });
}
