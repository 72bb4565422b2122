import type { Outcome } from '../../core/run/run.ts';
import { canceled, eitherEnd, isAskedToEnd } from '../../processes/end-signal.ts';
import type { Attempt } from '../executor.ts';
import { type Pairs, SettingProblem } from './fields.ts';
import { basicLogin } from './login.ts';
import { printer } from './print.ts';
import { requestLine } from './problem.ts';
import type { Hop } from './redirect.ts';
import { type RequestEnd, sendRequest } from './request.ts';
import type { HttpSettings } from './settings.ts';
import { type Target, withQuery } from './target.ts';

/** A request to be made, and which statuses are what was hoped for. */
export type Call = {
  readonly target: Target;
  readonly settings: HttpSettings;
  /** Null: every 2xx. */
  readonly successStatusCodes: ReadonlySet<number> | null;
};

/** Set by the request itself. */
const ownHeaders = new Set(['content-length', 'transfer-encoding', 'connection']);

/** Makes the call that `read` gives, which may throw a `SettingProblem`, prints the answer, and judges its status. */
export async function makeCall(attempt: Attempt, read: () => Call): Promise<Outcome> {
  if (isAskedToEnd(attempt)) return canceled;
  try {
    const call = read();
    attempt.started(null);
    const end = await send(call, attempt);
    return isAskedToEnd(attempt) ? canceled : toOutcome(end, call);
  } catch (error) {
    if (error instanceof SettingProblem) return failed(error.message);
    throw error;
  }
}

async function send(call: Call, attempt: Attempt): Promise<RequestEnd> {
  const { settings, successStatusCodes } = call;
  const print = printer(settings, attempt);
  const options = {
    timeoutMs: settings.timeoutMs,
    skipTlsVerify: settings.skipTlsVerify,
    env: attempt.env,
    // Who waits for a 302 does not want to know what is behind it.
    follows: (status: number) => successStatusCodes?.has(status) !== true,
    holdsSecret: attempt.holdsSecret,
    signal: eitherEnd(attempt),
  };
  const end = await sendRequest(firstHop(call), options, print);
  if (!('problem' in end)) print.end();
  return end;
}

function firstHop({ target, settings }: Call): Hop {
  const { method, url: given } = target;
  const { body } = settings;
  if (body !== '' && method === 'HEAD') throw new SettingProblem('a HEAD request has no body');
  const url = withQuery(given, settings.query);
  const headers = settings.headers.filter(([name]) => !ownHeaders.has(name.toLowerCase()));
  const login = basicLogin(given);
  const added: Pairs = [
    ['user-agent', 'wf'],
    ['accept', '*/*'],
    ...contentType(body),
    ...(login === null ? [] : [['authorization', login] as const]),
  ];
  const isGiven = (name: string) => headers.some(([other]) => other.toLowerCase() === name);
  url.username = '';
  url.password = '';
  url.hash = '';
  return { method, url, headers: [...added.filter(([name]) => !isGiven(name)), ...headers], body };
}

/** What is plainly JSON is called so; of anything else only the user knows what it is. */
function contentType(body: string): Pairs {
  if (!/^\s*[[{]/.test(body)) return [];
  try {
    JSON.parse(body);
    return [['content-type', 'application/json']];
  } catch {
    return [];
  }
}

function toOutcome(end: RequestEnd, { successStatusCodes }: Call): Outcome {
  if ('problem' in end) return failed(end.problem);
  const { status, statusText } = end.head;
  const isSuccess = successStatusCodes?.has(status) ?? (status >= 200 && status < 300);
  if (isSuccess) return { status: 'succeeded', exitCode: null, outputs: {} };
  const answer = `${status} ${statusText}`.trimEnd();
  const why =
    successStatusCodes === null
      ? answer
      : `${answer}, and "successStatusCodes" has ${[...successStatusCodes].join(', ')}`;
  return failed(requestLine(end.hop.method, end.hop.url, why));
}

function failed(message: string): Outcome {
  return { status: 'failed', reason: 'error', message, exitCode: null, signal: null, outputs: {} };
}
