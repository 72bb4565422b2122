import { createHash, timingSafeEqual } from 'node:crypto';
import type { ServerSettings } from '#config/server-settings.ts';
import { decodePair } from '#system/basic-login.ts';

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
  const pairs: readonly KnownLogin[] = basic === null ? [] : [basicLogin(basic)];
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

function basicLogin({ username, password }: NonNullable<ServerSettings['login']['basic']>): KnownLogin {
  return { kind: 'basic', hash: hash(`${username}:${password}`), to: 'write', name: username };
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
