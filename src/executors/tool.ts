import type { Writable } from 'node:stream';
import type { Outcome } from '#core/run/run.ts';
import type { Program } from '#processes/spawn-problem.ts';
import { runProcess } from '#processes/subprocess.ts';
import type { Attempt } from './executor.ts';

/** Runs a program that may not be installed; if it is not, the outcome explains with `install` how to get it. */
export async function runTool(
  attempt: Attempt,
  program: Program,
  { install, feed }: { readonly install: string; readonly feed?: (input: Writable) => void },
): Promise<Outcome> {
  const outcome = await runProcess(attempt, program, feed);
  if (outcome.status !== 'failed' || !outcome.message.startsWith('command not found')) return outcome;
  return { ...outcome, message: `${outcome.message}: ${install}` };
}

/**
 * Replaces SIGTERM by SIGINT, for programs that clean up only after SIGINT. A SIGTERM that was set explicitly cannot be
 * distinguished from the default; for these programs there is no reason to set it.
 */
export function stoppedByInterrupt(attempt: Attempt): Attempt {
  const { step } = attempt;
  return step.signalOnStop === 'SIGTERM' ? { ...attempt, step: { ...step, signalOnStop: 'SIGINT' } } : attempt;
}

/** Whether an environment asks for colours. */
export function wantsColor({ FORCE_COLOR: force = '', NO_COLOR: no = '' }: Attempt['env']): boolean {
  return force !== '' && force !== '0' && force !== 'false' && no === '';
}
