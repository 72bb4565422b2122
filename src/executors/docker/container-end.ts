import { addAbortSignal, type Readable } from 'node:stream';
import type { Container } from 'dockerode';
import type { Outcome } from '#core/run/run.ts';
import { isAskedToEnd } from '#processes/end-signal.ts';
import { withTimeLimit } from '#system/time-limit.ts';
import type { Attempt } from '../executor.ts';
import type { Daemon } from './api/daemon.ts';
import { ask, parseAnswer } from './api/docker-request.ts';
import { isRequestError } from './docker-problem.ts';

type Ended = { readonly exitCode: number; readonly daemon: Daemon; readonly attempt: Attempt };

/**
 * Waits for the end of a container; resolves to its exit code. Rejects if the daemon is lost; one that returns at once
 * may still know how the container ended.
 */
export async function containerExitCode(container: Container, { docker, over }: Daemon): Promise<number> {
  try {
    const path = `/containers/${container.id}/wait`;
    const { text } = await ask(docker, { method: 'POST', path, abortSignal: over });
    return readStatus(text);
  } catch (error) {
    if (over.aborted) throw error;
    const { State } = await container.inspect({ abortSignal: over });
    if (State.Running) throw error;
    return State.ExitCode;
  }
}

function readStatus(text: string): number {
  const { StatusCode } = (parseAnswer(text) ?? {}) as { readonly StatusCode?: number };
  if (StatusCode !== undefined) return StatusCode;
  throw Object.assign(new Error('an answer without an end'), { code: 'ECONNRESET' });
}

/** The outcome of a container that has ended. */
export async function endedOutcome(container: Container, ended: Ended): Promise<Outcome> {
  return exitOutcome(ended.exitCode, await memoryEnd(container, ended));
}

/** Examines a SIGKILL that was not requested and that the container's state does not explain. */
async function memoryEnd(container: Container, { exitCode, daemon, attempt }: Ended): Promise<MemoryEnd> {
  const { State, HostConfig } = await container.inspect({ abortSignal: daemon.over });
  const isExplained = State.OOMKilled || exitCode !== killedCode || isAskedToEnd(attempt);
  const isOutOfMemory = State.OOMKilled || (!isExplained && (await isToldLate(container, daemon, State)));
  return { isOutOfMemory, limit: HostConfig.Memory ?? 0 };
}

/**
 * Longest delay between a container's end and the reason for it, by the daemon's clock; and the total time limit of the
 * query.
 */
const latenessSeconds = 0.5;
const eventTimeoutMs = 2000;

/**
 * The daemon learns of an out-of-memory kill separately from the container's end. If that comes later, the container's
 * state does not show it, and only an event reports it.
 */
function isToldLate({ id }: Container, { docker, over }: Daemon, times: Times): Promise<boolean> {
  const [since, until] = [Date.parse(times.StartedAt) / 1000, Date.parse(times.FinishedAt) / 1000 + latenessSeconds];
  const filters = { container: [id], event: ['oom'] };
  return withTimeLimit(eventTimeoutMs, over, async (abortSignal) => {
    try {
      const events = (await docker.getEvents({ since, until, filters, abortSignal })) as Readable;
      for await (const _ of addAbortSignal(abortSignal, events)) return true;
      return false;
    } catch (error) {
      // The exit code is known anyway; a proxy in front of the daemon may block this request.
      if (isRequestError(error)) return false;
      throw error;
    }
  });
}

type Times = { readonly StartedAt: string; readonly FinishedAt: string };

/** How the kernel ended a container; `limit`: its memory limit in bytes, 0 for none. */
type MemoryEnd = { readonly isOutOfMemory: boolean; readonly limit: number };

/** Exit code of a program killed by SIGKILL. */
const killedCode = 137;

/** The outcome for an exit code in a container, naming the cause of a kill. */
export function exitOutcome(exitCode: number, memory: MemoryEnd): Outcome {
  if (exitCode === 0) return { status: 'succeeded', exitCode, outputs: {} };
  const message = `exit ${exitCode}${why(exitCode, memory)}`;
  return { status: 'failed', reason: 'exit', message, exitCode, signal: null, outputs: {} };
}

function why(exitCode: number, { isOutOfMemory, limit }: MemoryEnd): string {
  if (isOutOfMemory) return `: out of memory${limit > 0 ? ` (the limit is ${Math.round(limit / 1024 ** 2)} MiB)` : ''}`;
  return exitCode === killedCode ? ': killed (SIGKILL)' : '';
}
