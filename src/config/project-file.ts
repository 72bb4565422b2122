import { realpathSync, statSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { whyUntrusted } from '#system/untrusted.ts';

/** The settings of a project. */
export type ProjectFile = {
  readonly path: string;
  /** Why the file is ignored; null if it is used. */
  readonly ignored: string | null;
};

/**
 * The nearest `.wf.yaml`, searched for from a directory upwards to the home directory, or to the root if the home is
 * not above. A file that another user owns or that every user can change is ignored: a user who can write to a
 * directory above (`/tmp`) must not decide what runs below it. Null if there is none.
 */
export function findProjectFile(cwd: string, env: NodeJS.ProcessEnv): ProjectFile | null {
  for (let directory = cwd; ; directory = dirname(directory)) {
    const path = join(directory, '.wf.yaml');
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat?.isFile()) return { path, ignored: whyUntrusted(stat, env) };
    if (directory === env['HOME'] || directory === dirname(directory)) return null;
  }
}

/** Whether a path is a directory or inside of it, after resolving symbolic links. */
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
