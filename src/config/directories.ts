import { realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { os } from '#fast/os.ts';
import { tryOr } from '#system/errors.ts';
import { whyUntrusted } from '#system/untrusted.ts';

/** The user's directories; null if the user has no home. All paths are absolute. */
export type UserDirectories = {
  /** Contains `config.yaml`, `base.yaml` and `dags/`. */
  readonly configDir: string | null;
  /** Contains the runs and the state of the daemon. */
  readonly stateDir: string | null;
};

/** Everything is in `WF_HOME` if set, otherwise in the XDG base directories or their defaults in the home directory. */
export function findDirectories(env: NodeJS.ProcessEnv, cwd: string): UserDirectories {
  // The password database has a home even if `HOME` is unset; a user without an entry has none.
  const home = env['HOME'] || tryOr(null, () => os().homedir() || null);
  const directory = (variable: string, fallback: string): string | null => {
    if (env['WF_HOME']) return resolve(cwd, env['WF_HOME']);
    // The specification requires relative values to be ignored.
    const base = env[variable]?.startsWith('/') ? env[variable] : home && join(home, fallback);
    return base ? join(base, 'wf') : null;
  };
  return { configDir: directory('XDG_CONFIG_HOME', '.config'), stateDir: directory('XDG_STATE_HOME', '.local/state') };
}

/** The launcher's directory for compiled code, by the same rules as in `bin/code-cache.js`; null if there is none. */
export function cacheDirectory(env: NodeJS.ProcessEnv, cwd: string): string | null {
  if (env['WF_HOME']) return resolve(cwd, env['WF_HOME'], 'cache');
  if (env['XDG_CACHE_HOME']?.startsWith('/')) return join(env['XDG_CACHE_HOME'], 'wf');
  return env['HOME']?.startsWith('/') ? join(env['HOME'], '.cache', 'wf') : null;
}

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
  const inside = tryOr(path, () => realpathSync(path));
  const around = tryOr(directory, () => realpathSync(directory));
  return inside === around || inside.startsWith(around === sep ? sep : `${around}${sep}`);
}
