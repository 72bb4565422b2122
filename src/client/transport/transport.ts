import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { rootCertificates } from 'node:tls';
import type { ClientSettings } from '../../config/client-settings.ts';
import type { WfError } from '../../errors.ts';
import { connectionProblem, noAnswer } from './connection-problem.ts';

/** How long a daemon may take, in milliseconds, and how much it may answer. */
export type ClientLimits = {
  /** From the request to the first byte of the answer. */
  readonly answerMs: number;
  /** The same of requests that wait for a run to begin. */
  readonly startMs: number;
  /** Without a byte, where an answer or a stream is going on. */
  readonly silenceMs: number;
  /** The longest answer that is not a stream. */
  readonly answerBytes: number;
  /** The pause before a stream that broke off is tried again; doubled each time, up to `longestPauseMs`. */
  readonly pauseMs: number;
  readonly longestPauseMs: number;
  /** How long a daemon that is away is waited for, where something is followed. */
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

/** What is asked of a daemon. */
export type RemoteRequest = {
  readonly method: 'GET' | 'HEAD' | 'POST';
  /** Behind the address, encoded, with its query: `/api/v2/runs?limit=1`. */
  readonly path: string;
  /** Sent as JSON; null: no body. */
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
  readonly answerMs: number;
  /** Whether the answer may go on for long: such do not wait for each other. */
  readonly isStream: boolean;
  readonly signal: AbortSignal;
};

/** One daemon, over connections that are used again. */
export type Transport = {
  readonly settings: ClientSettings;
  readonly limits: ClientLimits;
  /**
   * Resolves to the answer with its body still to be read, whatever its status. Rejects with a `WfError` `unreachable` when
   * there is none in time, and with the signal's reason when that is aborted.
   */
  readonly send: (request: RemoteRequest) => Promise<IncomingMessage>;
  readonly close: () => void;
};

/** Requests that are no streams and go on at once. */
const mostSockets = 8;

/**
 * Node's own client: whatever knows more takes longer to load than most commands run. Redirects are not followed. What is sent
 * must do no harm when it is sent twice: a connection that was kept may turn out to be closed.
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

/** Naming authorities would else replace those that Node knows. */
function trust({ ca }: ClientSettings): { ca?: string[] } {
  return ca === null ? {} : { ca: [...rootCertificates, ca] };
}

/** The daemon had closed the connection before the request came. */
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
