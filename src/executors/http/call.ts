import type { Outcome } from '../../core/run/run.ts';
import { canceled, eitherEnd, isAskedToEnd } from '../../processes/end-signal.ts';
import type { Attempt } from '../executor.ts';
import { type Pairs, SettingProblem } from './fields.ts';
import { basicLogin } from './login.ts';
import { requestLine } from './problem.ts';
import type { Hop, ResponseHead } from './redirect.ts';
import { type RequestEnd, type ResponseReader, sendRequest } from './request.ts';
import type { HttpSettings } from './settings.ts';
import { shownHeader, shownUrl } from './shown.ts';
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

/** A reader that prints an answer; `end` prints what could not be printed before the answer was complete. */
type Printer = ResponseReader & { readonly end: () => void };

/**
 * Prints the status line, the headers, a blank line and the body as it comes; `silent`: the body only. With `json` it is one
 * object, printed at the end: `status_code`, `headers` (lists by name) and `body`, which is the JSON that came or else a text.
 * With `debug` requests and redirects go to standard error.
 */
function printer({ silent, json, debug }: HttpSettings, { write }: Attempt): Printer {
  const chunks: Uint8Array[] = [];
  let head: ResponseHead | null = null;
  return {
    onHop: (hop, proxy) => {
      if (debug) write('stderr', describeHop(hop, proxy));
    },
    onHead: (received) => {
      head = received;
      // Headers are bytes, whatever their encoding.
      if (!silent && !json) write('stdout', Buffer.from(headText(received), 'latin1'));
    },
    onBody: (chunk) => {
      if (json) chunks.push(chunk);
      else write('stdout', chunk);
    },
    end: () => {
      if (json && head !== null) write('stdout', jsonText(silent ? null : head, Buffer.concat(chunks).toString()));
    },
  };
}

function headText({ httpVersion, status, statusText, headers }: ResponseHead): string {
  const lines = [`HTTP/${httpVersion} ${status} ${statusText}`.trimEnd(), ...headers.map((pair) => pair.join(': '))];
  return `${lines.join('\n')}\n\n`;
}

/** A body of JSON is put in as it is: no number in it changes. */
function jsonText(head: ResponseHead | null, body: string): string {
  const value = isJson(body) ? body.trim() : JSON.stringify(body);
  const shown = head === null ? null : { status_code: head.status, headers: headerLists(head) };
  const begin = shown === null ? '{' : `${JSON.stringify(shown, null, 2).slice(0, -2)},`;
  return `${begin}\n  "body": ${value}\n}\n`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Under names spelled alike from every server: `Content-Type`. */
function headerLists({ headers }: ResponseHead): Record<string, string[]> {
  const lists: Record<string, string[]> = {};
  for (const [name, value] of headers) {
    const spelled = name.toLowerCase().replace(/(?:^|-)[a-z]/g, (letter) => letter.toUpperCase());
    lists[spelled] = [...(lists[spelled] ?? []), value];
  }
  return lists;
}

function describeHop({ method, url, headers, body }: Hop, proxy: URL | null): string {
  const by = proxy === null ? '' : ` (through the proxy ${shownUrl(proxy)})`;
  const lines = headers.map(([name, value]) => `${name}: ${shownHeader(name, value)}`);
  const size = body === '' ? [] : [`(${Buffer.byteLength(body)} bytes of body)`];
  return [`${method} ${shownUrl(url)}${by}`, ...lines, ...size].map((line) => `> ${line}\n`).join('');
}
