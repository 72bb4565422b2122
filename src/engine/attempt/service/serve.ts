import { connect } from 'node:net';
import { failed } from '#core/run/outcome.ts';
import type { Outcome } from '#core/run/run.ts';
import { withoutPaths } from '#core/words/shell-paths.ts';
import type { BackgroundStep, Readiness } from '#core/workflow.ts';
import type { Captured } from '#environment/precondition.ts';
import type { Attempt, Containment } from '#executors/executor.ts';
import type { LogFile } from '#store/logs.ts';
import type { Clock } from '#system/clock.ts';
import { messageOf } from '#system/errors.ts';
import { withTimeLimit } from '#system/time-limit.ts';
import { type LineTest, lineTest, searchLines } from '../line-search.ts';

/** One attempt at a service. */
export type BackgroundAttempt = {
  readonly service: BackgroundStep;
  readonly attempt: Attempt;
  readonly run: (attempt: Attempt) => Promise<Outcome>;
  readonly capture: ProbeParts['capture'];
  readonly logs: ProbeParts['logs'];
  readonly clock: Clock;
  /** Whether its work starts only in a container. */
  readonly isContained: boolean;
  /** Reports that it is ready. */
  readonly ready: () => void;
  /** Ends the attempt, since it is not ready in time. */
  readonly giveUp: () => void;
};

/** The time limit of one check, and the minimum for the last one before the deadline. */
const PROBE_TIMEOUT_MS = 10_000;
const LAST_PROBE_TIMEOUT_MS = 1000;

/** Makes an attempt at a service, and checks from its start on whether it is ready. */
export async function serve(parts: BackgroundAttempt): Promise<Outcome> {
  const { service, attempt, run, capture, logs, isContained, giveUp } = parts;
  const { readyWhen } = service;
  const taken = readyWhen === null ? null : await whyTaken(readyWhen, attempt.expand);
  if (taken !== null) return failed(taken);
  const ended = new AbortController();
  let containment: Containment | null = null;
  // Create the probe first: if it cannot be evaluated, the program must not start.
  const probe =
    readyWhen === null
      ? null
      : await createProbe(readyWhen, { attempt, capture, logs, containment: () => containment });
  let watching: Promise<void> | null = null;
  let problem: string | null = null;
  const watch = async () => {
    const why = probe === null ? null : await untilReady(probe, parts, ended.signal);
    if (ended.signal.aborted) return;
    problem = why;
    if (why === null) parts.ready();
    else giveUp();
  };
  const watched: Attempt = {
    ...attempt,
    started: (process, child) => {
      attempt.started(process, child);
      if (!isContained) watching ??= watch();
    },
    contained: (found) => {
      attempt.contained(found);
      containment = found;
      watching ??= watch();
    },
  };
  try {
    const outcome = await run(watched);
    return problem === null ? outcome : unready(outcome, problem);
  } finally {
    ended.abort();
    await watching;
  }
}

/** Repeats the check. Resolves to null when the service is ready, else to the reason why it is not. */
async function untilReady(
  probe: Probe,
  { service, clock }: Pick<BackgroundAttempt, 'service' | 'clock'>,
  ended: AbortSignal,
): Promise<string | null> {
  const { intervalMs, timeoutMs } = service;
  const deadline = clock.elapsed() + timeoutMs;
  for (;;) {
    const limit = Math.min(PROBE_TIMEOUT_MS, Math.max(LAST_PROBE_TIMEOUT_MS, deadline - clock.elapsed()));
    const why = await withTimeLimit(limit, ended, probe).catch(String);
    if (why === null || ended.aborted) return null;
    const leftMs = deadline - clock.elapsed();
    if (leftMs <= 0) return `not ready within ${timeoutMs / 1000}s: ${why}`;
    await pauseUntil(clock.now() + Math.min(intervalMs, leftMs), clock, ended);
  }
}

function pauseUntil(time: number, clock: Clock, ended: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      ended.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.setTimer(time, end);
    ended.addEventListener('abort', end, { once: true });
    if (ended.aborted) end();
  });
}

function unready(outcome: Outcome, message: string): Outcome {
  const { exitCode } = outcome.status === 'skipped' ? { exitCode: null } : outcome;
  const signal = 'signal' in outcome ? outcome.signal : null;
  return { status: 'failed', reason: 'unready', message, exitCode, signal, outputs: {} };
}

/** Checks once whether a service is ready: null, or the reason why not. Ends soon after the signal. */
type Probe = (signal: AbortSignal) => Promise<string | null>;

/** The dependencies of a probe. */
type ProbeParts = {
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
const CLOSED_AFTER_MS = 100;

/** Creates the probe for a condition. Throws an `EvaluationProblem` or a `PathProblem` for a value that cannot be evaluated. */
async function createProbe(readyWhen: Readiness, parts: ProbeParts): Promise<Probe> {
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
        : (signal) => connectTo(address, containment() === null ? 0 : CLOSED_AFTER_MS, signal);
    }
    case 'http': {
      const url = attempt.expand(readyWhen.url);
      return (signal) => getUrl(url, signal);
    }
    case 'line':
      return lineProbe(lineTest(attempt.expand(readyWhen.line)), parts.logs);
    case 'healthy':
      return async () => (await containment()?.whyUnhealthy()) ?? null;
  }
}

/**
 * The reason why the service could not be distinguished from a program that already responds; null if there is none.
 */
async function whyTaken(readyWhen: Readiness, expand: Attempt['expand']): Promise<string | null> {
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
