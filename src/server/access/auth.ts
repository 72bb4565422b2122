import type { IncomingMessage } from 'node:http';
import { HttpError } from '../reply/http-error.ts';
import type { Access } from '../route.ts';
import type { ClientAddress } from './client-address.ts';
import type { Login } from './login.ts';
import type { LoginTries } from './login-tries.ts';

export type Guard = {
  /** Returns the access of a request. Throws an `HttpError`: 401 without a valid login, 429 after too many wrong logins. */
  readonly authenticate: (request: IncomingMessage) => Exclude<Access, 'public'>;
};

/**
 * Creates a guard. It accepts a valid login at once, so that wrong logins from the same address cannot lock its owner
 * out. Only the response to a wrong login depends on their number. A request without a login is not counted.
 */
export function createGuard(login: Login, tries: LoginTries, clientAddress: ClientAddress): Guard {
  return {
    authenticate: (request) => {
      const verdict = login.check(request.headers.authorization);
      switch (verdict.kind) {
        case 'allowed':
          return verdict.to;
        case 'missing':
          throw unauthorized('a login is required');
        case 'wrong': {
          const waitMs = tries.failed(clientAddress(request), verdict.fingerprint);
          throw waitMs > 0 ? tooManyTries(waitMs) : unauthorized('the login is wrong');
        }
      }
    },
  };
}

/** Throws an `HttpError` 403 if the access of a login is not sufficient. */
export function requireAccess(allowed: Exclude<Access, 'public'>, needed: Access): void {
  if (needed === 'write' && allowed === 'read') throw new HttpError(403, 'this login is read-only');
}

function unauthorized(message: string): HttpError {
  return new HttpError(401, message, {
    help: 'send "Authorization: Bearer <token>", or a basic login',
    headers: { 'WWW-Authenticate': 'Basic realm="wf", charset="UTF-8"' },
  });
}

function tooManyTries(waitMs: number): HttpError {
  const seconds = String(Math.ceil(waitMs / 1000));
  return new HttpError(429, `too many wrong logins from this address: wait ${seconds} s before another guess`, {
    help: 'a right login is accepted at any time',
    headers: { 'Retry-After': seconds },
  });
}
