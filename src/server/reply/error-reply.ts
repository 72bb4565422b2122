import { randomUUID } from 'node:crypto';
import { diagnosticJson, diagnosticText } from '#render/data-views.ts';
import { InvalidWorkflow } from '#service/workflows.ts';
import type { ErrorCode } from '#system/errors.ts';
import { systemProblem, WfError } from '#system/errors.ts';
import { stackOf } from '#system/stack.ts';
import type { Reply, Route } from '../route.ts';
import { HttpError } from '../route.ts';

/** The format of errors. */
export type ErrorStyle = Route['errors'];

/** The public data of an error. */
type ReplyParts = {
  readonly status: number;
  readonly message: string;
  /** Further information: help or details; may be empty. */
  readonly detail: string;
  /** The stable code of the error; null if the status is sufficient. */
  readonly code: ErrorCode | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly diagnostics: InvalidWorkflow['diagnostics'] | null;
};

/**
 * Converts every error to a response: an error of the client with its message; any other without details, with a
 * reference to the daemon's log.
 */
export function errorReply(error: unknown, style: ErrorStyle, log: (line: string) => void): Reply {
  const { message, detail, ...rest } = tell(error, style, log);
  const described = { ...rest, message: shortened(message), detail: shortened(detail) };
  const body = style === 'v1' ? v1Body(described) : problemBody(described);
  const type = style === 'v1' ? 'application/json; charset=utf-8' : 'application/problem+json; charset=utf-8';
  return {
    status: described.status,
    headers: { 'Cache-Control': 'no-store', ...described.headers, 'Content-Type': type },
    body: `${JSON.stringify(body)}\n`,
  };
}

/** The maximum length of a text in an error, in characters; a quoted name or value can be a megabyte long. */
const MAX_TEXT_LENGTH = 4000;

/** Shortens a text that is too long for a response to its beginning and end. */
function shortened(text: string): string {
  if (text.length <= MAX_TEXT_LENGTH) return text;
  const end = MAX_TEXT_LENGTH / 4;
  const left = text.length - MAX_TEXT_LENGTH;
  return `${text.slice(0, MAX_TEXT_LENGTH - end)} ... (${left} characters left out) ... ${text.slice(-end)}`;
}

/** Returns the HTTP status of an error. The v1 API returns 400 for a conflict with the state of a run. */
function statusOf(code: ErrorCode, style: ErrorStyle): number {
  switch (code) {
    case 'usage':
    case 'invalid-params':
      return 400;
    case 'not-found':
      return 404;
    case 'invalid-workflow':
      return 422;
    case 'run-exists':
    case 'conflict':
      return 409;
    case 'run-active':
      return style === 'v1' ? 400 : 409;
    case 'busy':
      return 429;
    case 'forbidden':
      return 403;
    case 'denied':
    case 'unreachable':
      return 502;
    case 'storage':
      return 500;
    case 'not-built':
      return 501;
  }
}

/** In seconds. */
const retryLater = { 'Retry-After': '5' };

function tell(error: unknown, style: ErrorStyle, log: (line: string) => void): ReplyParts {
  if (error instanceof HttpError) {
    const { status, message, help, headers } = error;
    return { status, message, detail: help ?? '', code: null, headers, diagnostics: null };
  }
  if (error instanceof WfError) {
    const { code, message, help } = error;
    const diagnostics = error instanceof InvalidWorkflow ? error.diagnostics : null;
    const detail = diagnostics?.map(diagnosticText).join('\n') ?? help ?? '';
    const status = code === 'storage' ? (systemProblem(error)?.status ?? 500) : statusOf(code, style);
    const mayPass = code === 'busy' || status === 503;
    return { status, message, detail, code, headers: mayPass ? retryLater : {}, diagnostics };
  }
  const problem = systemProblem(error);
  if (problem !== null) {
    const { status, message, help } = problem;
    log(message);
    const headers = status === 503 ? retryLater : {};
    return { status, message, detail: help ?? '', code: 'storage', headers, diagnostics: null };
  }
  const reference = randomUUID();
  log(`error ${reference}: ${stackOf(error)}`);
  const detail = `the daemon's log has the details, under ${reference}`;
  return { status: 500, message: 'this is a bug in wf', detail, code: null, headers: {}, diagnostics: null };
}

/** Formats an error for v1; a numeric `code` marks a request that HTTP rejected. */
function v1Body({ status, message, detail, code, diagnostics }: ReplyParts): object {
  return {
    ...(code === null ? { code: status } : {}),
    message,
    detailedMessage: detail === '' ? message : detail,
    ...(diagnostics === null ? {} : { diagnostics: diagnostics.map(diagnosticJson) }),
  };
}

/** Formats an error as a problem document (RFC 9457). */
function problemBody({ status, message, detail, code, diagnostics }: ReplyParts): object {
  const word = code ?? problemCode(status);
  return {
    type: problemType(word),
    title: problemTitles[word],
    status,
    detail: message,
    code: word,
    ...(detail === '' ? {} : { help: detail }),
    ...(diagnostics === null ? {} : { diagnostics: diagnostics.map(diagnosticJson) }),
  };
}

/** The stable error codes: those of `WfError`, and those of HTTP errors. */
type ProblemCode = ErrorCode | (typeof httpCodes)[keyof typeof httpCodes];

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
function problemType(code: ProblemCode): string {
  return `urn:wf:problem:${code}`;
}
