import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import type { RunSummary } from '../../core/run/summary.ts';
import type { Attempt } from '../../executors/executor.ts';
import { escapeControls } from '../../render/text/sanitize.ts';
import type { Console } from '../terminal/console.ts';
import { isInteractive } from '../terminal/interactive.ts';

/** What a step had when it failed. */
type StepPlace = Pick<Attempt, 'cwd' | 'env'> & { readonly executor: string };

/** `--shell-on-failure`: a shell for a person, with what the failed step had. */
export type FailureShell = {
  /** To be told of every attempt. */
  readonly attempt: (attempt: Attempt) => void;
  /** Once the run is over: opens the shell if a step has failed, and resolves when it was left. */
  readonly open: (summary: RunSummary) => Promise<void>;
};

/** See `FailureShell`. Where there is no terminal it says so, and opens nothing. */
export function createFailureShell(console: Console): FailureShell {
  const places = new Map<string, StepPlace>();
  const { err } = console;
  if (!isInteractive(console)) {
    err.write('wf: --shell-on-failure opens a shell only on a terminal, and none in CI: there will be none\n');
    return { attempt: () => {}, open: async () => {} };
  }
  return {
    attempt: ({ runId, step, cwd, env }) =>
      places.set(key(runId, step.name), { cwd, env, executor: step.executor.type }),
    open: async (summary) => {
      const failed = [...summary.steps, ...summary.handlers].filter(({ status }) => status === 'failed');
      const [name] = failed.map((step) => step.name).filter((step) => places.has(key(summary.runId, step)));
      const place = name === undefined ? undefined : places.get(key(summary.runId, name));
      if (failed[0] === undefined) return;
      if (name === undefined || place === undefined) {
        err.write(`no shell: step "${escapeControls(failed[0].name)}" failed before it had an environment\n`);
        return;
      }
      await Promise.all([console.out.drained(), err.drained()]);
      await runShell(name, place, console);
    },
  };
}

/** A step of a workflow that is run as a step has a name of its own there. */
function key(runId: string, step: string): string {
  return `${runId} ${step}`;
}

async function runShell(step: string, { cwd, env, executor }: StepPlace, { err, env: own }: Console): Promise<void> {
  const shell = own['SHELL'] || 'sh';
  const isThere = statSync(cwd, { throwIfNoEntry: false })?.isDirectory() ?? false;
  const dir = isThere ? cwd : process.cwd();
  const notes = [
    `${shell} in place of step "${escapeControls(step)}", with its environment, in ${escapeControls(dir)}`,
    ...(isThere ? [] : [`(the step's own directory ${escapeControls(cwd)} does not exist)`]),
    ...(executor === 'command' ? [] : [`(the step ran by "${executor}"; the shell is on this machine)`]),
    'The run is over and stays as it is. Leave with "exit" or Ctrl-D.',
  ];
  err.write(`\n${notes.join('\n')}\n`);
  await err.drained();
  const problem = await untilLeft(shell, dir, env);
  if (problem !== null) err.write(`wf: the shell "${shell}" could not be started: ${problem}\n`);
}

/** Ctrl-C is for the shell and what runs in it; a request to end is passed on. Null, or why there was no shell. */
function untilLeft(shell: string, cwd: string, env: StepPlace['env']): Promise<string | null> {
  return new Promise((resolve) => {
    // What it prints is for the person, also where our own output goes elsewhere.
    const child = spawn(shell, [], { cwd, env: { ...env }, stdio: ['inherit', 2, 2] });
    const hangUp = () => void child.kill('SIGHUP');
    const ignore = () => {};
    const end = (problem: string | null) => {
      process.off('SIGTERM', hangUp).off('SIGHUP', hangUp).off('SIGINT', ignore);
      resolve(problem);
    };
    process.on('SIGTERM', hangUp).on('SIGHUP', hangUp).on('SIGINT', ignore);
    child.once('error', (error) => end(error.message));
    child.once('close', () => end(null));
  });
}
