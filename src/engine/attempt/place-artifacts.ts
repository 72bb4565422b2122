import { posix } from 'node:path';
import { expandText } from '#core/words/interpolate.ts';
import { systemProblem, WfError } from '#system/errors.ts';
import { FileCopier, placeBelow } from '#system/trees/copy-file.ts';
import { OpenDirectory } from '#system/trees/open-directory.ts';
import { filePattern, walkFiles } from '#system/trees/walk-files.ts';
import type { PlacedDirectory } from '../driver/step-task.ts';
import type { AttemptContext, StepScope } from './attempt-context.ts';
import { isBelow } from './keep-artifacts.ts';

/**
 * Copies files that earlier steps have kept below the directory of a step, in the place of those of the same names, until the
 * attempt is asked to end. Returns why the attempt fails; null if it may begin. Throws a `PathProblem` as other texts of a step do.
 */
export async function placeArtifacts(
  placed: readonly PlacedDirectory[],
  context: AttemptContext,
  { scope, cwd }: Pick<StepScope, 'scope' | 'cwd'>,
): Promise<string | null> {
  const copier = new FileCopier();
  for (const { from, to, directory } of placed) {
    const target = expandText(to, scope);
    if (!isBelow(target)) return `"${target}" of "artifacts" is not below the directory of the step`;
    try {
      const problem = await placeTree({ from, directory, target }, { copier, cwd, context });
      if (problem !== null) return problem;
    } catch (error) {
      const reason = error instanceof WfError ? error.message : systemProblem(error)?.message;
      if (reason === undefined) throw error;
      return `the artifacts of "${from}" cannot be placed: ${reason}`;
    }
  }
  return null;
}

type Tree = { readonly from: string; readonly directory: string | null; readonly target: string };
type Tools = { readonly copier: FileCopier; readonly cwd: string; readonly context: AttemptContext };

async function placeTree({ from, directory, target }: Tree, { copier, cwd, context }: Tools): Promise<string | null> {
  const { signal, warn } = context;
  const root = directory === null ? null : OpenDirectory.openIfThere(directory);
  if (root === null) {
    warn(`"${from}" has kept no artifacts`);
    return null;
  }
  let problem: string | null = null;
  let count = 0;
  try {
    await walkFiles(root, [filePattern('.')], {
      file: async (path, fd) => {
        count += 1;
        await placeBelow(cwd, posix.join(target, path), { source: fd }, { copier, signal });
      },
      unopened: (path) => {
        problem ??= `the artifact ${JSON.stringify(path)} of "${from}" cannot be read`;
      },
      signal,
    });
  } finally {
    root.close();
  }
  if (count === 0 && problem === null && !signal.aborted) warn(`"${from}" has kept no artifacts`);
  return problem;
}
