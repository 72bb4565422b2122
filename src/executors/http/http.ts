import { failed } from '#core/run/outcome.ts';
import type { Outcome } from '#core/run/run.ts';
import { canceled, eitherEnd, isAskedToEnd } from '#processes/end-signal.ts';
import { tryOr } from '#system/errors.ts';
import type { Attempt, Executor } from '../executor.ts';
import { type Pairs, SettingProblem, statusCodes, textField, urlLogin } from './header-fields.ts';
import { requestLine, shownHeader, shownUrl } from './http-problem.ts';
import { type Hop, type RequestEnd, type ResponseHead, type ResponseReader, sendRequest } from './http-request.ts';
import {
  expandedSettings,
  type HttpSettings,
  httpKeys,
  httpSettings,
  stepTarget,
  type Target,
  target,
  withQuery,
} from './http-settings.ts';

/** Makes the request in `command` (`METHOD url`) and prints the answer. A status outside 2xx fails the step. */
export const executor: Executor = {
  run: (config, attempt) =>
    makeCall(attempt, () => ({
      target: stepTarget(attempt),
      settings: httpSettings(expandedSettings(config, httpKeys, attempt)),
      successStatusCodes: null,
    })),
};

/** Calls the `url` in its settings, with POST unless `method` says otherwise; `successStatusCodes` defines success. */
export const webhook: Executor = {
  run: (config, attempt) =>
    makeCall(attempt, () => {
      const settings = expandedSettings(config, [...httpKeys, 'url', 'method', 'successStatusCodes'], attempt);
      return {
        target: target(textField(settings, 'method') || 'POST', textField(settings, 'url')),
        settings: httpSettings(settings),
        successStatusCodes: statusCodes(settings, 'successStatusCodes'),
      };
    }),
};

/** A request and the statuses that count as success. */
type Call = {
  readonly target: Target;
  readonly settings: HttpSettings;
  /** Null: every 2xx. */
  readonly successStatusCodes: ReadonlySet<number> | null;
};

/** Headers that the request sets itself. */
const ownHeaders = new Set(['content-length', 'transfer-encoding', 'connection']);

/** Makes the call returned by `read`, which may throw a `SettingProblem`, prints the answer and checks its status. */
async function makeCall(attempt: Attempt, read: () => Call): Promise<Outcome> {
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
    // A step that expects a 302 does not want its target.
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
  if (body !== '' && method === 'HEAD') throw new SettingProblem('a HEAD request cannot have a body');
  const url = withQuery(given, settings.query);
  const headers = settings.headers.filter(([name]) => !ownHeaders.has(name.toLowerCase()));
  const login = urlLogin(given);
  // Of other content only the user knows the type.
  const isObvious = /^\s*[[{]/.test(body) && isJson(body);
  const added: Pairs = [
    ['user-agent', 'wf'],
    ['accept', '*/*'],
    ...(isObvious ? [['content-type', 'application/json'] as const] : []),
    ...(login === null ? [] : [['authorization', login] as const]),
  ];
  const isGiven = (name: string) => headers.some(([other]) => other.toLowerCase() === name);
  url.username = '';
  url.password = '';
  url.hash = '';
  return { method, url, headers: [...added.filter(([name]) => !isGiven(name)), ...headers], body };
}

function toOutcome(end: RequestEnd, { successStatusCodes }: Call): Outcome {
  if ('problem' in end) return failed(requestLine(end.hop.method, end.hop.url, end.problem));
  const { status, statusText } = end.head;
  const isSuccess = successStatusCodes?.has(status) ?? (status >= 200 && status < 300);
  if (isSuccess) return { status: 'succeeded', exitCode: null, outputs: {} };
  const answer = `${status} ${statusText}`.trimEnd();
  const allowed = successStatusCodes && `, but "successStatusCodes" allows only ${[...successStatusCodes].join(', ')}`;
  return failed(requestLine(end.hop.method, end.hop.url, answer + (allowed ?? '')));
}

/**
 * Prints the status line, the headers, a blank line and the body as they arrive; `silent`: only the body. With `json`,
 * prints one object at the end: `status_code`, `headers` (lists by name) and `body`, either the received JSON or a
 * text. With `debug`, requests and redirects go to standard error. `end` prints what needs the complete answer.
 */
function printer(
  { silent, json, debug }: HttpSettings,
  { write }: Attempt,
): ResponseReader & { readonly end: () => void } {
  const chunks: Uint8Array[] = [];
  let head: ResponseHead | null = null;
  return {
    onHop: (hop, proxy) => {
      if (debug) write('stderr', describeHop(hop, proxy));
    },
    onHead: (received) => {
      head = received;
      // Headers are bytes in an unknown encoding.
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

/** Inserts a JSON body verbatim, so that no number in it changes. */
function jsonText(head: ResponseHead | null, body: string): string {
  const value = isJson(body) ? body.trim() : JSON.stringify(body);
  const shown = head === null ? null : { status_code: head.status, headers: headerLists(head) };
  const begin = shown === null ? '{' : `${JSON.stringify(shown, null, 2).slice(0, -2)},`;
  return `${begin}\n  "body": ${value}\n}\n`;
}

function isJson(text: string): boolean {
  return tryOr(false, () => JSON.parse(text) !== undefined);
}

/** Names are normalized: `Content-Type`. */
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
