import type { Credentials, KnownLogin } from '../../access/login.ts';
import type { User, Visitor } from '../../access/visitor.ts';
import { readBody } from '../../requests.ts';
import { type Handler, HttpError, jsonReply } from '../../route.ts';

/** `GET /api/v2/session`. */
export const showSession: Handler = ({ visitor }) => jsonReply(sessionJson(visitor, visitor.user()));

/** `POST /api/v2/session`. */
export const logIn: Handler = ({ visitor, body }) => {
  const given = credentials(body);
  if (visitor.logins.length === 0) return jsonReply(sessionJson(visitor, visitor.user()));
  const { user, cookie } = visitor.logIn(given);
  return { ...jsonReply(sessionJson(visitor, user)), headers: { 'Set-Cookie': cookie } };
};

/** `DELETE /api/v2/session`. */
export const logOut: Handler = ({ visitor }) => {
  return { status: 204, headers: { 'Set-Cookie': visitor.logOut() }, body: null };
};

function credentials(body: unknown): Credentials {
  const { token, name, password } = readBody('logIn', body);
  if (token !== null && name === null && password === null) return { pair: null, token };
  if (token === null && password !== null) return { pair: `${name ?? ''}:${password}`, token: password };
  throw new HttpError(400, 'a login is a "token", or a "name" with a "password"');
}

function sessionJson({ logins }: Visitor, user: User | null): object {
  const isAccepted = (isWanted: (login: KnownLogin) => boolean) => logins.some(isWanted);
  return {
    logins: [
      ...(isAccepted(({ kind }) => kind === 'basic') ? ['password'] : []),
      ...(isAccepted(({ kind }) => kind !== 'basic') ? ['token'] : []),
    ],
    access: user?.to ?? null,
    name: user?.name ?? null,
    csrf: user?.session?.csrf ?? null,
  };
}
