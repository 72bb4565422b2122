import { realpathSync, statSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { whyUntrusted } from './trusted-files.ts';

/** The settings that a project brings along. */
export type ProjectFile = {
  readonly path: string;
  /** Why it does not count; null when it does. */
  readonly ignored: string | null;
};

/**
 * The nearest `.wf.yaml` from a directory upwards; the home directory is the last one that is looked at, or the root where
 * home is not above. One that somebody else owns, or that everybody can change, counts for nothing: whoever can write to a
 * directory above (`/tmp`) must not decide what is run below it. Null where there is none.
 */
export function findProjectFile(cwd: string, env: NodeJS.ProcessEnv): ProjectFile | null {
  for (let directory = cwd; ; directory = dirname(directory)) {
    const path = join(directory, '.wf.yaml');
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat?.isFile()) return { path, ignored: whyUntrusted(stat, env) };
    if (directory === env['HOME'] || directory === dirname(directory)) return null;
  }
}

/** Whether a path is a directory, or lies in it, once symbolic links are followed. */
export function isInside(path: string, directory: string): boolean {
  const inside = realPath(path);
  const around = realPath(directory);
  return inside === around || inside.startsWith(around === sep ? sep : `${around}${sep}`);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
