import type { Writable } from 'node:stream';
import type { Outcome } from '../core/run/run.ts';
import type { Program } from '../processes/spawn-problem.ts';
import { runProcess } from '../processes/subprocess.ts';
import type { Attempt } from './executor.ts';

/** Runs a program that may well not be installed; where it is not, the outcome says with `install` how to get it. */
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
 * The attempt with SIGINT in the place of SIGTERM, for programs that clean up after the first and not after the second. That
 * SIGTERM is the default cannot be told from its being chosen, and for these nobody would choose it.
 */
export function stoppedByInterrupt(attempt: Attempt): Attempt {
  const { step } = attempt;
  return step.signalOnStop === 'SIGTERM' ? { ...attempt, step: { ...step, signalOnStop: 'SIGINT' } } : attempt;
}

/** Are colours shown where the output of a program with this environment goes? */
export function wantsColor({ FORCE_COLOR: force = '', NO_COLOR: no = '' }: Attempt['env']): boolean {
  return force !== '' && force !== '0' && force !== 'false' && no === '';
}

/** An outcome for settings with which nothing can be started. */
export function settingsProblem(message: string): Outcome {
  return { status: 'failed', reason: 'error', message, exitCode: null, signal: null, outputs: {} };
}
