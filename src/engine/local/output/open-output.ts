import type { Step } from '../../../core/workflow.ts';
import type { RunJournal } from '../../../store/store.ts';
import type { LocalEngineOptions } from '../engine-options.ts';
import type { RunSecrets } from '../environment/run-secrets.ts';
import { type AttemptOutput, directOutput } from './attempt-output.ts';
import type { MaskedOutputs } from './masked-output.ts';
import { notKept, openLog } from './open-log.ts';

/** What an output is opened with. */
export type OutputOptions = Pick<LocalEngineOptions, 'openPipes'> & {
  readonly journal: RunJournal;
  readonly secrets: RunSecrets;
  readonly outputs: MaskedOutputs;
  readonly warn: (step: string, message: string) => void;
};

/**
 * Opens where an attempt's output goes. Where nothing is secret a process writes straight into its log; else through a
 * pipe and a mask. What another workflow tells may hold its secrets, so that is always masked.
 */
export async function openOutput(
  step: Step,
  number: number,
  { openPipes, journal, secrets, outputs, warn }: OutputOptions,
): Promise<AttemptOutput | { readonly problem: string }> {
  const { log, problem } = openLog(journal, step.name, number);
  if (problem !== null) {
    const key = (['output', 'stdout', 'stderr'] as const).find((name) => step[name] !== null);
    if (key !== undefined) {
      directOutput(log).close();
      return { problem: `"${key}" needs the log of the step: ${problem}` };
    }
    warn(step.name, notKept(step.name, problem));
  }
  const isOther = step.executor.type === 'workflow';
  if (!isOther && !secrets.areInPlay) return directOutput(log);
  const output = step.output === null ? null : secrets.isSecret(step.output) ? 'secret' : 'shown';
  const onFailure = (error: unknown) => warn(step.name, notKept(step.name, reasonOf(error)));
  try {
    const pipes = isOther ? null : await openPipes(journal.scratch());
    return outputs.start(log, { pipes, output, onFailure });
  } catch (error) {
    directOutput(log).close();
    return { problem: `the output cannot be masked, since no pipe can be made for it: ${reasonOf(error)}` };
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
