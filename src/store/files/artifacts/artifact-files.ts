import { copyFileSync, existsSync, linkSync, mkdtempSync, readdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { splitInstanceName } from '#core/fan-out/instance-name.ts';
import { errorCode, isMissing, tryOr } from '#system/errors.ts';
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

/** The files that attempts on other machines collect, beside `artifactsPath` in the log store. */
export function stagedPath(logs: string): string {
  return join(logs, 'staged');
}

/** The longest name of a folder, in bytes. */
const LONGEST_NAME = 255;

/** The folder of a step, or of the key of an instance: its name where that is plain, else with `%` escapes. */
function folderName(name: string): string {
  const escaped = encodeURIComponent(name).replace(/^\./, '%2E');
  if (escaped.length <= LONGEST_NAME) return escaped;
  // Loaded only for such a name: most runs keep nothing.
  const { createHash } = process.getBuiltinModule('node:crypto');
  const digest = createHash('sha256').update(name).digest('hex');
  return `${escaped.slice(0, LONGEST_NAME - digest.length - 1)}~${digest}`;
}

/** The folders that lead to the artifacts of a step or an instance. */
function foldersOf(step: string): readonly string[] {
  const { step: fanOut, key } = splitInstanceName(step) ?? { step, key: null };
  return [fanOut, ...(key === null ? [] : [key])].map(folderName);
}

/**
 * The artifacts of a run for its owner, below the directory `root`, which is created with the first of them. `runsDir`: the
 * directory of all stored runs; null for a run that is not stored.
 */
export function createArtifacts(root: string, scratch: () => string, runsDir: string | null): ArtifactStore {
  const pathOf = (step: string) => join(root, ...foldersOf(step));
  const stage = () => {
    const parent = scratch();
    return storing('create a directory in', parent, () => mkdtempSync(join(parent, 'artifacts-')));
  };
  const replace = (step: string, staged: string | null) => {
    const target = pathOf(step);
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
  };
  return {
    stage,
    replace,
    open: opener(root),
    pathOf,
    ofRun: (runId) => (runsDir === null ? null : artifactsPath(join(runsDir, runId))),
    takeOver: (runId, step, files) => {
      const from = runsDir === null ? null : join(artifactsPath(join(runsDir, runId)), ...foldersOf(step));
      const staged = stage();
      const gone = storing('write', staged, () =>
        files.filter(({ path }) => from === null || !isLinked(join(from, path), join(staged, path))),
      );
      replace(step, staged);
      return gone;
    },
  };
}

/**
 * The artifacts of a run of an engine, beside its logs in the log store. `logs`: the directory of these; the parts of its path
 * are the store, a workflow and the run.
 */
export function createSharedArtifacts(logs: string): ArtifactStore {
  const workflow = dirname(logs);
  const store = dirname(workflow);
  const staging = () => {
    const path = stagedPath(logs);
    storing('create', path, () => makePrivateDirectory(path));
    return path;
  };
  const named = (runId: string) =>
    tryOr([], () => readdirSync(store)).find((name) => existsSync(artifactsPath(join(store, name, runId))));
  return {
    ...createArtifacts(artifactsPath(logs), staging, workflow),
    // A child run may be of another workflow.
    ofRun: (runId) => {
      const found = named(runId);
      return found === undefined ? null : artifactsPath(join(store, found, runId));
    },
  };
}

/** Gives a file a second name; false if it is gone. A file system without such names gets a copy. */
function isLinked(file: string, name: string): boolean {
  makePrivateDirectory(dirname(name));
  try {
    linkSync(file, name);
  } catch (error) {
    if (isMissing(error)) return false;
    if (!['EPERM', 'EMLINK', 'EXDEV', 'ENOTSUP', 'ENOSYS'].includes(errorCode(error))) throw error;
    copyFileSync(file, name);
  }
  return true;
}

/** The artifacts of a run for readers. `outside`: the directory of its logs outside, where workers keep files too; null: none. */
export function readArtifacts(directory: string, outside: string | null): StoredArtifacts {
  const own = artifactsPath(directory);
  const find = () => (outside === null || existsSync(own) ? own : artifactsPath(outside));
  return {
    get directory() {
      return find();
    },
    open: (step, path) => opener(find())(step, path),
    exist: () => existsSync(find()),
  };
}

function opener(root: string): StoredArtifacts['open'] {
  return (step, path) =>
    storing('read', root, () => {
      const opened = OpenDirectory.openIfThere(root);
      try {
        return opened?.fileAt([...foldersOf(step), ...path.split('/')]) ?? null;
      } finally {
        opened?.close();
      }
    });
}
