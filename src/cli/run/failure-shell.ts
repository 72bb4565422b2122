import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { failedSteps, type RunSummary } from '#core/summary/summary.ts';
import type { Attempt } from '#executors/executor.ts';
import { escapeControls } from '#render/text.ts';
import { isInteractive } from '../reporters/reporters.ts';
import type { Console } from '../terminal/console.ts';

type StepScope = Pick<Attempt, 'cwd' | 'env'> & { readonly executor: string };

/** Creates the shell of `--shell-on-failure`; without a terminal it prints a warning and opens nothing. */
export function createFailureShell(console: Console) {
  const scopes = new Map<string, StepScope>();
  const { err } = console;
  if (!isInteractive(console)) {
    err.write('wf: --shell-on-failure needs a terminal and does nothing in CI: no shell will open\n');
    return { attempt: () => {}, open: () => Promise.resolve() };
  }
  return {
    attempt: ({ runId, step, cwd, env }: Attempt) =>
      void scopes.set(key(runId, step.name), { cwd, env, executor: step.executor.type }),
    /** Call it when the run has finished: opens the shell if a step failed, and resolves when the user leaves it. */
    open: async (summary: RunSummary) => {
      const failed = failedSteps(summary);
      const [name] = failed.map((step) => step.name).filter((step) => scopes.has(key(summary.runId, step)));
      const scope = name === undefined ? undefined : scopes.get(key(summary.runId, name));
      if (failed[0] === undefined) return;
      if (name === undefined || scope === undefined) {
        err.write(`no shell: step "${escapeControls(failed[0].name)}" failed before it had an environment\n`);
        return;
      }
      await Promise.all([console.out.drained(), err.drained()]);
      await runShell(name, scope, console);
    },
  };
}

/** Steps are identified by their run too, since a sub-workflow may use the same names. */
function key(runId: string, step: string): string {
  return `${runId} ${step}`;
}

async function runShell(step: string, { cwd, env, executor }: StepScope, { err, env: own }: Console): Promise<void> {
  const shell = own['SHELL'] || 'sh';
  const isThere = statSync(cwd, { throwIfNoEntry: false })?.isDirectory() ?? false;
  const dir = isThere ? cwd : process.cwd();
  const notes = [
    `${shell} in place of step "${escapeControls(step)}", with its environment, in ${escapeControls(dir)}`,
    ...(isThere ? [] : [`(the step's own directory ${escapeControls(cwd)} does not exist)`]),
    ...(executor === 'command' ? [] : [`(the step ran by "${executor}"; the shell is on this machine)`]),
    'The run has finished and does not change. Leave with "exit" or Ctrl-D.',
  ];
  err.write(`\n${notes.join('\n')}\n`);
  await err.drained();
  const problem = await untilLeft(shell, dir, env);
  if (problem !== null) err.write(`wf: the shell "${shell}" could not be started: ${problem}\n`);
}

/** Leaves Ctrl-C to the shell and its programs, and passes SIGTERM on. Resolves to null, or to the reason why no shell started. */
function untilLeft(shell: string, cwd: string, env: StepScope['env']): Promise<string | null> {
  return new Promise((resolve) => {
    // The shell prints to the terminal, even if the output of wf is redirected.
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
