import { createHash, randomBytes } from 'node:crypto';
import { linkSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode, tryOr } from '#system/errors.ts';
import { removeFile } from '#system/files.ts';
import type { Cleared, FingerprintStore, StoredHashes, StoredSuccess } from '../../store.ts';
import {
  ifThere,
  makePrivateDirectory,
  namesIn,
  readIfThere,
  replacePrivate,
  sealedLine,
  sizeOf,
  storing,
  unseal,
  writePrivate,
} from '../disk/private-files.ts';

/*
 * `fingerprints/FILE/STEP.*`, where FILE and STEP are hashes of the path of the workflow file and of the name of the step:
 *
 *   STEP.json    the last success, with the token of its attempt
 *   STEP.begun   the token of the last attempt that began: only a success with this token counts
 *   STEP.hashes  hashes of files, which can be computed again
 *
 * `fingerprints/key` is the key of the hashes of values.
 */

const FORMAT = 1;
const KEY_BYTES = 32;

/** What a file of a success contains. */
type Written = StoredSuccess & {
  readonly format: number;
  readonly file: string;
  readonly step: string;
  readonly token: string;
};

/** The directory of the fingerprints of a home, by that of its runs. */
export function fingerprintsPath(runsDir: string): string {
  return join(runsDir, '..', 'fingerprints');
}

/** The fingerprints of the steps of a workflow file, below the directory `root`, which is created on first use. */
export function createFingerprints(root: string, file: string): FingerprintStore {
  const directory = join(root, nameOf(file));
  const pathOf = (step: string, kind: string) => join(directory, `${nameOf(step)}.${kind}`);
  const replace = (path: string, text: string) =>
    storing('write', path, () => {
      makePrivateDirectory(directory);
      replacePrivate(path, text, `${path}.${process.pid}-${randomBytes(4).toString('hex')}`);
    });
  const begun = (step: string) => {
    const path = pathOf(step, 'begun');
    return storing('read', path, () => readIfThere(path));
  };
  const begin = (step: string) => {
    const token = randomBytes(16).toString('hex');
    replace(pathOf(step, 'begun'), token);
    return token;
  };
  return {
    key: () => keyIn(root),
    read: (step) => {
      const path = pathOf(step, 'json');
      const written = tryOr('damaged', () => readSuccess(path, file, step));
      if (written === null) return { success: null, isCurrent: false, damage: null };
      if (written === 'damaged') return { success: null, isCurrent: false, damage: `"${path}" is damaged` };
      return { success: written, isCurrent: tryOr(null, () => begun(step)) === written.token, damage: null };
    },
    hashes: (step) => createHashes(pathOf(step, 'hashes'), replace),
    begin,
    end: (step, token, success) => {
      if (begun(step) !== token) {
        begin(step);
        return false;
      }
      if (success === null) return true;
      const path = pathOf(step, 'json');
      const written: Written = { format: FORMAT, file, step, token, ...success };
      replace(path, sealedLine(written));
      return true;
    },
  };
}

/**
 * Removes the fingerprints of the steps of a workflow file (null: of all), but not the key. `dryRun`: only counts them. Throws a
 * `WfError` `storage`.
 */
export function clearFingerprints(root: string, file: string | null, dryRun: boolean): Cleared {
  return storing('clear', root, () => {
    const all = namesIn(root).filter((name) => !name.startsWith('key') && (file === null || name === nameOf(file)));
    const files = all.flatMap((name) => namesIn(join(root, name)).map((inner) => join(root, name, inner)));
    const bytes = files.reduce((sum, path) => sum + sizeOf(path), 0);
    if (!dryRun) for (const path of files) removeFile(path);
    return { count: files.filter((path) => path.endsWith('.json')).length, bytes };
  });
}

function nameOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** Returns the stored success of a step; null: none is stored. */
function readSuccess(path: string, file: string, step: string): Written | 'damaged' | null {
  const bytes = ifThere(() => readFileSync(path));
  if (bytes === null) return null;
  const written = unseal(bytes.subarray(0, -1)) as Written | undefined;
  const isOurs = written?.format === FORMAT && written.file === file && written.step === step;
  return isOurs ? written : 'damaged';
}

/** The key of this home. The first process that needs it creates it. */
function keyIn(root: string): Buffer {
  const path = join(root, 'key');
  return storing('read', path, () => {
    const found = ifThere(() => readFileSync(path));
    if (found?.length === KEY_BYTES) return found;
    if (found !== null) removeFile(path);
    makePrivateDirectory(root);
    const draft = `${path}.${process.pid}-${randomBytes(4).toString('hex')}`;
    writePrivate(draft, randomBytes(KEY_BYTES));
    try {
      linkSync(draft, path);
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    } finally {
      removeFile(draft);
    }
    return readFileSync(path);
  });
}

/** A line for each file: its stamp, a blank, the hash of its content. */
function createHashes(path: string, replace: (path: string, text: string) => void): StoredHashes {
  const lines = (tryOr(null, () => readIfThere(path)) ?? '').split('\n');
  const isWhole = (line: string) => / [0-9a-f]{64}$/.test(line);
  const known = new Map(lines.filter(isWhole).map((line) => [line.slice(0, -65), line.slice(-64)] as const));
  const used = new Map<string, string>();
  return {
    get: (stamp) => {
      const hash = known.get(stamp);
      if (hash !== undefined) used.set(stamp, hash);
      return hash;
    },
    set: (stamp, hash) => used.set(stamp, hash),
    save: () => {
      const isSame = used.size === known.size && Array.from(used.keys()).every((stamp) => known.has(stamp));
      if (!isSame) replace(path, Array.from(used, ([stamp, hash]) => `${stamp} ${hash}\n`).join(''));
    },
  };
}
