import { type ClientRequest, type IncomingMessage, STATUS_CODES } from 'node:http';
import type { LogForwarding } from '#core/log-forwarding.ts';
import { explainRequestError, RequestProblem } from '#executors/http/http-problem.ts';

/** The result of a request: accepted, rejected for good, or worth a retry. */
export type SinkAnswer = 'taken' | 'refused' | 'unavailable';

/** Destination of records. */
export type Sink = {
  /** Name for messages, without secrets from the URL. */
  readonly name: string;
  /** Sends one request with a JSON body; resolves soon after the signal is aborted, and never rejects. */
  readonly send: (body: string, signal: AbortSignal) => Promise<SinkAnswer>;
  /** The reason of the last request that failed; null if none has failed. */
  readonly problem: () => string | null;
  readonly close: () => void;
};

/** Temporary statuses besides 5xx: timeout, too early, too many requests. */
const temporary = new Set([408, 425, 429]);

/** A sink that POSTs over keep-alive connections. */
export async function openHttpSink(settings: Pick<LogForwarding, 'httpUrl' | 'headers' | 'timeoutMs'>): Promise<Sink> {
  const { httpUrl, timeoutMs } = settings;
  const { Agent, request } = httpUrl.startsWith('https:') ? await import('node:https') : await import('node:http');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let problem: string | null = null;
  const headers = { 'Content-Type': 'application/json', ...settings.headers };
  return {
    name: new URL(httpUrl).origin,
    send: (body, signal) => {
      const outgoing = () =>
        request(httpUrl, { method: 'POST', agent, headers: { ...headers, 'Content-Length': Buffer.byteLength(body) } });
      const failed = (why: unknown) => {
        if (!signal.aborted)
          problem = explainRequestError(why, { url: new URL(httpUrl), proxy: null, canSkipTls: false });
      };
      return post(outgoing, body, { signal, timeoutMs, failed });
    },
    problem: () => problem,
    close: () => agent.destroy(),
  };
}

function post(
  start: () => ClientRequest,
  body: string,
  { signal, timeoutMs, failed }: { signal: AbortSignal; timeoutMs: number; failed: (why: unknown) => void },
): Promise<SinkAnswer> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve('unavailable');
    const request = start();
    const giveUp = () => request.destroy(new RequestProblem('given up'));
    const late = () => request.destroy(new RequestProblem(`no complete response within ${timeoutMs / 1000}s`));
    const timer = setTimeout(late, timeoutMs);
    const end = (answer: SinkAnswer) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
      resolve(answer);
    };
    signal.addEventListener('abort', giveUp, { once: true });
    request.on('error', (error) => {
      failed(error);
      end('unavailable');
    });
    request.on('response', (response) => {
      // Drain the body so that the connection can be reused.
      response.resume();
      response.on('close', () => {
        const answer = response.complete ? answerOf(response) : 'unavailable';
        if (answer !== 'taken')
          failed(
            response.complete
              ? statusLine(response)
              : (response.errored ?? new RequestProblem('the response is not complete')),
          );
        end(answer);
      });
    });
    request.end(body);
  });
}

function statusLine({ statusCode = 0 }: IncomingMessage): string {
  return `${statusCode} ${STATUS_CODES[statusCode] ?? ''}`.trimEnd();
}

function answerOf({ statusCode = 0 }: IncomingMessage): SinkAnswer {
  if (statusCode >= 200 && statusCode < 300) return 'taken';
  return statusCode >= 500 || temporary.has(statusCode) ? 'unavailable' : 'refused';
}
