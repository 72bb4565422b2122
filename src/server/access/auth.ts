import type { IncomingMessage } from 'node:http';
import { HttpError } from '../reply/http-error.ts';
import type { Access } from '../route.ts';
import type { Login } from './login.ts';
import type { LoginTries } from './login-tries.ts';

export type Guard = {
  /** What the request may do. Throws an `HttpError`: 401 without a right login, 429 for who has guessed too often. */
  readonly authenticate: (request: IncomingMessage) => Exclude<Access, 'public'>;
};

/** Tells who may come in. A request without any login is sent away without counting as a try. */
export function createGuard(login: Login, tries: LoginTries): Guard {
  return {
    authenticate: ({ headers, socket }) => {
      const address = socket.remoteAddress ?? '';
      const waitMs = headers.authorization === undefined ? 0 : tries.waitMs(address);
      if (login.isRequired && waitMs > 0) throw tooManyTries(waitMs);
      const verdict = login.check(headers.authorization);
      switch (verdict.kind) {
        case 'allowed':
          // Who may only look must not use that to guess on for more.
          if (verdict.to === 'write') tries.succeeded(address);
          return verdict.to;
        case 'missing':
          throw unauthorized('a login is needed');
        case 'wrong':
          tries.failed(address, verdict.fingerprint);
          throw unauthorized('the login is wrong');
      }
    },
  };
}

/** Throws an `HttpError` 403 when what a login allows is not enough. */
export function requireAccess(allowed: Exclude<Access, 'public'>, needed: Access): void {
  if (needed === 'write' && allowed === 'read') throw new HttpError(403, 'this login allows looking only');
}

function unauthorized(message: string): HttpError {
  return new HttpError(401, message, {
    help: 'send "Authorization: Bearer <token>", or a basic login',
    headers: { 'WWW-Authenticate': 'Basic realm="wf", charset="UTF-8"' },
  });
}

function tooManyTries(waitMs: number): HttpError {
  const seconds = String(Math.ceil(waitMs / 1000));
  return new HttpError(429, `too many wrong logins: try again in ${seconds} s`, {
    headers: { 'Retry-After': seconds },
  });
}
