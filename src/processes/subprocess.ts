import type { ChildProcess, StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { access } from 'node:fs';
import { dirname } from 'node:path';
import type { Writable } from 'node:stream';
import type { Worker, WorkerOptions } from 'node:worker_threads';
import { failed } from '#core/run/outcome.ts';
import type { Outcome } from '#core/run/run.ts';
import { expandWords, parseCommand } from '#core/words/words.ts';
import type { Attempt, Scope } from '#executors/executor.ts';
import { uses } from '#fast/accelerators.ts';
import { os } from '#fast/os.ts';
import { AttemptTree } from './attempt-tree.ts';
import { canceled, isAskedToEnd } from './end-signal.ts';
import { startByHandle } from './process-handle.ts';
import { identityFor } from './process-identity.ts';
import { explainSpawnError, type ProcessEnd, type Program, type StartedProcess } from './started-program.ts';
import { ProgramStarter } from './starter/starter.ts';

let hasFileThreads = false;

/** Starts the threads with which Node reads files: later, at the limit of processes, Node would abort silently. */
function startFileThreads(): void {
  if (hasFileThreads) return;
  hasFileThreads = true;
  access('/', () => {});
}

/** Starts a thread. Throws an error that `systemProblem` knows where the limit of processes, which counts threads, is reached. */
export function startThread(file: string, options: WorkerOptions): Worker {
  startFileThreads();
  // Loaded with the first thread, like `child_process` below.
  const { Worker } = process.getBuiltinModule('node:worker_threads');
  try {
    return new Worker(file, options);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_WORKER_INIT_FAILED' || !message.includes('EAGAIN')) throw error;
    throw Object.assign(new Error(message, { cause: error }), { code: 'EAGAIN', syscall: 'spawn a thread' });
  }
}

/** Splits a `shell` setting into program and options (`bash -e`). Null if it contains more than that. */
export function shellWords(shell: string, scope: Scope): readonly string[] | null {
  const parsed = parseCommand(shell);
  const words = parsed.kind === 'words' ? expandWords(parsed.words, scope) : [];
  return words.length > 0 ? words : null;
}

/** The arguments that run an unchanged text in a shell; `params` become `$1`, `$2`..., never a part of the code. */
export function shellArgv(shell: readonly string[], code: string, params: readonly string[]): readonly string[] {
  // The shell would take a leading dash or plus for an option.
  const text = /^[-+]/.test(code) ? ` ${code}` : code;
  return [...shell, '-c', text, shell[0] ?? '', ...params];
}

const starter = new ProgramStarter();

/** Lets the starter of programs flush a file; see `ProgramStarter.flush`. */
export function queueFlush(path: string): Promise<number | null> | null {
  return starter.flush(path);
}

/**
 * Runs a program for an attempt. Its output goes directly into the attempt's log; it has a session and process group of
 * its own, and reads /dev/null unless `feed` writes its input. The attempt ends with the process, even if another process holds
 * the output open; after a stop, with the last process of its tree. Every failure is an outcome.
 */
export async function runProcess(
  attempt: Attempt,
  program: Program,
  feed?: (input: Writable) => void,
): Promise<Outcome> {
  const { workflow, log, flush, slot, signal } = attempt;
  if (isAskedToEnd(attempt)) return canceled;
  // A single program leaves nothing behind that could exhaust the process limit.
  if (workflow.steps.length > 1) startFileThreads();
  const expected = workflow.steps.length;
  const started =
    uses('starter') && feed === undefined && log.files !== null
      ? await starter.start(program, log.files, { expected, awaited: flush?.queued ?? null, slot, signal })
      : null;
  if (started === null) {
    if (flush !== null) await flush.done;
    const untilFree = slot?.free() ?? null;
    if (untilFree !== null) await untilFree;
    return isAskedToEnd(attempt) ? canceled : runChild(attempt, program, feed);
  }
  return 'error' in started ? spawnFailure(started.error, program) : follow(started, program, attempt);
}

/** Runs the program as a child of this process. */
async function runChild(attempt: Attempt, program: Program, feed?: (input: Writable) => void): Promise<Outcome> {
  const { stdoutFd, stderrFd } = attempt.log;
  const handled = uses('process-handle') && feed === undefined ? startByHandle(program, [stdoutFd, stderrFd]) : null;
  if (handled !== null) return follow({ ...handled, identity: identityFor(handled.pid) }, program, attempt);
  let child: ChildProcess;
  try {
    child = spawnDetached(program, [feed ? 'pipe' : 'ignore', stdoutFd, stderrFd]);
    if (child.pid === undefined) throw await failureOf(child);
  } catch (error) {
    return spawnFailure(error, program);
  }
  const { pid } = child;
  if (child.stdin !== null) feed?.(child.stdin);
  return follow({ identity: identityFor(pid), ended: exitOf(child), abandon: () => child.unref() }, program, attempt);
}

/** Starts a program in its own session and group: signals reach all it starts, and those of the terminal do not. */
export function spawnDetached({ argv: [file = '', ...args], cwd, env }: Program, stdio: StdioOptions): ChildProcess {
  // Loaded with the first program: commands that start none are faster without it.
  const { spawn } = process.getBuiltinModule('node:child_process');
  return spawn(file, args, { cwd, env, stdio, detached: true });
}

async function follow(started: StartedProcess, program: Program, attempt: Attempt): Promise<Outcome> {
  const { runId, step, signal, kill, log } = attempt;
  const stopSignal = step.signalOnStop as NodeJS.Signals;
  const marks = { runId, logs: dirname(log.stdoutPath), step: step.name };
  const tree = new AttemptTree(started.identity, { signal, kill, stopSignal, marks });
  try {
    attempt.started(started.identity);
    const end = await Promise.race([started.ended, tree.immortal]);
    if (end === undefined) return abandon(started);
    await tree.settled();
    return 'error' in end ? spawnFailure(end.error, program) : toOutcome(end);
  } finally {
    tree.release();
  }
}

/** Not `close`, which waits for every holder of the output. */
function exitOf(child: ChildProcess): Promise<ProcessEnd> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
}

/** Gives up on a process that cannot be killed, so that it does not keep this process alive. */
function abandon(started: StartedProcess): Outcome {
  started.abandon();
  const message = `process ${started.identity.pid} could not be ended: it belongs to another user or hangs in the kernel`;
  return failed(message);
}

async function failureOf(child: ChildProcess): Promise<unknown> {
  const [error] = await once(child, 'error').catch((thrown: unknown) => [thrown]);
  return error;
}

function spawnFailure(error: unknown, program: Program): Outcome {
  const { message, exitCode } = explainSpawnError(error, program);
  const reason = exitCode === null ? 'error' : 'exit';
  return { status: 'failed', reason, message, exitCode, signal: null, outputs: {} };
}

function toOutcome(end: ProcessEnd): Outcome {
  const { code, signal } = end;
  if (code === 0) return { status: 'succeeded', exitCode: 0, outputs: {} };
  const reason = signal === null ? 'exit' : 'signal';
  const exitCode = signal === null ? code : 128 + os().constants.signals[signal];
  return { status: 'failed', reason, message: describeEnd(end), exitCode, signal, outputs: {} };
}

/** Describes the end in one line: `exit 3`, `killed by SIGSEGV`. */
export function describeEnd({ code, signal }: ProcessEnd): string {
  return signal === null ? `exit ${code}` : `killed by ${signal}`;
}
