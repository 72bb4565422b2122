import { createHash, timingSafeEqual } from 'node:crypto';
import type { ServerSettings } from '../../config/server-settings.ts';

/** The result of checking a login; `wrong` has a fingerprint that identifies a repeated wrong login. */
export type Verdict =
  | { readonly kind: 'allowed'; readonly to: 'read' | 'write' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'wrong'; readonly fingerprint: string };

/** A configured login and its access. */
type Known = { readonly hash: Buffer; readonly to: 'read' | 'write' };

export type Login = {
  /** False: every request has full access. */
  readonly isRequired: boolean;
  readonly check: (authorization: string | undefined) => Verdict;
};

/**
 * Creates the check of logins: the basic login, and tokens as `Bearer` or, for programs without that, as the password of
 * a basic login with any name. All logins are compared, as hashes, so that the duration reveals nothing about a wrong
 * login.
 */
export function createLogin({ token, readOnlyToken, basic }: ServerSettings['login']): Login {
  const tokens: Known[] = [
    ...(token === null ? [] : [{ hash: hash(token), to: 'write' as const }]),
    ...(readOnlyToken === null ? [] : [{ hash: hash(readOnlyToken), to: 'read' as const }]),
  ];
  const pairs: Known[] = basic === null ? [] : [{ hash: hash(`${basic.username}:${basic.password}`), to: 'write' }];
  const isRequired = tokens.length + pairs.length > 0;
  return {
    isRequired,
    check: (authorization) => {
      if (!isRequired) return { kind: 'allowed', to: 'write' };
      if (authorization === undefined) return { kind: 'missing' };
      const given = credentials(authorization);
      const found = [...matching(pairs, given.pair), ...matching(tokens, given.token)];
      if (found.length === 0) return { kind: 'wrong', fingerprint: hash(authorization).toString('base64') };
      return { kind: 'allowed', to: found.some(({ to }) => to === 'write') ? 'write' : 'read' };
    },
  };
}

function credentials(authorization: string): { readonly pair: string | null; readonly token: string | null } {
  const [, scheme = '', value = ''] = /^(\S+) +(\S+) *$/.exec(authorization) ?? [];
  if (scheme.toLowerCase() === 'bearer') return { pair: null, token: value };
  if (scheme.toLowerCase() !== 'basic') return { pair: null, token: null };
  const pair = Buffer.from(value, 'base64').toString();
  const colon = pair.indexOf(':');
  return colon === -1 ? { pair: null, token: null } : { pair, token: pair.slice(colon + 1) };
}

function matching(known: readonly Known[], given: string | null): readonly Known[] {
  if (given === null) return [];
  const digest = hash(given);
  return known.filter((each) => timingSafeEqual(each.hash, digest));
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
