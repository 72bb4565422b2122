import { failed } from '#core/run/outcome.ts';
import type { Outcome } from '#core/run/run.ts';
import type { Service } from '#core/workflow.ts';
import type { Attempt, Containment } from '#executors/executor.ts';
import type { Clock } from '#system/clock.ts';
import { withTimeLimit } from '#system/time-limit.ts';
import { createProbe, type Probe, type ProbeParts, whyTaken } from './readiness.ts';

/** One attempt at a service. */
export type ServiceAttempt = {
  readonly service: Service;
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
const probeTimeoutMs = 10_000;
const lastProbeTimeoutMs = 1000;

/** Makes an attempt at a service, and checks from its start on whether it is ready. */
export async function serve(parts: ServiceAttempt): Promise<Outcome> {
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
  { service, clock }: Pick<ServiceAttempt, 'service' | 'clock'>,
  ended: AbortSignal,
): Promise<string | null> {
  const { intervalMs, timeoutMs } = service;
  const deadline = clock.elapsed() + timeoutMs;
  for (;;) {
    const limit = Math.min(probeTimeoutMs, Math.max(lastProbeTimeoutMs, deadline - clock.elapsed()));
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
