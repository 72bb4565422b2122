import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { WfError } from '../../../errors.ts';
import type { AttemptLog } from '../../../executors/executor.ts';
import type { RunJournal } from '../../../store/store.ts';

/** Opens an attempt's log; where the disk refuses, the step can run all the same, and what it prints is lost. */
export function openLog(
  journal: RunJournal,
  step: string,
  attempt: number,
): { readonly log: AttemptLog; readonly problem: string | null } {
  try {
    return { log: journal.openLog(step, attempt), problem: null };
  } catch (error) {
    if (!(error instanceof WfError)) throw error;
    return { log: nullLog(), problem: error.message };
  }
}

function nullLog(): AttemptLog {
  const stdoutFd = openSync(devNull, 'a');
  try {
    return { isDirect: true, stdoutPath: devNull, stderrPath: devNull, stdoutFd, stderrFd: openSync(devNull, 'a') };
  } catch (error) {
    closeSync(stdoutFd);
    throw error;
  }
}

/** What is told of a step whose log the disk refuses. */
export function notKept(step: string, why: string): string {
  return `the output of "${step}" is not kept: ${why}`;
}
