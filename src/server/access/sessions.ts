import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { ServerSettings } from '#config/part-settings.ts';
import type { SessionStore, StoredSession } from '#store/store.ts';
import { decodePair } from '#system/basic-login.ts';
import { messageOf } from '#system/errors.ts';

/** Who sends a request. */
export type User = {
  readonly to: 'read' | 'write';
  /** The user name of the basic login; null for a token, and if no login is required. */
  readonly name: string | null;
  /** Null for a login in the header `Authorization`, and if no login is required. */
  readonly session: Session | null;
};

/** The client of one request. */
export type Visitor = {
  /** The configured logins; empty: none is required. */
  readonly logins: readonly KnownLogin[];
  /** Returns the user; null without a login. Throws an `HttpError` 401 or 429 for a wrong login. */
  readonly user: () => User | null;
  /** Opens a session instead of that of the request; `cookie` is for `Set-Cookie`. Throws as `user` does. */
  readonly logIn: (given: Credentials) => { readonly user: User; readonly cookie: string };
  /** Ends the session of the request, if it has one; returns the `Set-Cookie` that removes its cookie. */
  readonly logOut: () => string;
};

/** A configured login. */
export type KnownLogin = {
  readonly kind: 'token' | 'read-only token' | 'basic';
  readonly hash: Buffer;
  readonly to: 'read' | 'write';
  /** The user name of the basic login; null for a token. */
  readonly name: string | null;
};

/** A given login: `name:password`, or a token; a password can be a token, too. */
export type Credentials = { readonly pair: string | null; readonly token: string | null };

/** The result of checking a login; `wrong` has a fingerprint that identifies a repeated wrong login. */
export type LoginVerdict =
  | { readonly kind: 'allowed'; readonly login: KnownLogin }
  | { readonly kind: 'not-required' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'wrong'; readonly fingerprint: string };

export type Login = {
  /** The configured logins; without any, every request has full access. */
  readonly known: readonly KnownLogin[];
  readonly check: (authorization: string | undefined) => LoginVerdict;
  readonly verify: (given: Credentials) => Extract<LoginVerdict, { readonly kind: 'allowed' | 'wrong' }>;
};

/**
 * Creates the check of logins: the basic login, and tokens as `Bearer` or, for programs without that, as the password of
 * a basic login with any name. All logins are compared, as hashes, so that the duration reveals nothing about a wrong
 * login.
 */
export function createLogin({ token, readOnlyToken, basic }: ServerSettings['login']): Login {
  const writing = token === null ? [] : [{ kind: 'token', hash: hash(token), to: 'write', name: null } as const];
  const reading =
    readOnlyToken === null
      ? []
      : [{ kind: 'read-only token', hash: hash(readOnlyToken), to: 'read', name: null } as const];
  const tokens: readonly KnownLogin[] = [...writing, ...reading];
  const pairs: KnownLogin[] = [];
  if (basic !== null) {
    const { username: name, password } = basic;
    pairs.push({ kind: 'basic', hash: hash(`${name}:${password}`), to: 'write', name });
  }
  const known = [...pairs, ...tokens];
  const find = (given: Credentials): KnownLogin | undefined => {
    const found = [...matching(pairs, given.pair), ...matching(tokens, given.token)];
    return found.find(({ to }) => to === 'write') ?? found[0];
  };
  const judge = (given: Credentials, text: string) => {
    const login = find(given);
    return login === undefined
      ? ({ kind: 'wrong', fingerprint: hash(text).toString('base64') } as const)
      : ({ kind: 'allowed', login } as const);
  };
  return {
    known,
    check: (authorization) => {
      if (known.length === 0) return { kind: 'not-required' };
      if (authorization === undefined) return { kind: 'missing' };
      return judge(credentials(authorization), authorization);
    },
    verify: (given) => judge(given, JSON.stringify(given)),
  };
}

function credentials(authorization: string): Credentials {
  const [, scheme = '', value = ''] = /^(\S+) +(\S+) *$/.exec(authorization) ?? [];
  if (scheme.toLowerCase() === 'bearer') return { pair: null, token: value };
  if (scheme.toLowerCase() !== 'basic') return { pair: null, token: null };
  const { username, password } = decodePair(value);
  return { pair: password === null ? null : `${username}:${password}`, token: password };
}

function matching(known: readonly KnownLogin[], given: string | null): readonly KnownLogin[] {
  if (given === null) return [];
  const digest = hash(given);
  return known.filter((each) => timingSafeEqual(each.hash, digest));
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** A browser that has logged in. */
export type Session = {
  readonly login: KnownLogin;
  /** The token that requests with the cookie must repeat in a header, unless they only read. */
  readonly csrf: string;
  /** Keeps the session alive during a request; `onEnd` is called if it is ended. Returns a function for the end of the request. */
  readonly use: (onEnd: () => void) => () => void;
  readonly end: () => void;
};

export type Sessions = {
  /** Opens a session; `secret` is the value of its cookie. */
  readonly open: (login: KnownLogin) => { readonly session: Session; readonly secret: string };
  /** Returns the session of the first secret that has one; null: none. */
  readonly find: (secrets: readonly string[]) => Session | null;
};

type SessionOptions = {
  readonly logins: readonly KnownLogin[];
  readonly store: SessionStore;
  readonly now: () => number;
  /** Receives problems with the stored sessions. */
  readonly log: (line: string) => void;
};

/** A session ends after this time without a request. */
const IDLE_MS = 12 * 60 * 60_000;
/** Requests that only extend sessions are stored at most this often. */
const STORE_INTERVAL_MS = 5 * 60_000;
/** More sessions with the same login end the one that was used least recently. */
const MAX_SESSIONS_PER_LOGIN = 500;

type Entry = StoredSession & { usedAt: number; readonly requests: Set<() => void> };

/**
 * Creates the sessions of a daemon, with those of its predecessor. The store holds no secret: a hash of each cookie, and
 * the login under the cookie as a key, so that a session ends with its login, and no password can be guessed from the file.
 */
export function createSessions({ logins, store, now, log }: SessionOptions): Sessions {
  const entries = new Map<string, Entry>();
  let storedAt = now();
  const isExpired = ({ usedAt, requests }: Entry) => requests.size === 0 && now() - usedAt > IDLE_MS;
  /** The result of the store; null, with a line for the operator, if it fails. */
  const tryStore = <T>(problem: string, use: () => T): T | null => {
    try {
      return use();
    } catch (error) {
      log(`${problem}: ${messageOf(error)}`);
      return null;
    }
  };
  const save = (hasEnded: boolean) => {
    storedAt = now();
    const stored = Array.from(entries.values(), ({ requests: _, ...kept }) => kept);
    const isStored = tryStore('sessions cannot be stored', () => store.write(stored)) !== null;
    // A session that was ended must not return with the next daemon.
    if (hasEnded && !isStored) tryStore('sessions cannot be removed', () => store.remove());
  };
  const extend = (entry: Entry) => {
    entry.usedAt = now();
    // The order of the map is that of the last requests.
    entries.delete(entry.id);
    entries.set(entry.id, entry);
  };
  const end = (entry: Entry) => {
    if (!entries.delete(entry.id)) return;
    for (const onEnd of entry.requests) onEnd();
  };
  const sessionOf = (entry: Entry, secret: string, login: KnownLogin): Session => ({
    login,
    csrf: keyed(secret, 'csrf'),
    use: (onEnd) => {
      entry.requests.add(onEnd);
      return () => {
        entry.requests.delete(onEnd);
        if (entries.has(entry.id)) extend(entry);
      };
    },
    end: () => {
      end(entry);
      save(true);
    },
  });
  const find = (secret: string): Session | null => {
    const entry = entries.get(idOf(secret));
    const login = logins.find(({ kind }) => kind === entry?.kind);
    if (entry === undefined) return null;
    if (login === undefined || isExpired(entry) || keyed(secret, login.hash) !== entry.login) {
      end(entry);
      return null;
    }
    extend(entry);
    if (now() - storedAt > STORE_INTERVAL_MS) save(false);
    return sessionOf(entry, secret, login);
  };
  // Sessions that cannot be read are lost: their browsers log in again.
  const known = tryStore('every browser has to log in again', () => store.read()) ?? [];
  for (const stored of known) entries.set(stored.id, { ...stored, requests: new Set() });
  return {
    open: (login) => {
      for (const entry of [...entries.values()].filter(isExpired)) end(entry);
      const same = [...entries.values()].filter(({ kind }) => kind === login.kind);
      const surplus = same.slice(0, Math.max(0, same.length + 1 - MAX_SESSIONS_PER_LOGIN));
      for (const entry of surplus) end(entry);
      const secret = randomBytes(32).toString('base64url');
      const stored = { id: idOf(secret), kind: login.kind, login: keyed(secret, login.hash), usedAt: now() };
      const entry = { ...stored, requests: new Set<() => void>() };
      entries.set(entry.id, entry);
      save(surplus.length > 0);
      return { session: sessionOf(entry, secret, login), secret };
    },
    find: (secrets) => {
      for (const secret of secrets) {
        const found = find(secret);
        if (found !== null) return found;
      }
      return null;
    },
  };
}

function idOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

function keyed(secret: string, text: string | Buffer): string {
  return createHmac('sha256', secret).update(text).digest('base64url');
}

const NAME = 'wf_session';
/** Daemons under other paths of the host can add cookies of the same name. */
const MAX_SECRETS = 8;

/** Returns the secrets of sessions in a `Cookie` header. */
export function sessionSecrets(cookies: string | undefined): readonly string[] {
  const values = (cookies ?? '').split(';').map((each) => /^\s*wf_session=([\w-]{43})\s*$/.exec(each)?.[1]);
  return values.filter((value) => value !== undefined).slice(0, MAX_SECRETS);
}

/** Whether a request has a cookie of a session, valid or not. */
export function hasSessionCookie(cookies: string | undefined): boolean {
  return (cookies ?? '').split(';').some((each) => each.trim().startsWith(`${NAME}=`));
}

/** Returns the `Set-Cookie` header for a session; null removes the cookie. */
export function sessionCookie(
  secret: string | null,
  { basePath, isSecure }: { readonly basePath: string; readonly isSecure: boolean },
): string {
  const value = secret === null ? '; Max-Age=0' : '';
  return `${NAME}=${secret ?? ''}; Path=${basePath}/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}${value}`;
}
