import type { Credentials, KnownLogin } from './login.ts';
import type { Session } from './sessions.ts';

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
