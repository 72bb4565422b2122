import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { HttpError } from '../route.ts';
import { isOwnOrigin } from './origin-check.ts';
import {
  hasSessionCookie,
  type Login,
  type LoginVerdict,
  type Session,
  type Sessions,
  sessionCookie,
  sessionSecrets,
  type User,
  type Visitor,
} from './sessions.ts';

export type Guard = {
  /** Returns the user of a request. Throws an `HttpError`: 401 without a valid login, 403, 429 after too many wrong logins. */
  readonly authenticate: (request: IncomingMessage) => User;
  /** Throws an `HttpError` for a request without the token of workers: 401, 429 as `authenticate`. */
  readonly requireWorker: (request: IncomingMessage) => void;
  readonly visitor: (request: IncomingMessage) => Visitor;
};

type GuardOptions = {
  readonly login: Login;
  /** The login of workers; null: they have none. */
  readonly workers: Login | null;
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
export function createGuard({ login, workers, tries, sessions, clientOf, basePath }: GuardOptions): Guard {
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
        const waitMs = tries(clientOf(request).address, verdict.fingerprint);
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
    requireWorker: (request) => {
      if (workers === null)
        throw unauthorized('this daemon stores no logs of workers: it has no engineLogsToken', request);
      const verdict = workers.check(request.headers.authorization);
      // A worker has a token: the session of a browser does not count.
      if (verdict.kind === 'missing') throw unauthorized('the token of workers is required', request);
      if (verdict.kind !== 'allowed') judge(request, verdict);
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

/** Throws an `HttpError` 403 for insufficient access; for a session, the v1 API changes nothing. */
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

type Tries = { readonly count: number; readonly last: string; readonly until: number; readonly at: number };

const FREE_TRIES = 5;
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 5 * 60_000;
const FORGOTTEN_AFTER_MS = 60 * 60_000;
const MOST_ADDRESSES = 10_000;

/**
 * Counts a wrong login and returns the pause before the next attempt from the address, in milliseconds: 0 for the first
 * few. The same wrong login is counted once, since a program with an old token is not guessing.
 */
type LoginTries = (address: string, fingerprint: string) => number;

/**
 * Creates the counter. After five different wrong logins, each further one doubles the time for which the address is
 * blocked. IPv6 addresses are counted by network, since one machine has all addresses of its network.
 */
export function createLoginTries(now: () => number): LoginTries {
  const byNetwork = new Map<string, Tries>();
  return (address, fingerprint) => {
    const network = networkOf(address);
    const known = byNetwork.get(network);
    const before = known !== undefined && now() - known.at < FORGOTTEN_AFTER_MS ? known : undefined;
    const waitMs = Math.max(0, (before?.until ?? 0) - now());
    if (waitMs > 0 || before?.last === fingerprint) return waitMs;
    const count = (before?.count ?? 0) + 1;
    const wait = count <= FREE_TRIES ? 0 : Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (count - FREE_TRIES - 1));
    byNetwork.delete(network);
    byNetwork.set(network, { count, last: fingerprint, until: now() + wait, at: now() });
    // A map keeps the order of insertion.
    const [oldest] = byNetwork.keys();
    if (byNetwork.size > MOST_ADDRESSES && oldest !== undefined) byNetwork.delete(oldest);
    return 0;
  };
}

function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=[\d.]+$)/, '');
  return plain.includes(':') ? plain.split(':').slice(0, 4).join(':') : plain;
}

type Client = {
  readonly address: string;
  /** Whether the client uses TLS, as far as is known. */
  readonly isSecure: boolean;
};

/**
 * Creates a function that finds the client of a request: the peer of the connection, or, behind a trusted proxy, the
 * rightmost address of `X-Forwarded-For` that is not a trusted proxy. Addresses further left, and headers from other
 * peers, can be forged. The first protocol of `X-Forwarded-Proto` counts under the same condition; a client that forges it
 * deceives itself only. `trusted`: addresses and networks (`10.0.0.0/8`).
 */
export function clientFinder(trusted: readonly string[]): (request: IncomingMessage) => Client {
  const proxies = blockList(trusted);
  const isProxy = (address: string) => {
    const version = isIP(address);
    return version !== 0 && proxies.check(address, version === 4 ? 'ipv4' : 'ipv6');
  };
  return ({ socket, headers }) => {
    let client = plainAddress(socket.remoteAddress ?? '');
    const [protocol = ''] = isProxy(client) ? String(headers['x-forwarded-proto'] ?? '').split(',') : [];
    const isSecure = 'encrypted' in socket || protocol.trim().toLowerCase() === 'https';
    const hops = String(headers['x-forwarded-for'] ?? '').split(',');
    while (isProxy(client)) {
      const hop = plainAddress(hops.pop()?.trim() ?? '');
      if (isIP(hop) === 0) break;
      client = hop;
    }
    return { address: client, isSecure };
  };
}

function blockList(trusted: readonly string[]): BlockList {
  const list = new BlockList();
  for (const each of trusted) {
    const [address = '', prefix] = each.split('/');
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

/** Removes the brackets and the port that some proxies add, and converts an IPv4 address in IPv6 form to IPv4. */
function plainAddress(text: string): string {
  const bare = /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? text.replace(/^([\d.]+):\d+$/, '$1');
  return bare.replace(/^::ffff:(?=[\d.]+$)/i, '');
}
