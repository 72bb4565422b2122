import type { IncomingMessage } from 'node:http';
import { HttpError } from '../reply/http-error.ts';
import type { Access } from '../route.ts';
import type { ClientAddress } from './client-address.ts';
import type { Login } from './login.ts';
import type { LoginTries } from './login-tries.ts';

export type Guard = {
  /** What the request may do. Throws an `HttpError`: 401 without a right login, 429 after too many wrong ones. */
  readonly authenticate: (request: IncomingMessage) => Exclude<Access, 'public'>;
};

/**
 * Lets a right login in at once, whatever else its address has tried: wrong logins must not lock its owner out. Only the answer
 * to a wrong one depends on how many there were. A request without a login is not counted.
 */
export function createGuard(login: Login, tries: LoginTries, clientAddress: ClientAddress): Guard {
  return {
    authenticate: (request) => {
      const verdict = login.check(request.headers.authorization);
      switch (verdict.kind) {
        case 'allowed':
          return verdict.to;
        case 'missing':
          throw unauthorized('a login is needed');
        case 'wrong': {
          const waitMs = tries.failed(clientAddress(request), verdict.fingerprint);
          throw waitMs > 0 ? tooManyTries(waitMs) : unauthorized('the login is wrong');
        }
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
  return new HttpError(429, `too many wrong logins from this address: wait ${seconds} s before another guess`, {
    help: 'a right login is accepted at any time',
    headers: { 'Retry-After': seconds },
  });
}
