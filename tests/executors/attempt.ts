import { randomUUID } from 'node:crypto';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Outcome, ProcessIdentity } from '#core/run/run.ts';
import { expandText } from '#core/words/interpolate.ts';
import type { Step } from '#core/workflow.ts';
import { RunParts } from '#engine/attempt/shared-parts.ts';
import { executor } from '#executors/command/command.ts';
import type { Attempt, Containment } from '#executors/executor.ts';
import { sendSignal } from '#processes/attempt-tree.ts';
import { EndSignal } from '#processes/end-signal.ts';
import { identify, isAlive } from '#processes/process-identity.ts';
import { findRunProcesses } from '#processes/process-tree.ts';
import { step, workflow } from '../support/workflow.ts';

/** The settings of a test's attempt; everything else is as for a step with only a name. */
type Settings = {
  readonly step?: Partial<Omit<Step, 'name'>> | undefined;
  readonly name?: string;
  readonly runId?: string;
  readonly params?: readonly string[];
  readonly variables?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly runWorkflow?: Attempt['runWorkflow'];
  readonly flush?: Attempt['flush'];
  /** Values to be masked. */
  readonly secrets?: readonly string[];
};

/** An attempt at a step in a directory of its own, with the means to observe and end it. */
export type TestAttempt = {
  readonly attempt: Attempt;
  readonly dir: string;
  readonly started: readonly (ProcessIdentity | null)[];
  readonly containments: readonly Containment[];
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly stop: () => void;
  readonly kill: () => void;
  /** The living processes of the attempt's run. */
  readonly processes: () => readonly ProcessIdentity[];
};

/** A program of `fixtures/programs`. */
export function program(name: string): string {
  return resolve(import.meta.dirname, '../../fixtures/programs', name);
}

/** A temporary directory, removed after the test. */
export function temporaryDirectory(): string {
  const dir = mkdtempSync(join(tmpdir(), 'wf-test-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** Creates an attempt. After the test its log is closed, its processes are killed and its directory is removed. */
export function testAttempt(settings: Settings = {}): TestAttempt {
  const dir = temporaryDirectory();
  const { name = 'a step', runId = randomUUID(), params = [], variables = {}, cwd = dir, secrets = [] } = settings;
  const log = { stdoutPath: join(dir, 'stdout.log'), stderrPath: join(dir, 'stderr.log') };
  const [stdoutFd, stderrFd] = [openSync(log.stdoutPath, 'a'), openSync(log.stderrPath, 'a')];
  const [end, kill] = [new EndSignal(), new EndSignal()];
  const started: (ProcessIdentity | null)[] = [];
  const containments: Containment[] = [];
  const parts = new RunParts();
  const processes = () =>
    findRunProcesses({ runId, logs: dir }, { recorded: started.filter((identity) => identity !== null) });
  const scope = (variable: string) => variables[variable] ?? params[Number(variable) - 1];
  const attempt: Attempt = {
    runId,
    workflow: workflow(),
    step: step(name, settings.step ?? {}),
    number: 1,
    cwd,
    env: { PATH: process.env['PATH'] ?? '', ...variables, WF_RUN_ID: runId, WF_STEP: name },
    params,
    scope,
    expand: (text) => expandText(text, scope),
    holdsSecret: (text) => secrets.some((secret) => text.includes(secret)),
    log: { ...log, isDirect: true, files: log, stdoutFd, stderrFd },
    write: (stream, chunk) => void writeSync(stream === 'stdout' ? stdoutFd : stderrFd, chunk.toString()),
    started: (identity) => started.push(identity),
    contained: (containment) => containments.push(containment),
    shared: parts.forAttempt(() => ({ scope, env: variables, expand: (text) => expandText(text, scope) })),
    scratch: () => {
      mkdirSync(join(dir, 'scratch'), { mode: 0o700, recursive: true });
      return join(dir, 'scratch');
    },
    flush: settings.flush ?? null,
    slot: null,
    signal: end,
    kill,
    runWorkflow: settings.runWorkflow ?? (() => Promise.reject(new Error('no workflow to run'))),
  };
  onTestFinished(() => void parts.close(true));
  onTestFinished(() => {
    for (const left of processes()) sendSignal(left, 'SIGKILL');
    closeSync(stdoutFd);
    closeSync(stderrFd);
  });
  return {
    attempt,
    dir,
    started,
    containments,
    stdout: () => readFileSync(log.stdoutPath, 'utf8'),
    stderr: () => readFileSync(log.stderrPath, 'utf8'),
    stop: () => end.abort('stop'),
    kill: () => kill.abort('stop'),
    processes,
  };
}

/** Runs a step's command or script to its end. */
export async function runStep(step: Settings['step'], settings: Omit<Settings, 'step'> = {}) {
  const world = testAttempt({ ...settings, step });
  const outcome = await executor.run({}, world.attempt);
  return { ...world, outcome, stdout: world.stdout(), stderr: world.stderr() };
}

/** The outcome of a process with exit code 0. */
export const succeeded: Outcome = { status: 'succeeded', exitCode: 0, outputs: {} };

/** The outcome of a step that failed without a signal. */
export function failed(reason: 'exit' | 'error', message: string, exitCode: number | null = null): Outcome {
  return { status: 'failed', reason, message, exitCode, signal: null, outputs: {} };
}

/** The outcome of a process ended by a signal. */
export function killed(signal: NodeJS.Signals): Outcome {
  const exitCode = 128 + constants.signals[signal];
  return { status: 'failed', reason: 'signal', message: `killed by ${signal}`, exitCode, signal, outputs: {} };
}

/** Resolves once a condition holds; vitest's time limit ends the wait otherwise. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resume) => setTimeout(resume, 5));
}

/** The content of a file once it exists. */
export async function fileText(path: string): Promise<string> {
  let text: string | undefined;
  await until(() => {
    text = readIfExists(path);
    return text !== undefined && text !== '';
  });
  return text ?? '';
}

/** Whether a process with this number is running. */
export function runs(pid: number): boolean {
  const identity = identify(pid);
  return identity !== null && isAlive(identity);
}

function readIfExists(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
