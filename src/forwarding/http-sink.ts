import type { ClientRequest, IncomingMessage } from 'node:http';
import type { LogForwarding } from '../core/log-forwarding.ts';

/** The result of a request: accepted, rejected for good, or worth a retry. */
export type SinkAnswer = 'taken' | 'refused' | 'unavailable';

/** Destination of records. */
export type Sink = {
  /** Name for messages, without secrets from the URL. */
  readonly name: string;
  /** Sends one request with a JSON body; resolves soon after the signal is aborted, and never rejects. */
  readonly send: (body: string, signal: AbortSignal) => Promise<SinkAnswer>;
  readonly close: () => void;
};

/** Temporary statuses besides 5xx: timeout, too early, too many requests. */
const temporary = new Set([408, 425, 429]);

/** A sink that POSTs over keep-alive connections. */
export async function openHttpSink(settings: Pick<LogForwarding, 'httpUrl' | 'headers' | 'timeoutMs'>): Promise<Sink> {
  const { httpUrl, timeoutMs } = settings;
  const { Agent, request } = httpUrl.startsWith('https:') ? await import('node:https') : await import('node:http');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers = { 'Content-Type': 'application/json', ...settings.headers };
  return {
    name: new URL(httpUrl).origin,
    send: (body, signal) => {
      const outgoing = () =>
        request(httpUrl, { method: 'POST', agent, headers: { ...headers, 'Content-Length': Buffer.byteLength(body) } });
      return post(outgoing, body, { signal, timeoutMs });
    },
    close: () => agent.destroy(),
  };
}

function post(
  start: () => ClientRequest,
  body: string,
  { signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number },
): Promise<SinkAnswer> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve('unavailable');
    const request = start();
    const giveUp = () => request.destroy(new Error('given up'));
    const timer = setTimeout(giveUp, timeoutMs);
    const end = (answer: SinkAnswer) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
      resolve(answer);
    };
    signal.addEventListener('abort', giveUp, { once: true });
    request.on('error', () => end('unavailable'));
    request.on('response', (response) => {
      // Drain the body so that the connection can be reused.
      response.resume();
      response.on('close', () => end(response.complete ? answerOf(response) : 'unavailable'));
    });
    request.end(body);
  });
}

function answerOf({ statusCode = 0 }: IncomingMessage): SinkAnswer {
  if (statusCode >= 200 && statusCode < 300) return 'taken';
  return statusCode >= 500 || temporary.has(statusCode) ? 'unavailable' : 'refused';
}
