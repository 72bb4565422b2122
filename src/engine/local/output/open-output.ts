import { closeSync, openSync } from 'node:fs';
import type { Step } from '../../../core/workflow.ts';
import { messageOf, WfError } from '../../../errors.ts';
import type { AttemptLog } from '../../../executors/executor.ts';
import type { LogStream } from '../../../store/logs.ts';
import type { RunJournal } from '../../../store/store.ts';
import type { LocalEngineOptions } from '../engine-options.ts';
import type { RunSecrets } from '../environment/run-secrets.ts';
import { type AttemptOutput, directOutput } from './attempt-output.ts';
import type { MaskedOutputs } from './masked-output.ts';

/** Options for opening an attempt's output. */
export type OutputOptions = Pick<LocalEngineOptions, 'openPipes'> & {
  readonly journal: RunJournal;
  readonly secrets: RunSecrets;
  readonly outputs: MaskedOutputs;
  readonly warn: (step: string, message: string) => void;
  readonly maxOutputBytes: number;
};

/**
 * Opens the output of an attempt. Without secrets a process writes directly into its log; otherwise through a pipe that
 * masks. Sub-workflow steps are always masked, since a child run may report secrets of its own.
 */
export async function openOutput(
  step: Step,
  number: number,
  { openPipes, journal, secrets, outputs, warn, maxOutputBytes }: OutputOptions,
): Promise<AttemptOutput | { readonly problem: string }> {
  // Its instances have the output.
  if (step.fanOut !== undefined) return directOutput(nullLog(), maxOutputBytes);
  const { log, problem } = openLog(journal, step.name, number);
  if (problem !== null) {
    const key = (['output', 'stdout', 'stderr'] as const).find(
      (name) => step[name] !== null || (name === 'output' && keepsOf(step).length > 0),
    );
    if (key !== undefined) {
      directOutput(log, maxOutputBytes).close();
      return { problem: `"${key}" needs the log of the step: ${problem}` };
    }
    warn(step.name, notKept(step.name, problem));
  }
  const isOther = step.executor.type === 'workflow';
  if (!isOther && !secrets.areInPlay) return directOutput(log, maxOutputBytes);
  const names = step.output === null ? (step.published ?? []).map(({ key }) => key) : [step.output];
  const isSecret = names.some((name) => secrets.isSecret(name));
  const onFailure = (error: unknown) => warn(step.name, notKept(step.name, messageOf(error)));
  try {
    const pipes = isOther ? null : await openPipes(journal.scratch());
    return outputs.start(log, { pipes, keeps: keepsOf(step), isSecret, maxOutputBytes, onFailure });
  } catch (error) {
    directOutput(log, maxOutputBytes).close();
    return { problem: `the output cannot be masked: cannot create a pipe: ${messageOf(error)}` };
  }
}

/** The streams whose whole output becomes a value. */
function keepsOf({ output, published = [] }: Step): readonly LogStream[] {
  const streams = published.flatMap(({ value }) => ('from' in value && value.from !== 'file' ? [value.from] : []));
  return output === null ? streams : ['stdout', ...streams];
}

/** Opens an attempt's log. If the disk refuses, the step still runs and its output is lost. */
function openLog(
  journal: RunJournal,
  step: string,
  attempt: number,
): { readonly log: AttemptLog; readonly problem: string | null } {
  try {
    return { log: journal.logs.open(step, attempt), problem: null };
  } catch (error) {
    if (!(error instanceof WfError)) throw error;
    return { log: nullLog(), problem: error.message };
  }
}

const devNull = '/dev/null';

function nullLog(): AttemptLog {
  const stdoutFd = openSync(devNull, 'a');
  try {
    return { isDirect: true, stdoutPath: devNull, stderrPath: devNull, stdoutFd, stderrFd: openSync(devNull, 'a') };
  } catch (error) {
    closeSync(stdoutFd);
    throw error;
  }
}

/** Warning for a step whose log cannot be written. */
function notKept(step: string, why: string): string {
  return `the output of "${step}" is not stored: ${why}`;
}
