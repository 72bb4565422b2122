import { randomUUID } from 'node:crypto';
import { type ErrorCode, WfError } from '../../errors.ts';
import { diagnosticJson, diagnosticText } from '../../render/views/diagnostic-json.ts';
import { InvalidWorkflow } from '../../service/workflows/invalid-workflow.ts';
import { stackOf } from '../../stack.ts';
import { systemProblem } from '../../system-problem.ts';
import type { Reply, Route } from '../route.ts';
import { HttpError } from './http-error.ts';
import { problemCode, problemTitles, problemType } from './problem.ts';

/** How errors are told. */
export type ErrorStyle = Route['errors'];

/** An error as a client may know it. */
type Told = {
  readonly status: number;
  readonly message: string;
  /** The next sentence: what to do, or more of what is wrong; empty for none. */
  readonly detail: string;
  /** The stable word for what went wrong; null where the status says it all. */
  readonly code: ErrorCode | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly diagnostics: InvalidWorkflow['diagnostics'] | null;
};

/**
 * Every error as an answer, in one place: what the client can mend with its message, anything else without a word of it, as
 * a number under which the daemon's log tells the rest.
 */
export function errorReply(error: unknown, style: ErrorStyle, log: (line: string) => void): Reply {
  const { message, detail, ...rest } = tell(error, style, log);
  const told = { ...rest, message: shortened(message), detail: shortened(detail) };
  const body = style === 'v1' ? v1Body(told) : problemBody(told);
  const type = style === 'v1' ? 'application/json; charset=utf-8' : 'application/problem+json; charset=utf-8';
  return {
    status: told.status,
    headers: { 'Cache-Control': 'no-store', ...told.headers, 'Content-Type': type },
    body: `${JSON.stringify(body)}\n`,
  };
}

/** Longer texts repeat what was sent: a name or a value of the request can be a megabyte long. */
const MAX_TEXT_LENGTH = 4000;

/** The beginning and the end of a text that is too long for a reply. */
function shortened(text: string): string {
  if (text.length <= MAX_TEXT_LENGTH) return text;
  const end = MAX_TEXT_LENGTH / 4;
  const left = text.length - MAX_TEXT_LENGTH;
  return `${text.slice(0, MAX_TEXT_LENGTH - end)} ... (${left} characters left out) ... ${text.slice(-end)}`;
}

/** The HTTP status for a request that could not be met. The v1 API has always said 400 to what does not fit a run's state. */
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

function tell(error: unknown, style: ErrorStyle, log: (line: string) => void): Told {
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
  const detail = `the daemon's log tells more, under ${reference}`;
  return { status: 500, message: 'this is a bug in wf', detail, code: null, headers: {}, diagnostics: null };
}

/** A number as `code` marks a request that never reached a use case. */
function v1Body({ status, message, detail, code, diagnostics }: Told): object {
  return {
    ...(code === null ? { code: status } : {}),
    message,
    detailedMessage: detail === '' ? message : detail,
    ...(diagnostics === null ? {} : { diagnostics: diagnostics.map(diagnosticJson) }),
  };
}

/** RFC 9457. */
function problemBody({ status, message, detail, code, diagnostics }: Told): object {
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
