import { randomUUID } from 'node:crypto';
import { given } from '#core/data/collections.ts';
import { diagnosticJson, diagnosticText } from '#render/data-views.ts';
import { InvalidWorkflow } from '#service/workflows.ts';
import { type ErrorCode, systemProblem, WfError } from '#system/errors.ts';
import { stackOf } from '#system/stack.ts';
import { HttpError, type Reply, type Route } from '../route.ts';

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

/** The HTTP status of each error. */
const statuses: { readonly [code in ErrorCode]: number } = {
  usage: 400,
  'invalid-params': 400,
  'not-found': 404,
  'invalid-workflow': 422,
  'run-exists': 409,
  conflict: 409,
  'run-active': 409,
  busy: 429,
  forbidden: 403,
  denied: 502,
  unreachable: 502,
  storage: 500,
  'not-built': 501,
};

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
    // The v1 API returns 400 for a conflict with the state of a run.
    const usual = code === 'run-active' && style === 'v1' ? 400 : statuses[code];
    const status = code === 'storage' ? (systemProblem(error)?.status ?? usual) : usual;
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
    detailedMessage: detail || message,
    ...given({ diagnostics: diagnostics?.map(diagnosticJson) }),
  };
}

/** Formats an error as a problem document (RFC 9457). */
function problemBody({ status, message, detail, code, diagnostics }: ReplyParts): object {
  const word = code ?? problemCode(status);
  return {
    // A stable URI that cannot be retrieved.
    type: `urn:wf:problem:${word}`,
    title: problemTitles[word],
    status,
    detail: message,
    code: word,
    ...given({ help: detail || null, diagnostics: diagnostics?.map(diagnosticJson) }),
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
