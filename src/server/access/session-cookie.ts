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
