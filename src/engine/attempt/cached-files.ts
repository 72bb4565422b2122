import { closeSync, fstatSync } from 'node:fs';
import { MAX_SOURCES } from '#core/workflow.ts';
import type { CacheDraft, CachedFile, ResultCache } from '#store/store.ts';
import { FileCopier, isExecutableMode, placeBelow } from '#system/trees/copy-file.ts';
import { OpenDirectory } from '#system/trees/open-directory.ts';
import { filePattern, type Unopened, walkFiles } from '#system/trees/walk-files.ts';
import type { AttemptContext } from './attempt-context.ts';
import { isBelow, searchSecrets } from './keep-artifacts.ts';

/** Files below a directory that a success generated, and the cache that keeps their content. */
type Tree = { readonly cwd: string; readonly cache: ResultCache };

const UNOPENED: Readonly<Record<Unopened, string>> = {
  link: 'a link leads out of the directory, or to a directory',
  special: 'it is not a regular file',
  name: 'its name has control characters, or is not UTF-8',
  depth: 'its path has too many names',
  unreadable: 'permission denied',
};

/**
 * Copies the files that match the patterns into a draft of the cache. Returns them, or why they cannot be cached: as a text, or null
 * if the attempt is killed meanwhile. Throws a `WfError` `storage`, and system errors.
 */
export async function keepGenerated(
  patterns: readonly string[],
  { secrets, kill }: Pick<AttemptContext, 'secrets' | 'kill'>,
  { cwd, cache, draft }: Tree & { readonly draft: CacheDraft },
): Promise<{ readonly files: readonly CachedFile[] } | { readonly obstacle: string | null }> {
  const root = OpenDirectory.openIfThere(cwd);
  if (root === null || patterns.length === 0) return { files: [] };
  const copier = new FileCopier();
  const files: CachedFile[] = [];
  let bytes = 0;
  let obstacle: string | null = null;
  const signal = {
    get aborted() {
      return kill.aborted || obstacle !== null;
    },
  };
  const isTooMuch = (more: number) => {
    if (files.length >= MAX_SOURCES) obstacle = `it generates more than ${MAX_SOURCES} files`;
    else if (bytes + more > cache.maxBytes) {
      obstacle = `its files have more than ${cache.maxBytes / 2 ** 20} MiB ("cacheMaxMiB")`;
    }
    return obstacle !== null;
  };
  try {
    await walkFiles(root, patterns.map(filePattern), {
      file: async (path, fd) => {
        const { size, mode } = fstatSync(fd);
        if (isTooMuch(size)) return;
        const { read, isFound } = searchSecrets(secrets);
        const staged = draft.nextPath();
        const copied = await copier.copy(fd, staged, { read, isExecutable: false, signal });
        if (copied === null) return;
        if (isFound()) obstacle = `${JSON.stringify(path)} contains a secret`;
        else {
          draft.keep(staged, copied.sha256);
          bytes += copied.bytes;
          files.push({ path, ...copied, ...(isExecutableMode(mode) ? { executable: true } : {}) });
        }
      },
      link: (path, target) => {
        if (!isTooMuch(0)) files.push({ path, link: target });
      },
      unopened: (path, why) => {
        obstacle ??= `${JSON.stringify(path)} cannot be cached: ${UNOPENED[why]}`;
      },
      signal,
    });
  } finally {
    root.close();
  }
  return signal.aborted ? { obstacle } : { files };
}

/**
 * Puts cached files in the place of those of the same names, until the signal is aborted. Other files stay as they are. Returns why
 * the cached success cannot be used; null if it can. Throws a `WfError`, and system errors.
 */
export async function restoreGenerated(
  files: readonly CachedFile[],
  signal: { readonly aborted: boolean },
  { cwd, cache }: Tree,
): Promise<string | null> {
  const copier = new FileCopier();
  for (const file of files) {
    const { path } = file;
    if (signal.aborted) return null;
    if (!isBelow(path)) return `the path ${JSON.stringify(path)} is damaged`;
    if ('link' in file) {
      await placeBelow(cwd, path, file, { copier, signal });
      continue;
    }
    const { sha256, executable: isExecutable = false } = file;
    const source = cache.open(sha256);
    if (source === null) return `the content of ${JSON.stringify(path)} is missing`;
    let isWhole = true;
    const isWanted = (copied: { readonly sha256: string }) => {
      isWhole = copied.sha256 === sha256;
      return isWhole;
    };
    try {
      await placeBelow(cwd, path, { source, isExecutable }, { copier, signal, isWanted });
    } finally {
      closeSync(source);
    }
    if (!isWhole) {
      cache.discard(sha256);
      return `the content of ${JSON.stringify(path)} is damaged`;
    }
  }
  return null;
}
