import type { Pairs } from '#executors/http/header-fields.ts';
import { type RequestEnd, type RequestOptions, sendRequest } from '#executors/http/http-request.ts';

/** A request that delivers a notification. */
export type Message = {
  readonly method: string;
  /** Without credentials, which are in a header. */
  readonly url: URL;
  readonly headers: Pairs;
  readonly body: string;
};

/** How to deliver. `pause` waits for the milliseconds, or until the signal is aborted. */
export type DeliveryOptions = {
  readonly env: Readonly<Record<string, string>>;
  /** Limit of one try. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
};

const MAX_TRIES = 3;
/** Longest wait between two tries, whatever the server asks for. */
const MAX_WAIT_MS = 10_000;

/**
 * Sends the message, up to three times if the connection fails or the server is busy (429) or faulty (5xx). Resolves to
 * the reason why it was not accepted, or null.
 */
export async function deliver(message: Message, options: DeliveryOptions): Promise<string | null> {
  const { env, timeoutMs, signal, pause } = options;
  const request = { env, timeoutMs, signal, skipTlsVerify: null, follows: () => false, holdsSecret: () => true };
  for (let tried = 1; ; tried++) {
    const end = await send(message, request);
    const problem = problemOf(end);
    if (problem === null || !isPassing(end) || tried === MAX_TRIES || signal.aborted) return problem;
    await pause(waitAfter(end, tried), signal);
    if (signal.aborted) return problem;
  }
}

type ResponseHead = Extract<RequestEnd, { readonly head: unknown }>['head'];

/** Only the status counts; a truncated or oversized body is ignored. */
async function send(message: Message, options: RequestOptions): Promise<RequestEnd> {
  const heads: ResponseHead[] = [];
  const onHead = (head: ResponseHead) => void heads.push(head);
  const end = await sendRequest(message, options, { onHop: () => {}, onHead, onBody: () => {} });
  const [head] = heads;
  return head === undefined ? end : { hop: end.hop, head };
}

function problemOf(end: RequestEnd): string | null {
  if ('problem' in end) return end.problem;
  const { status, statusText } = end.head;
  if (status >= 200 && status < 300) return null;
  const redirect = status >= 300 && status < 400 ? ' (redirects are not followed)' : '';
  return `${status} ${statusText}`.trimEnd() + redirect;
}

/** Whether another try may succeed. */
function isPassing(end: RequestEnd): boolean {
  return 'problem' in end || end.head.status === 429 || end.head.status >= 500;
}

/** The server's `Retry-After` in seconds, else a second more after each try. */
function waitAfter(end: RequestEnd, tried: number): number {
  const asked = 'problem' in end ? undefined : end.head.headers.find(([name]) => name.toLowerCase() === 'retry-after');
  const seconds = Number(asked?.[1] ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(Math.ceil(seconds * 1000), MAX_WAIT_MS) : tried * 1000;
}
