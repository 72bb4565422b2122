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

/** Converts an error to a response: one of the client with its message, any other with a reference to the log. */
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
    const usual = code === 'run-active' && style === 'v1' ? 400 : problems[code][0];
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
    title: problems[word][1],
    status,
    detail: message,
    code: word,
    ...given({ help: detail || null, diagnostics: diagnostics?.map(diagnosticJson) }),
  };
}

/** The HTTP status of each stable error code, and its meaning: the `title` of RFC 9457. */
export const problems = {
  usage: [400, 'Invalid request'],
  'invalid-params': [400, 'The workflow does not accept these parameters'],
  'not-found': [404, 'Not found'],
  'invalid-workflow': [422, 'The workflow has errors'],
  'run-exists': [409, 'A run with that id exists'],
  'run-active': [409, 'The run is still running'],
  conflict: [409, 'Conflict with the current state'],
  busy: [429, 'A limit is reached'],
  denied: [502, 'Another login is required'],
  unreachable: [502, 'An engine or another daemon cannot be reached'],
  storage: [500, 'Storage error'],
  'not-built': [501, 'Not supported by this version'],
  // Of HTTP itself: the last code with a status is the one of an `HttpError`.
  'bad-request': [400, 'The request is malformed'],
  'login-needed': [401, 'A login is required'],
  forbidden: [403, 'This is not allowed'],
  // A route reports a missing object as `not-found`.
  'unknown-path': [404, 'There is nothing at this path'],
  'method-not-allowed': [405, 'Method not allowed'],
  'precondition-failed': [412, 'The resource has changed'],
  'precondition-required': [428, 'A condition is required'],
  'too-large': [413, 'The body is too large'],
  'unsupported-media-type': [415, 'Unsupported media type'],
  'range-not-satisfiable': [416, 'Range not satisfiable'],
  'wrong-host': [421, 'Unknown host name'],
  'too-many-logins': [429, 'Too many wrong logins'],
  'headers-too-large': [431, 'Too many headers, or headers too long'],
  unavailable: [503, 'The machine is out of resources'],
  full: [507, 'The disk is full'],
  bug: [500, 'Internal error'],
} as const;

type ProblemCode = keyof typeof problems;

/** Returns the code of an HTTP error. */
export function problemCode(status: number): ProblemCode {
  const codes = Object.keys(problems) as ProblemCode[];
  return codes.findLast((code) => problems[code][0] === status) ?? 'bug';
}
