import { realpathSync, statSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';

/** The settings that a project brings along. */
export type ProjectFile = {
  readonly path: string;
  /** Why it does not count; null when it does. */
  readonly ignored: string | null;
};

const WRITABLE_BY_ALL = 0o002;

/**
 * The nearest `.wf.yaml` from a directory upwards; the home directory is the last one that is looked at, or the root where
 * home is not above. One that somebody else owns, or that everybody can change, counts for nothing: whoever can write to a
 * directory above (`/tmp`) must not decide what is run below it. Null where there is none.
 */
export function findProjectFile(cwd: string, env: NodeJS.ProcessEnv): ProjectFile | null {
  for (let directory = cwd; ; directory = dirname(directory)) {
    const path = join(directory, '.wf.yaml');
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat?.isFile()) return { path, ignored: whyIgnored(stat, env) };
    if (directory === env['HOME'] || directory === dirname(directory)) return null;
  }
}

/** `sudo` leaves the files of a project with the user who called it. */
function whyIgnored({ uid, mode }: { uid: number; mode: number }, env: NodeJS.ProcessEnv): string | null {
  const own = process.getuid?.();
  const isTrusted = own === undefined || uid === own || uid === 0 || (own === 0 && String(uid) === env['SUDO_UID']);
  if (!isTrusted) return 'it belongs to another user';
  return own !== undefined && (mode & WRITABLE_BY_ALL) !== 0 ? 'everybody can change it' : null;
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
