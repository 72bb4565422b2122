import { closeSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { areDescriptorsScarce } from '../../../descriptors.ts';
import { removeIfPossible } from '../../../remove-file.ts';
import { type SystemProblem, systemProblem, systemReason } from '../../../system-problem.ts';
import { errorCode, makePrivateDirectory, openPrivate } from './private-files.ts';

/** As much as a start writes at least. */
const trial = Buffer.alloc(16 * 1024);
/** Anyone may ask, which must not keep the disk busy. */
const keptMs = 1000;

/**
 * Finds out what the machine would refuse a start, by writing a file in a directory and removing it; null for nothing. The message
 * names no path.
 */
export function createTrialWrite(directory: string, now: () => number): () => SystemProblem | null {
  let last: { readonly at: number; readonly problem: SystemProblem | null } | null = null;
  return () => {
    const at = now();
    if (last === null || at < last.at || at - last.at >= keptMs) last = { at, problem: tryOut(directory) };
    return last.problem;
  };
}

function tryOut(directory: string): SystemProblem | null {
  if (areDescriptorsScarce()) return { message: 'too many open files', help: null, status: 503 };
  const path = join(directory, `.trial-${process.pid}`);
  try {
    makePrivateDirectory(directory);
    const fd = openPrivate(path, 'w');
    try {
      for (let written = 0; written < trial.length; ) written += writeSync(fd, trial, written);
    } finally {
      closeSync(fd);
    }
    return null;
  } catch (error) {
    const message = systemReason(errorCode(error) ?? '') ?? 'the home of wf cannot be written';
    return { message, help: null, status: systemProblem(error)?.status ?? 503 };
  } finally {
    removeIfPossible(path);
  }
}
