import { connect } from 'node:net';
import { withoutPaths } from '#core/words/shell-paths.ts';
import type { Readiness } from '#core/workflow.ts';
import type { Captured } from '#environment/precondition.ts';
import type { Attempt, Containment } from '#executors/executor.ts';
import type { LogFile } from '#store/logs.ts';
import { messageOf } from '#system/errors.ts';
import { type LineTest, lineTest, searchLines } from '../attempt/line-search.ts';

/** Checks once whether a service is ready: null, or the reason why not. Ends soon after the signal. */
export type Probe = (signal: AbortSignal) => Promise<string | null>;

/** The dependencies of a probe. */
export type ProbeParts = {
  readonly attempt: Pick<Attempt, 'expand' | 'scope'>;
  /** Its output. */
  readonly logs: readonly LogFile[];
  /** Runs a command on this machine. */
  readonly capture: (
    command: string,
    signal: AbortSignal,
    extra: Readonly<Record<string, string>>,
  ) => Promise<Captured>;
  /** The container of the service; null if it has none. */
  readonly containment: () => Containment | null;
};

/** Time in which a published port without a server behind it is closed again, in milliseconds. */
const closedAfterMs = 100;

/** Creates the probe for a condition. Throws an `EvaluationProblem` or a `PathProblem` for a value that cannot be evaluated. */
export async function createProbe(readyWhen: Readiness, parts: ProbeParts): Promise<Probe> {
  const { attempt, capture, containment } = parts;
  switch (readyWhen.kind) {
    case 'command': {
      const { code, env } = withoutPaths(readyWhen.command, attempt.scope);
      return async (signal) => {
        const { ok, message } = await capture(code, signal, env);
        return ok ? null : message;
      };
    }
    case 'port': {
      const address = addressOf(attempt.expand(readyWhen.port));
      return address === null
        ? async () => `${JSON.stringify(attempt.expand(readyWhen.port))} is not a port`
        : (signal) => connectTo(address, containment() === null ? 0 : closedAfterMs, signal);
    }
    case 'http': {
      const url = attempt.expand(readyWhen.url);
      return (signal) => getUrl(url, signal);
    }
    case 'line':
      return lineProbe(await lineTest(attempt.expand(readyWhen.line)), parts.logs);
    case 'healthy':
      return async () => (await containment()?.whyUnhealthy()) ?? null;
  }
}

/**
 * The reason why the service could not be distinguished from a program that already responds; null if there is none.
 */
export async function whyTaken(readyWhen: Readiness, expand: Attempt['expand']): Promise<string | null> {
  if (readyWhen.kind !== 'port') return null;
  const text = expand(readyWhen.port);
  const address = addressOf(text);
  if (address === null)
    return `"readyWhen" has the port ${JSON.stringify(text)}, which is neither a number from 1 to 65535 nor HOST:PORT`;
  const why = await connectTo(address, 0, AbortSignal.timeout(1000));
  return why === null ? `port ${text} is already taken` : null;
}

type Address = { readonly host: string; readonly port: number };

function addressOf(text: string): Address | null {
  const [, host = 'localhost', digits = ''] = /^(?:(.+):)?(\d{1,5})$/.exec(text.trim()) ?? [];
  const port = Number(digits);
  return digits === '' || port < 1 || port > 65_535 ? null : { host: host.replace(/^\[(.*)\]$/, '$1'), port };
}

/** Connects once; a connection that is closed within `stayMs`, without data, counts as refused. */
function connectTo({ host, port }: Address, stayMs: number, signal: AbortSignal): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    let stay: NodeJS.Timeout | undefined;
    const end = (why: string | null) => {
      clearTimeout(stay);
      signal.removeEventListener('abort', giveUp);
      socket.destroy();
      resolve(why);
    };
    const giveUp = () => end('no answer');
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    socket.on('error', (error) => end(connectProblem(error)));
    socket.on('data', () => end(null));
    socket.on('close', () => end('connection closed'));
    socket.on('connect', () => {
      if (stayMs === 0) end(null);
      else stay = setTimeout(() => end(null), stayMs);
    });
  });
}

/** A name with several addresses has one error for each. */
function connectProblem(error: Error & { readonly code?: string; readonly errors?: readonly Error[] }): string {
  const { code } = (error.errors?.at(-1) ?? error) as { readonly code?: string };
  switch (code) {
    case 'ECONNREFUSED':
      return 'connection refused';
    case 'ECONNRESET':
      return 'connection closed';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'unknown host';
    default:
      return messageOf(error);
  }
}

async function getUrl(url: string, signal: AbortSignal): Promise<string | null> {
  if (!/^https?:/i.test(url) || !URL.canParse(url)) return `${JSON.stringify(url)} is not a URL`;
  const { get } = /^https:/i.test(url) ? await import('node:https') : await import('node:http');
  return new Promise((resolve) => {
    const request = get(url, { signal }, (response) => {
      const status = response.statusCode ?? 0;
      response.destroy();
      resolve(status >= 200 && status < 400 ? null : `status ${status}`);
    });
    request.on('error', (error) => resolve(signal.aborted ? 'no answer' : connectProblem(error)));
  });
}

/** Searches the output since the last check, and the last line again while it is incomplete. */
function lineProbe(test: LineTest, logs: readonly LogFile[]): Probe {
  const starts = new Map(logs.map((log) => [log, 0]));
  return async (signal) => {
    for (const [log, from] of starts) {
      const next = await searchLines(log, { from, test, signal });
      if (next === null) return null;
      starts.set(log, next);
    }
    return 'it has not printed the line';
  };
}
