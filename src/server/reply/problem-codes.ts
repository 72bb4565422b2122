import type { ErrorCode } from '#system/errors.ts';

/** The stable error codes: those of `WfError`, and those of HTTP errors. */
export type ProblemCode = ErrorCode | (typeof httpCodes)[keyof typeof httpCodes];

const httpCodes = {
  400: 'bad-request',
  401: 'login-needed',
  403: 'forbidden',
  // Of the path itself; a route reports a missing object as `not-found`.
  404: 'unknown-path',
  405: 'method-not-allowed',
  409: 'conflict',
  412: 'precondition-failed',
  413: 'too-large',
  415: 'unsupported-media-type',
  416: 'range-not-satisfiable',
  421: 'wrong-host',
  428: 'precondition-required',
  429: 'too-many-logins',
  431: 'headers-too-large',
  500: 'bug',
  503: 'unavailable',
  507: 'full',
} as const;

/** The meaning of each code (the `title` of RFC 9457), which does not depend on the request. */
export const problemTitles: { readonly [code in ProblemCode]: string } = {
  usage: 'Invalid request',
  'invalid-params': 'The workflow does not accept these parameters',
  'not-found': 'Not found',
  'invalid-workflow': 'The workflow has errors',
  'run-exists': 'A run with that id exists',
  'run-active': 'The run is still running',
  conflict: 'Conflict with the current state',
  busy: 'A limit is reached',
  denied: 'Another login is required',
  unreachable: 'Another daemon cannot be reached',
  storage: 'Storage error',
  'not-built': 'Not supported by this version',
  'bad-request': 'The request is malformed',
  'login-needed': 'A login is required',
  forbidden: 'This is not allowed',
  'unknown-path': 'There is nothing at this path',
  'method-not-allowed': 'Method not allowed',
  'precondition-failed': 'The resource has changed',
  'precondition-required': 'A condition is required',
  'too-large': 'The body is too large',
  'unsupported-media-type': 'Unsupported media type',
  'range-not-satisfiable': 'Range not satisfiable',
  'wrong-host': 'Unknown host name',
  'too-many-logins': 'Too many wrong logins',
  'headers-too-large': 'Too many headers, or headers too long',
  unavailable: 'The machine is out of resources',
  full: 'The disk is full',
  bug: 'Internal error',
};

/** Returns the code of an HTTP error. */
export function problemCode(status: number): ProblemCode {
  return Object.hasOwn(httpCodes, status) ? httpCodes[status as keyof typeof httpCodes] : 'bug';
}

/** Returns the `type` of a problem: a stable URI that cannot be retrieved. */
export function problemType(code: ProblemCode): string {
  return `urn:wf:problem:${code}`;
}
