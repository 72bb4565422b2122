import { Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { rootCertificates } from 'node:tls';
import type { ClientSettings } from '#config/part-settings.ts';
import { given } from '#core/data/collections.ts';
import { failedAs, tryOr, WfError } from '#system/errors.ts';
import { isObject, type JsonMap } from './json-fields.ts';
import { connectionProblem, noAnswer, notUnderstood, problemError } from './problem-error.ts';

/** A request to a daemon. */
type RemoteRequest = {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'DELETE';
  /** Relative to `/api/v2`, encoded, with its query. */
  readonly path: string;
  /** Sent as JSON; null (the default): no body. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly answerMs?: number;
  /** Of a stream: ends it. */
  readonly signal?: AbortSignal;
};

/** The response to a request that changes something. */
export type Answer = { readonly status: number; readonly body: JsonMap };

/** The maximum number of concurrent requests, streams not included. */
const MOST_SOCKETS = 8;

/** The daemon closed the reused connection before it received the request. */
class KeptTooLong extends Error {}

/**
 * The v2 API of one daemon. Every method throws the daemon's errors as a `WfError`, as local functions do. Redirects are
 * not followed. Requests must be idempotent: after a failure on a reused connection they are sent again. Uses Node's own
 * HTTP client, since other clients take longer to load than most commands run.
 */
export class DaemonClient {
  readonly settings: ClientSettings;
  readonly limits: ClientLimits;
  /** Receives a line for the user while the client waits for a daemon that does not answer. */
  readonly tell: (line: string) => void;
  readonly #start: typeof httpRequest | typeof httpsRequest;
  readonly #answers: HttpAgent;
  readonly #streams: HttpAgent;

  constructor(settings: ClientSettings, tell: (line: string) => void, limits: ClientLimits) {
    this.settings = settings;
    this.limits = limits;
    this.tell = tell;
    const isTls = settings.url.startsWith('https:');
    this.#start = isTls ? httpsRequest : httpRequest;
    // Further authorities would otherwise replace those of Node.
    const trust = settings.ca === null ? {} : { ca: [...rootCertificates, settings.ca] };
    const newAgent = (maxSockets: number) =>
      isTls
        ? new HttpsAgent({ keepAlive: true, maxSockets, ...trust })
        : new HttpAgent({ keepAlive: true, maxSockets });
    this.#answers = newAgent(MOST_SOCKETS);
    this.#streams = newAgent(Number.POSITIVE_INFINITY);
  }

  /** Returns the object of the response. Paths are relative to `/api/v2`. */
  async get(path: string): Promise<JsonMap> {
    return (await this.#json({ method: 'GET', path })).body;
  }

  /** Posts a body. `slow`: the daemon responds only when a run has begun. */
  post(path: string, body: unknown, { slow = false } = {}): Promise<Answer> {
    return this.#json({ method: 'POST', path, body, ...(slow ? { answerMs: this.limits.startMs } : {}) });
  }

  async remove(path: string): Promise<JsonMap> {
    return (await this.#json({ method: 'DELETE', path })).body;
  }

  async head(path: string): Promise<IncomingHttpHeaders> {
    const incoming = await this.#accepted({ method: 'HEAD', path });
    incoming.resume();
    return incoming.headers;
  }

  /** Opens a response for streaming; its status is 2xx. */
  open(path: string, signal: AbortSignal, headers: Readonly<Record<string, string>> = {}): Promise<IncomingMessage> {
    return this.#accepted({ method: 'GET', path, headers, signal });
  }

  close(): void {
    this.#answers.destroy();
    this.#streams.destroy();
  }

  async #json(request: RemoteRequest): Promise<Answer> {
    const incoming = await this.#accepted(request);
    const text = await answerText(incoming, this);
    const body = tryOr<unknown, undefined>(undefined, () => JSON.parse(text));
    if (isObject(body)) return { status: incoming.statusCode ?? 0, body };
    throw notUnderstood(this.settings, body === undefined ? 'it is not JSON' : 'it is not an object');
  }

  async #accepted(request: RemoteRequest): Promise<IncomingMessage> {
    const incoming = await this.#send(request).catch((error: unknown) => {
      if (!(error instanceof KeptTooLong)) throw error;
      return this.#send(request);
    });
    const { statusCode: status = 0, headers } = incoming;
    if (status >= 200 && status < 300) return incoming;
    const { location = '', 'retry-after': retryAfter = null } = headers;
    if (status >= 300 && status < 400) {
      incoming.destroy();
      throw notUnderstood(this.settings, `it redirects to ${JSON.stringify(location)}, where no login is sent`);
    }
    throw problemError({ status, retryAfter, body: await answerText(incoming, this) }, this.settings);
  }

  /** Resolves to the response, whatever its status, with an unread body. Throws the reason of an aborted signal. */
  #send({ method, path, body = null, headers = {}, answerMs, signal }: RemoteRequest): Promise<IncomingMessage> {
    const { settings, limits } = this;
    const text = body === null ? null : JSON.stringify(body);
    const longestMs = answerMs ?? limits.answerMs;
    const agent = signal === undefined ? this.#answers : this.#streams;
    const sent = {
      Accept: 'application/json, application/problem+json',
      ...given({ Authorization: settings.authorization }),
      ...(text === null ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }),
      ...headers,
    };
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      let late: WfError | null = null;
      const outgoing = this.#start(`${settings.url}/api/v2${path}`, { method, agent, headers: sent });
      const timer = setTimeout(() => {
        late = noAnswer(settings, longestMs);
        outgoing.destroy();
      }, longestMs);
      const abort = () => outgoing.destroy();
      signal?.addEventListener('abort', abort, { once: true });
      outgoing.once('response', (incoming) => {
        clearTimeout(timer);
        incoming.once('close', () => signal?.removeEventListener('abort', abort));
        resolve(incoming);
      });
      outgoing.on('error', (error: NodeJS.ErrnoException) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        if (signal?.aborted) reject(signal.reason);
        else if (late === null && outgoing.reusedSocket && error.code === 'ECONNRESET') reject(new KeptTooLong());
        else reject(late ?? connectionProblem(error, settings));
      });
      outgoing.end(text ?? undefined);
    });
  }
}

/** Encodes a segment of a path. */
export function segment(text: string): string {
  // A path that ends in one of these would be resolved to another path.
  return text === '.' || text === '..' ? text.replaceAll('.', '%2E') : encodeURIComponent(text);
}

/** The limits for a daemon: times in milliseconds, and the size of responses. */
export const clientLimits = {
  /** From the request to the first byte of the response. */
  answerMs: 30_000,
  /** The same for requests that wait for a run to begin. */
  startMs: 90_000,
  /** The longest pause within a response or stream. */
  silenceMs: 60_000,
  /** The maximum size of a response that is not a stream. */
  answerBytes: 256 * 1024 * 1024,
  /** The pause before a broken stream is reopened; doubled each time, up to `longestPauseMs`. */
  pauseMs: 100,
  longestPauseMs: 2000,
  /** The maximum time without an answer of the daemon while a run is followed. */
  patienceMs: 120_000,
};

/** The limits for one daemon. */
export type ClientLimits = Readonly<typeof clientLimits>;

/**
 * Yields the body of a response as it arrives. Throws a `WfError` `unreachable` if the connection breaks, or no byte
 * arrives for too long (not counting the reader's own time). Leaving the loop early closes the connection.
 */
export async function* answerBytes(
  incoming: IncomingMessage,
  { settings, limits }: DaemonClient,
): AsyncGenerator<Uint8Array, void> {
  const chunks = incoming[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  try {
    for (;;) {
      const timer = setTimeout(() => incoming.destroy(noAnswer(settings, limits.silenceMs)), limits.silenceMs);
      const next = await chunks.next().finally(() => clearTimeout(timer));
      if (next.done) return;
      yield next.value;
    }
  } catch (error) {
    throw error instanceof WfError ? error : connectionProblem(error as NodeJS.ErrnoException, settings);
  } finally {
    if (!incoming.readableEnded) incoming.destroy();
  }
}

/** Reads a whole body as text. Throws a `WfError` `unreachable` also for a body that is too large or not UTF-8. */
async function answerText(incoming: IncomingMessage, client: DaemonClient): Promise<string> {
  const { settings, limits } = client;
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of answerBytes(incoming, client)) {
    length += chunk.length;
    if (length > limits.answerBytes) throw notUnderstood(settings, `it is larger than ${limits.answerBytes} bytes`);
    chunks.push(chunk);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks, length));
  } catch {
    throw notUnderstood(settings, 'it is not UTF-8');
  }
}

/** Waits for a daemon that does not answer, while a run is followed; tells when it stops answering, and answers again. */
export class Patience {
  readonly #client: DaemonClient;
  #goneSince: number | null = null;
  #isTold = false;
  #pauseMs: number;

  constructor(client: DaemonClient) {
    this.#client = client;
    this.#pauseMs = client.limits.pauseMs;
  }

  /** Resolves when a retry is due; throws the error itself if none would help, or after too long. */
  async wait(error: unknown, signal: AbortSignal): Promise<void> {
    const { settings, limits, tell } = this.#client;
    signal.throwIfAborted();
    // Temporary: the daemon does not answer, restarts, or is busy.
    if (!failedAs(error, 'unreachable', 'busy')) throw error;
    this.#goneSince ??= performance.now();
    if (performance.now() - this.#goneSince > limits.patienceMs) throw error;
    if (this.#pauseMs > limits.pauseMs && !this.#isTold) {
      this.#isTold = true;
      tell(`${settings.url} does not answer; retrying`);
    }
    await pause(this.#pauseMs, undefined, { signal });
    this.#pauseMs = Math.min(this.#pauseMs * 2, limits.longestPauseMs);
  }

  /** Notes that the daemon has answered. */
  refresh(): void {
    const { settings, limits, tell } = this.#client;
    if (this.#isTold) tell(`${settings.url} answers again`);
    this.#goneSince = null;
    this.#isTold = false;
    this.#pauseMs = limits.pauseMs;
  }
}
