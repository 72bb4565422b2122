import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Check } from './check.ts';

/** The user's directories; null if the user has no home directory. */
export type CheckedPlaces = {
  readonly configDir: string | null;
  readonly dagsDir: string | null;
  readonly runsDir: string | null;
  readonly cacheDir: string | null;
  /** Directories that commands ignore because other users can change them. */
  readonly untrusted: readonly { readonly path: string; readonly why: string; readonly help: string }[];
};

/** Checks whether the directories of a run can be read and written, without writing to them. */
export function checkPlaces({ configDir, dagsDir, runsDir, cacheDir, untrusted }: CheckedPlaces): readonly Check[] {
  return [
    checkDirectory('configuration', configDir),
    checkDirectory('workflows', dagsDir),
    checkDirectory('runs', runsDir),
    checkCache(cacheDir),
    ...untrusted.map(({ path, why, help }) => {
      return { name: 'home', ok: false, version: null, detail: `${path}: not used, ${why}`, help };
    }),
    checkUmask(),
    checkProc(),
  ];
}

/** A missing directory counts as usable if it can be created. */
function checkDirectory(name: string, path: string | null): Check {
  const check = { name, version: null };
  if (path === null) return { ...check, ok: false, detail: 'there is no home directory', help: 'set HOME or WF_HOME' };
  const existing = nearestExisting(path);
  const problem = directoryProblem(existing);
  if (problem === null)
    return { ...check, ok: true, detail: existing === path ? path : `${path} (not created yet)`, help: null };
  const help = 'change its owner or mode, or set WF_HOME to a directory that can be written';
  return { ...check, ok: false, detail: `${path}: "${existing}" ${problem}`, help };
}

/** The launcher loads no code that other users could have written. */
function checkCache(path: string | null): Check {
  const check = checkDirectory('code cache', path);
  if (path === null || !check.ok || !existsSync(path) || (statSync(path).mode & 0o022) === 0) return check;
  return { ...check, ok: false, detail: `${path}: not used, since others can write there`, help: `chmod go-w ${path}` };
}

function nearestExisting(path: string): string {
  const parent = dirname(path);
  return parent === path || existsSync(path) ? path : nearestExisting(parent);
}

function directoryProblem(path: string): string | null {
  try {
    if (!statSync(path).isDirectory()) return 'is not a directory';
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return null;
  } catch {
    return 'cannot be written';
  }
}

/** Stored runs are private whatever the umask; files made by steps are not corrected. */
function checkUmask(): Check {
  const umask = process.umask();
  const [name, version, detail] = ['umask', null, umask.toString(8).padStart(4, '0')];
  if ((umask & 0o700) !== 0) {
    return {
      name,
      version,
      ok: false,
      detail: `${detail}: steps cannot use the files they make`,
      help: 'set umask 077 or 022',
    };
  }
  if ((umask & 0o002) === 0) {
    return {
      name,
      version,
      ok: false,
      detail: `${detail}: all users can change the files that steps make`,
      help: 'set umask 022',
    };
  }
  return { name, version, ok: true, detail, help: null };
}

/**
 * Without /proc a process cannot be distinguished from a later one with the same number, nor leftovers of steps be
 * found.
 */
function checkProc(): Check {
  const [name, version] = ['/proc', null];
  try {
    readFileSync(join('/proc', String(process.pid), 'stat'));
    return { name, version, ok: true, detail: 'processes can be identified', help: null };
  } catch {
    const detail = 'missing: background processes of steps may not be found';
    return { name, version, ok: false, detail, help: 'mount it: mount -t proc proc /proc' };
  }
}
