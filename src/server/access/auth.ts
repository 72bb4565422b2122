import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { HttpError } from '../route.ts';
import type { Client } from './client-address.ts';
import type { Login, LoginVerdict } from './login.ts';
import type { LoginTries } from './login-tries.ts';
import { isOwnOrigin } from './origin-check.ts';
import { hasSessionCookie, type Session, type Sessions, sessionCookie, sessionSecrets } from './sessions.ts';
import type { User, Visitor } from './visitor.ts';

export type Guard = {
  /** Returns the user of a request. Throws an `HttpError`: 401 without a valid login, 403, 429 after too many wrong logins. */
  readonly authenticate: (request: IncomingMessage) => User;
  readonly visitor: (request: IncomingMessage) => Visitor;
};

export type GuardOptions = {
  readonly login: Login;
  readonly tries: LoginTries;
  readonly sessions: Sessions;
  readonly clientOf: (request: IncomingMessage) => Client;
  readonly basePath: string;
};

/** The challenge for browsers, which open no dialog of their own for it. */
export const bearerChallenge = { 'WWW-Authenticate': 'Bearer realm="wf"' } as const;

/**
 * Creates a guard. It accepts a valid login at once, so that wrong logins from the same address cannot lock its owner
 * out. Only the response to a wrong login depends on their number. A request without a login is not counted, nor is one
 * with the cookie of a session that has ended.
 */
export function createGuard({ login, tries, sessions, clientOf, basePath }: GuardOptions): Guard {
  const sessionOf = ({ headers }: IncomingMessage) => sessions.find(sessionSecrets(headers.cookie));
  const judge = (request: IncomingMessage, verdict: LoginVerdict): User | null => {
    switch (verdict.kind) {
      case 'not-required':
        return { to: 'write', name: null, session: null };
      case 'allowed':
        return { to: verdict.login.to, name: verdict.login.name, session: null };
      case 'missing': {
        const session = sessionOf(request);
        return session === null ? null : { to: session.login.to, name: session.login.name, session };
      }
      case 'wrong': {
        const waitMs = tries.failed(clientOf(request).address, verdict.fingerprint);
        throw waitMs > 0 ? tooManyTries(waitMs) : unauthorized('the login is wrong', request);
      }
    }
  };
  const identify = (request: IncomingMessage) => judge(request, login.check(request.headers.authorization));
  const cookie = (request: IncomingMessage, secret: string | null) =>
    sessionCookie(secret, { basePath, isSecure: clientOf(request).isSecure });
  return {
    authenticate: (request) => {
      const user = identify(request);
      if (user === null) {
        const hadSession = hasSessionCookie(request.headers.cookie);
        throw unauthorized(hadSession ? 'the session has ended: log in again' : 'a login is required', request);
      }
      if (user.session !== null) requireOwnPage(request, user.session, clientOf(request));
      return user;
    },
    visitor: (request) => ({
      logins: login.known,
      user: () => identify(request),
      logIn: (given) => {
        const verdict = login.verify(given);
        const user = judge(request, verdict);
        if (verdict.kind !== 'allowed' || user === null) throw unauthorized('the login is wrong', request);
        sessionOf(request)?.end();
        const { session, secret } = sessions.open(verdict.login);
        return { user: { ...user, session }, cookie: cookie(request, secret) };
      },
      logOut: () => {
        sessionOf(request)?.end();
        return cookie(request, null);
      },
    }),
  };
}

/**
 * Throws an `HttpError` 403 if the access of a user is not sufficient. The v1 API, whose clients are programs, changes
 * nothing for a session.
 */
export function requireAccess(
  { to, session }: User,
  { access, errors }: { readonly access: string; readonly errors: string },
): void {
  if (access !== 'write') return;
  if (to === 'read') throw new HttpError(403, 'this login is read-only');
  if (session !== null && errors === 'v1') throw new HttpError(403, 'the session of a browser only reads the v1 API');
}

/** Throws an `HttpError` 403 for a request that changes something, unless the page itself sent it. */
function requireOwnPage({ method = '', headers }: IncomingMessage, { csrf }: Session, { isSecure }: Client): void {
  if (['GET', 'HEAD', 'OPTIONS'].includes(method)) return;
  const given = Buffer.from(String(headers['x-wf-csrf'] ?? ''));
  const expected = Buffer.from(csrf);
  const isSame = given.length === expected.length && timingSafeEqual(given, expected);
  if (isSame && isOwnOrigin(headers, isSecure)) return;
  throw new HttpError(403, 'a request with the cookie of a session needs its CSRF token and a same-origin "Origin"', {
    help: 'send the "csrf" of GET /api/v2/session as X-WF-CSRF, or use a token as "Authorization: Bearer <token>"',
  });
}

function unauthorized(message: string, { headers }: IncomingMessage): HttpError {
  if (isBrowser(headers)) return new HttpError(401, message, { headers: bearerChallenge });
  return new HttpError(401, message, {
    help: 'send "Authorization: Bearer <token>", or a basic login',
    headers: { 'WWW-Authenticate': 'Basic realm="wf", charset="UTF-8"' },
  });
}

/** Without TLS, browsers send `Sec-Fetch-Site` only to their own machine. */
function isBrowser(headers: IncomingHttpHeaders): boolean {
  return headers['sec-fetch-site'] !== undefined || /^Mozilla\//.test(headers['user-agent'] ?? '');
}

function tooManyTries(waitMs: number): HttpError {
  const seconds = String(Math.ceil(waitMs / 1000));
  return new HttpError(429, `too many wrong logins from this address: wait ${seconds} s before another guess`, {
    help: 'a right login is accepted at any time',
    headers: { 'Retry-After': seconds },
  });
}
