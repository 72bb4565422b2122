import { addAbortSignal, type Readable } from 'node:stream';
import type { Container } from 'dockerode';
import type { Outcome } from '#core/run/run.ts';
import { isAskedToEnd } from '#processes/end-signal.ts';
import { withTimeLimit } from '#system/time-limit.ts';
import type { Attempt } from '../executor.ts';
import { ask, type Daemon, DockerProblem, isRequestError, objectIn } from './docker-daemon.ts';

/** Output being copied to the log: `done` resolves at its end; call `finish` when its program has ended. */
type CopiedOutput = { readonly done: Promise<void>; readonly finish: () => void };

/** Time limit for remaining output after the program's end: other holders of the output are not waited for. */
const DRAIN_TIMEOUT_MS = 2000;

/** Copies a container's output; reading waits for writing, so that nothing accumulates. A terminal has no frames. */
export function copyOutput(stream: NodeJS.ReadableStream, hasTerminal: boolean, write: WriteOutput): CopiedOutput {
  const output = stream as NodeJS.ReadableStream & { destroy: (error?: Error) => void };
  const take = hasTerminal ? (chunk: Buffer) => write('stdout', chunk) : demultiplexer(write);
  let timer: NodeJS.Timeout | undefined;
  let isDone = false;
  const done = new Promise<void>((resolve, reject) => {
    output.once('error', reject);
    output.once('close', resolve);
    output.on('data', (chunk: Buffer) => {
      try {
        take(chunk);
      } catch (error) {
        output.destroy();
        reject(error);
      }
    });
  }).finally(() => {
    isDone = true;
    clearTimeout(timer);
  });
  // Avoids an unhandled rejection if it is not awaited yet.
  done.catch(() => {});
  return {
    done,
    finish: () => {
      if (!isDone) timer = setTimeout(() => output.destroy(), DRAIN_TIMEOUT_MS);
    },
  };
}

/** Receives a chunk of a container's output. */
type WriteOutput = (stream: 'stdout' | 'stderr', chunk: Buffer) => void;

/** Passes output on and keeps its first 1,000 characters, where a runtime reports why a program could not start. */
export function remembering(write: WriteOutput): { readonly write: WriteOutput; readonly beginning: () => string } {
  let kept = '';
  return {
    write: (stream, chunk) => {
      if (kept.length < 1000) kept += chunk.toString();
      write(stream, chunk);
    },
    beginning: () => kept.slice(0, 1000),
  };
}

const HEADER_LENGTH = 8;

/**
 * Splits the stream of a container without a terminal into frames: a header (stream number, three zeros, length in four
 * bytes) and the payload. Partial frames are passed on at once, so that nothing accumulates. Source: Docker Engine API,
 * "Attach to a container", stream format.
 */
export function demultiplexer(write: WriteOutput): (chunk: Buffer) => void {
  const header = Buffer.alloc(HEADER_LENGTH);
  let filled = 0;
  let left = 0;
  return (chunk) => {
    for (let at = 0; at < chunk.length; ) {
      if (left > 0) {
        const part = chunk.subarray(at, at + left);
        write(header[0] === 1 ? 'stdout' : 'stderr', part);
        left -= part.length;
        at += part.length;
      } else {
        const copied = chunk.copy(header, filled, at);
        at += copied;
        filled = (filled + copied) % HEADER_LENGTH;
        if (filled === 0) left = header.readUInt32BE(4);
      }
    }
  };
}

/** Resolves to the exit code of a container. A daemon that was lost and returns at once may still know it. */
export async function containerExitCode(container: Container, { docker, over }: Daemon): Promise<number> {
  try {
    const { text } = await ask(docker, 'POST', `/containers/${container.id}/wait`, over);
    const { StatusCode: exitCode } = objectIn<{ StatusCode: number }>(text);
    if (exitCode !== undefined) return exitCode;
    throw Object.assign(new Error('an answer without an end'), { code: 'ECONNRESET' });
  } catch (error) {
    if (over.aborted) throw error;
    const { State } = await container.inspect({ abortSignal: over });
    if (State.Running) throw error;
    return State.ExitCode;
  }
}

/** The outcome of a container that has ended: examines a SIGKILL that was not requested and that its state does not explain. */
export async function endedOutcome(
  container: Container,
  exitCode: number,
  { daemon, attempt }: { readonly daemon: Daemon; readonly attempt: Attempt },
): Promise<Outcome> {
  const { State, HostConfig } = await container.inspect({ abortSignal: daemon.over });
  const isExplained = State.OOMKilled || exitCode !== KILLED_CODE || isAskedToEnd(attempt);
  const isOutOfMemory = State.OOMKilled || (!isExplained && (await isToldLate(container, daemon, State)));
  if (!isOutOfMemory) return exitOutcome(exitCode);
  const limit = HostConfig.Memory ?? 0;
  const limitText = limit > 0 ? ` (the limit is ${Math.round(limit / 1024 ** 2)} MiB)` : '';
  return exitOutcome(exitCode, `out of memory${limitText}`);
}

/** Longest delay between a container's end and the reason for it, by the daemon's clock; and the time limit of the query. */
const LATENESS_SECONDS = 0.5;
const EVENT_TIMEOUT_MS = 2000;

/** The daemon learns of an out-of-memory kill separately: after the end of the container only an event reports it. */
function isToldLate(
  { id }: Container,
  { docker, over }: Daemon,
  times: { readonly StartedAt: string; readonly FinishedAt: string },
): Promise<boolean> {
  const [since, until] = [Date.parse(times.StartedAt) / 1000, Date.parse(times.FinishedAt) / 1000 + LATENESS_SECONDS];
  const filters = { container: [id], event: ['oom'] };
  return withTimeLimit(EVENT_TIMEOUT_MS, over, async (abortSignal) => {
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

/** Exit code of a program killed by SIGKILL. */
const KILLED_CODE = 137;

/** The outcome for an exit code in a container; `cause`: that of a kill. */
export function exitOutcome(exitCode: number, cause = exitCode === KILLED_CODE ? 'killed (SIGKILL)' : null): Outcome {
  if (exitCode === 0) return { status: 'succeeded', exitCode, outputs: {} };
  const message = cause === null ? `exit ${exitCode}` : `exit ${exitCode}: ${cause}`;
  return { status: 'failed', reason: 'exit', message, exitCode, signal: null, outputs: {} };
}

/**
 * Explains why a container could not start its program, from the message of the runtime, with the exit code a shell
 * would return: 127 not found, 126 not executable. Null for other causes. `where` names the image or container.
 */
export function programProblem(message: string, where: string): DockerProblem | null {
  const [, program, why = ''] = /exec: ("(?:[^"\\]|\\.)*"): (.*)$/m.exec(message) ?? [];
  if (program === undefined) return null;
  if (/executable file not found|no such file or directory/.test(why)) {
    return new DockerProblem(`${program} does not exist in ${where}`, 127);
  }
  return new DockerProblem(`${program} cannot be executed in ${where}: ${plain(why)}`, 126);
}

/** The same for everything that keeps a command from starting in a running container, such as a missing directory. */
export function startProblem(message: string, where: string): DockerProblem | null {
  const problem = programProblem(message, where);
  const [, why] = REFUSAL.exec(message) ?? [];
  if (problem !== null || why === undefined) return problem;
  return new DockerProblem(`the command could not start in ${where}: ${plain(why.trim())}`, 126);
}

/** The prefix of the runtime's message depends on its version. */
const REFUSAL =
  /^OCI runtime exec failed: (?:exec failed: )?(?:unable to start container process: |.*starting container process caused: )?(.+)$/m;

/** The same for a program that the init process of a container could not start. Source: tini, which Docker calls docker-init. */
export function initProblem(printed: string, exitCode: number, where: string): DockerProblem | null {
  if (exitCode !== 127 && exitCode !== 126) return null;
  const [, program, why = ''] = /^\[FATAL tini \(\d+\)\] exec (.*) failed: (.*)$/m.exec(printed) ?? [];
  if (program === undefined) return null;
  return programProblem(`exec: ${JSON.stringify(program)}: ${why.trim().toLowerCase()}`, where);
}

/** The runtime appends ": unknown" to unclassified errors. */
function plain(why: string): string {
  return why.replace(/: unknown$/, '');
}
