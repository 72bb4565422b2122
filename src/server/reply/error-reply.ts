import { randomUUID } from 'node:crypto';
import { diagnosticJson, diagnosticText } from '#render/views/json-views.ts';
import { InvalidWorkflow } from '#service/workflows/invalid-workflow.ts';
import { type ErrorCode, systemProblem, WfError } from '#system/errors.ts';
import { stackOf } from '#system/stack.ts';
import { HttpError, type Reply, type Route } from '../route.ts';
import { problemCode, problemTitles, problemType } from './problem-codes.ts';

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
