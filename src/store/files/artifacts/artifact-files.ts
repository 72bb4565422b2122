import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { splitInstanceName } from '#core/fan-out/instance-name.ts';
import { removeDirectory } from '#system/files.ts';
import { OpenDirectory } from '#system/trees/open-directory.ts';
import type { ArtifactStore, StoredArtifacts } from '../../store.ts';
import { makePrivateDirectory, storing } from '../disk/private-files.ts';

/*
 * The kept files of a run: `artifacts/STEP/...`, of an instance `artifacts/STEP/KEY/...`. An attempt collects its files in the
 * scratch directory of the run; one rename gives them their place.
 */

/** The path of the kept files of a run. */
export function artifactsPath(directory: string): string {
  return join(directory, 'artifacts');
}

/** The longest name of a folder, in bytes. */
const LONGEST_NAME = 255;

/** The folder of a step, or of the key of an instance: its name where that is plain, else with `%` escapes. */
function folderName(name: string): string {
  const escaped = encodeURIComponent(name).replace(/^\./, '%2E');
  if (escaped.length <= LONGEST_NAME) return escaped;
  const digest = createHash('sha256').update(name).digest('hex');
  return `${escaped.slice(0, LONGEST_NAME - digest.length - 1)}~${digest}`;
}

/** The folders that lead to the artifacts of a step or an instance. */
function foldersOf(step: string): readonly string[] {
  const { step: fanOut, key } = splitInstanceName(step) ?? { step, key: null };
  return [fanOut, ...(key === null ? [] : [key])].map(folderName);
}

/** The artifacts of a run for its owner, below the directory `root`, which is created with the first of them. */
export function createArtifacts(root: string, scratch: () => string): ArtifactStore {
  const stage = () => {
    const parent = scratch();
    return storing('create a directory in', parent, () => mkdtempSync(join(parent, 'artifacts-')));
  };
  return {
    stage,
    replace: (step, staged) => {
      const target = join(root, ...foldersOf(step));
      storing('write', target, () => {
        if (existsSync(target)) {
          // A directory with files cannot be replaced by a rename.
          const before = stage();
          renameSync(target, before);
          removeDirectory(before);
        }
        if (staged === null) return;
        makePrivateDirectory(dirname(target));
        renameSync(staged, target);
      });
    },
  };
}

/** The artifacts of a run for readers. */
export function readArtifacts(directory: string): StoredArtifacts {
  const root = artifactsPath(directory);
  return {
    directory: root,
    open: (step, path) =>
      storing('read', root, () => {
        if (!existsSync(root)) return null;
        const opened = OpenDirectory.open(root);
        try {
          return opened.fileAt([...foldersOf(step), ...path.split('/')]);
        } finally {
          opened.close();
        }
      }),
  };
}
