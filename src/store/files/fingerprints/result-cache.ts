import { createHash, randomBytes } from 'node:crypto';
import {
  constants,
  linkSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { given } from '#core/data/collections.ts';
import { errorCode, tryOr } from '#system/errors.ts';
import { removeDirectory, removeFile } from '#system/files.ts';
import type { CachedSuccess, CacheSlot, Cleared, ResultCache, StepChecks } from '../../store.ts';
import {
  ifThere,
  makePrivateDirectory,
  namesIn,
  replacePrivate,
  sealedLine,
  sizeOf,
  storing,
  unseal,
} from '../disk/private-files.ts';
import { clearFingerprints, createFingerprints, fingerprintsPath } from './fingerprint-files.ts';

/*
 * `results/`, for all workflow files of a home:
 *
 *   entries/ID.json   a success: its outputs, and the paths and hashes of the files that it generated; its time is that of its last use
 *   files/AB/HASH     the content of a file whose SHA-256 is ABHASH
 *   drafts/PID-*      what an attempt keeps at present. The files there are second names of contents, which are not removed meanwhile
 */

const FORMAT = 1;
/** A cache that is full is emptied to this part of its size, so that the next success finds space. */
const KEPT_PART = 0.9;
/** The age of what a process has left that died while it kept a success. */
const LEFTOVER_MS = 24 * 60 * 60 * 1000;
/** A file system without second names for files. */
const WITHOUT_LINKS = ['EPERM', 'ENOTSUP', 'ENOSYS', 'EMLINK'];

type Written = CachedSuccess & {
  readonly format: number;
  /** The workflow file of the success. */
  readonly file: string;
  readonly step: string;
};

/** The directory of the cache of a home, by that of its runs. */
export function cachePath(runsDir: string): string {
  return join(runsDir, '..', 'results');
}

/**
 * The successes of the steps of a workflow file, below the directory `root`, which is created on first use. `maxBytes`: the size of
 * the cache, for all workflow files.
 */
export function createResultCache(root: string, file: string, maxBytes: number): ResultCache {
  const pathOf = (slot: CacheSlot) => join(entriesOf(root), `${idOf(slot, file)}.json`);
  return {
    maxBytes,
    read: (slot) => {
      const path = pathOf(slot);
      const found = tryOr('damaged' as const, () => readEntry(path));
      if (found === 'damaged') return { success: null, damage: `"${path}" is damaged` };
      return { success: found?.step === slot.step ? found : null, damage: null };
    },
    open: (sha256) => ifThere(() => openSync(contentPath(root, sha256), constants.O_RDONLY | constants.O_NOFOLLOW)),
    use: (slot) => {
      const path = pathOf(slot);
      const now = Date.now() / 1000;
      storing('write', path, () => ifThere(() => utimesSync(path, now, now)));
    },
    drop: (slot) => {
      const path = pathOf(slot);
      storing('remove', path, () => removeFile(path));
    },
    discard: (sha256) => {
      const path = contentPath(root, sha256);
      storing('remove', path, () => removeFile(path));
    },
    begin: () => {
      const directory = storing('create', root, () => makeDraft(root));
      let count = 0;
      return {
        nextPath: () => {
          count += 1;
          return join(directory, String(count));
        },
        keep: (draft, sha256) => storing('write', contentPath(root, sha256), () => keepContent(root, draft, sha256)),
        end: (slot, success) => {
          const path = pathOf(slot);
          const written: Written = { format: FORMAT, file, step: slot.step, ...success };
          storing('write', path, () => {
            makePrivateDirectory(entriesOf(root));
            replacePrivate(path, sealedLine(written), `${path}.${process.pid}-${randomBytes(4).toString('hex')}`);
          });
          removeDirectory(directory);
          storing('read', root, () => trim(root, maxBytes));
        },
        close: () => void removeDirectory(directory),
      };
    },
  };
}

/** What a plan compares the steps of a workflow file with. `runsDir`: the runs of the home. */
export function createStepChecks(runsDir: string, file: string, maxBytes: number): StepChecks {
  return {
    fingerprints: createFingerprints(fingerprintsPath(runsDir), file),
    cache: createResultCache(cachePath(runsDir), file, maxBytes),
  };
}

/** Which successes are removed. `file`: the workflow file; null: of all files. `dryRun`: they are only counted. */
export type ClearRequest = {
  readonly cache: boolean;
  readonly fingerprints: boolean;
  readonly file: string | null;
  readonly dryRun: boolean;
};

/** How many cached results and fingerprints were removed, and the bytes of all of it. */
export type ClearedResults = { readonly cached?: number; readonly fingerprints?: number; readonly bytes: number };

/** Removes cached results, fingerprints or both. Throws a `WfError` `storage`. */
export function clearResults(runsDir: string, { cache, fingerprints, file, dryRun }: ClearRequest): ClearedResults {
  const cached = cache ? clearCache(cachePath(runsDir), file, dryRun) : null;
  const forgotten = fingerprints ? clearFingerprints(fingerprintsPath(runsDir), file, dryRun) : null;
  return {
    ...given({ cached: cached?.count, fingerprints: forgotten?.count }),
    bytes: (cached?.bytes ?? 0) + (forgotten?.bytes ?? 0),
  };
}

function clearCache(root: string, file: string | null, dryRun: boolean): Cleared {
  return storing('clear', root, () => {
    const entries = listEntries(root);
    const removed = entries.filter(({ written }) => file === null || written === null || written.file === file);
    const kept = contentsOf(entries.filter((entry) => !removed.includes(entry)));
    const contents = listContents(root).filter(({ sha256, links }) => !kept.has(sha256) && links === 1);
    if (!dryRun) for (const { path } of [...removed, ...contents]) removeFile(path);
    const bytes = [...removed, ...contents].reduce((sum, { size }) => sum + size, 0);
    return { count: removed.length, bytes };
  });
}

function entriesOf(root: string): string {
  return join(root, 'entries');
}

function contentPath(root: string, sha256: string): string {
  return join(root, 'files', sha256.slice(0, 2), sha256.slice(2));
}

function idOf({ step, scope, entries }: CacheSlot, file: string): string {
  const text = JSON.stringify([scope === 'file' ? file : null, step, entries]);
  return createHash('sha256').update(text).digest('hex');
}

/** Returns a success; null: none is stored. Throws an `Error` if it is damaged, and system errors. */
function readEntry(path: string): Written | null {
  const bytes = ifThere(() => readFileSync(path));
  if (bytes === null) return null;
  const written = unseal(bytes.subarray(0, -1)) as Written | undefined;
  if (written?.format !== FORMAT) throw new Error('damaged');
  return written;
}

function makeDraft(root: string): string {
  const drafts = join(root, 'drafts');
  makePrivateDirectory(drafts);
  const tooOld = Date.now() - LEFTOVER_MS;
  for (const name of readdirSync(drafts)) {
    const stats = statSync(join(drafts, name), { throwIfNoEntry: false });
    if (stats !== undefined && stats.mtimeMs < tooOld) removeDirectory(join(drafts, name));
  }
  return mkdtempSync(join(drafts, `${process.pid}-`));
}

/** Gives a draft the name of its content, or the content that is there the name of the draft. */
function keepContent(root: string, draft: string, sha256: string): void {
  const path = contentPath(root, sha256);
  makePrivateDirectory(join(path, '..'));
  try {
    linkSync(draft, path);
  } catch (error) {
    const code = errorCode(error);
    if (WITHOUT_LINKS.includes(code)) renameSync(draft, path);
    else if (code !== 'EEXIST') throw error;
    else {
      removeFile(draft);
      // If it was removed meanwhile, the success cannot be restored, and the step runs.
      ifThere(() => linkSync(path, draft));
    }
  }
}

type Content = { readonly path: string; readonly sha256: string; readonly size: number; readonly links: number };
type Entry = {
  readonly path: string;
  readonly size: number;
  readonly usedAt: number;
  /** Null: it is damaged. */
  readonly written: Written | null;
};

/** Removes the successes that were used least recently, until the others fit, and contents that no success has. */
function trim(root: string, maxBytes: number): void {
  const contents = listContents(root);
  const paths = namesIn(entriesOf(root)).map((name) => join(entriesOf(root), name));
  const total = [...contents.map(({ size }) => size), ...paths.map(sizeOf)].reduce((sum, size) => sum + size, 0);
  if (total <= maxBytes) return;
  const entries = listEntries(root).toSorted((a, b) => a.usedAt - b.usedAt);
  const users = contentsOf(entries);
  const sizes = new Map(contents.map(({ sha256, size }) => [sha256, size] as const));
  let left = entries.reduce((sum, { size }) => sum + size, 0);
  for (const sha256 of users.keys()) left += sizes.get(sha256) ?? 0;
  for (const { path, size, written } of entries) {
    if (written !== null && left <= maxBytes * KEPT_PART) break;
    removeFile(path);
    left -= size;
    for (const sha256 of hashesOf(written)) {
      const others = (users.get(sha256) ?? 1) - 1;
      users.set(sha256, others);
      if (others > 0) continue;
      users.delete(sha256);
      left -= sizes.get(sha256) ?? 0;
    }
  }
  for (const { path, sha256, links } of contents) if (!users.has(sha256) && links === 1) removeFile(path);
}

/** How many successes have each content. */
function contentsOf(entries: readonly Entry[]): Map<string, number> {
  const users = new Map<string, number>();
  for (const { written } of entries) {
    for (const sha256 of hashesOf(written)) users.set(sha256, (users.get(sha256) ?? 0) + 1);
  }
  return users;
}

function hashesOf(written: Written | null): ReadonlySet<string> {
  return new Set((written?.files ?? []).flatMap((file) => ('sha256' in file ? [file.sha256] : [])));
}

function listEntries(root: string): readonly Entry[] {
  const directory = entriesOf(root);
  return namesIn(directory).flatMap((name): Entry[] => {
    const path = join(directory, name);
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined || !name.endsWith('.json')) return [];
    return [{ path, size: stats.size, usedAt: stats.mtimeMs, written: tryOr(null, () => readEntry(path)) }];
  });
}

function listContents(root: string): readonly Content[] {
  const directory = join(root, 'files');
  return namesIn(directory).flatMap((start) =>
    namesIn(join(directory, start)).flatMap((name): Content[] => {
      const path = join(directory, start, name);
      const stats = statSync(path, { throwIfNoEntry: false });
      return stats === undefined ? [] : [{ path, sha256: start + name, size: stats.size, links: stats.nlink }];
    }),
  );
}
