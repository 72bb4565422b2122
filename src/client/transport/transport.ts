import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { rootCertificates } from 'node:tls';
import type { ClientSettings } from '#config/login-settings.ts';
import type { WfError } from '#system/errors.ts';
import { connectionProblem, noAnswer } from './connection-problem.ts';

/** The limits for a daemon: times in milliseconds, and the size of responses. */
export type ClientLimits = {
  /** From the request to the first byte of the response. */
  readonly answerMs: number;
  /** The same for requests that wait for a run to begin. */
  readonly startMs: number;
  /** The longest pause within a response or stream. */
  readonly silenceMs: number;
  /** The maximum size of a response that is not a stream. */
  readonly answerBytes: number;
  /** The pause before a broken stream is reopened; doubled each time, up to `longestPauseMs`. */
  readonly pauseMs: number;
  readonly longestPauseMs: number;
  /** The maximum time without an answer of the daemon while a run is followed. */
  readonly patienceMs: number;
};

/** The limits of commands. */
export const clientLimits: ClientLimits = {
  answerMs: 30_000,
  startMs: 90_000,
  silenceMs: 60_000,
  answerBytes: 256 * 1024 * 1024,
  pauseMs: 100,
  longestPauseMs: 2000,
  patienceMs: 120_000,
};

/** A request to a daemon. */
export type RemoteRequest = {
  readonly method: 'GET' | 'HEAD' | 'POST';
  /** Relative to the address, encoded, with its query: `/api/v2/runs?limit=1`. */
  readonly path: string;
  /** Sent as JSON; null: no body. */
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
  readonly answerMs: number;
  /** Whether the response may last long; streams are not limited by `mostSockets`. */
  readonly isStream: boolean;
  readonly signal: AbortSignal;
};

/** The connections to one daemon, which are reused. */
export type Transport = {
  readonly settings: ClientSettings;
  readonly limits: ClientLimits;
  /**
   * Resolves to the response with an unread body, whatever its status. Rejects with a `WfError` `unreachable` if there
   * is no response in time, and with the signal's reason if it is aborted.
   */
  readonly send: (request: RemoteRequest) => Promise<IncomingMessage>;
  readonly close: () => void;
};

/** The maximum number of concurrent requests, streams not included. */
const mostSockets = 8;

/**
 * Creates a transport with Node's own HTTP client, since other clients take longer to load than most commands run.
 * Redirects are not followed. Requests must be idempotent: after a failure on a reused connection they are sent again.
 */
export function createTransport(settings: ClientSettings, limits: ClientLimits): Transport {
  const isTls = settings.url.startsWith('https:');
  const start = isTls ? httpsRequest : httpRequest;
  const newAgent = (maxSockets: number) => {
    const options = { keepAlive: true, maxSockets };
    return isTls ? new HttpsAgent({ ...options, ...trust(settings) }) : new HttpAgent(options);
  };
  const agents = { answers: newAgent(mostSockets), streams: newAgent(Number.POSITIVE_INFINITY) };
  return {
    settings,
    limits,
    send: async (request) => {
      const agent = request.isStream ? agents.streams : agents.answers;
      try {
        return await send(request, { settings, agent, start });
      } catch (error) {
        if (!(error instanceof KeptTooLong)) throw error;
        return send(request, { settings, agent, start });
      }
    },
    close: () => {
      agents.answers.destroy();
      agents.streams.destroy();
    },
  };
}

/** Adds authorities to those of Node; otherwise they would replace them. */
function trust({ ca }: ClientSettings): { ca?: string[] } {
  return ca === null ? {} : { ca: [...rootCertificates, ca] };
}

/** The daemon closed the reused connection before it received the request. */
class KeptTooLong extends Error {}

type Sending = {
  readonly settings: ClientSettings;
  readonly agent: HttpAgent | HttpsAgent;
  readonly start: typeof httpRequest | typeof httpsRequest;
};

function send(request: RemoteRequest, { settings, agent, start }: Sending): Promise<IncomingMessage> {
  const { method, path, body, answerMs, signal } = request;
  const text = body === null ? null : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    let late: WfError | null = null;
    const outgoing = start(`${settings.url}${path}`, { method, agent, headers: headersOf(request, text, settings) });
    const timer = setTimeout(() => {
      late = noAnswer(settings, answerMs);
      outgoing.destroy();
    }, answerMs);
    const abort = () => outgoing.destroy();
    signal.addEventListener('abort', abort, { once: true });
    outgoing.once('response', (incoming) => {
      clearTimeout(timer);
      incoming.once('close', () => signal.removeEventListener('abort', abort));
      resolve(incoming);
    });
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      if (signal.aborted) reject(signal.reason);
      else if (late === null && outgoing.reusedSocket && error.code === 'ECONNRESET') reject(new KeptTooLong());
      else reject(late ?? connectionProblem(error, settings));
    });
    outgoing.end(text ?? undefined);
  });
}

function headersOf(
  { headers }: RemoteRequest,
  text: string | null,
  { authorization }: ClientSettings,
): Record<string, string | number> {
  return {
    Accept: 'application/json, application/problem+json',
    ...(authorization === null ? {} : { Authorization: authorization }),
    ...(text === null ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }),
    ...headers,
  };
}
