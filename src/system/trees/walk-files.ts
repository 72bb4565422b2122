import { closeSync } from 'node:fs';
import { errorCode } from '../errors.ts';
import { watchPattern } from '../glob.ts';
import { createSlices } from '../turns.ts';
import type { Entry, OpenDirectory } from './open-directory.ts';

/** A pattern for the files below a directory, by their paths in it, with `/` between names. */
export type FilePattern = {
  readonly matches: (path: string) => boolean;
  /** Whether a file below this directory may match. */
  readonly mayContain: (directory: string) => boolean;
};

/** Why a walk does not open what may match: `link` for one out of the directory, or to a directory. */
export type Unopened = 'link' | 'special' | 'name' | 'depth' | 'unreadable';

/** Receives what a walk finds. */
export type FileVisitor = {
  /** Called with each file that matches, open for reading; it is closed afterwards. */
  readonly file: (path: string, fd: number) => Promise<void>;
  readonly unopened: (path: string, why: Unopened) => void;
  /** Called with each link that matches, and what it contains; absent: what it leads to is opened instead. */
  readonly link?: (path: string, target: string) => void;
  /** Ends the walk. */
  readonly signal?: { readonly aborted: boolean };
};

/** The maximum number of names in the path of a file. */
export const MAX_DEPTH = 32;

/** Stands for the directory of the walk: patterns are matched as absolute ones. */
const ROOT = '/_';

/** Parses a relative pattern as `watchPattern` does. */
export function filePattern(text: string): FilePattern {
  const { directory, matches, isDeep } = watchPattern(text, ROOT);
  const namesHidden = !/[*?[\]{}]/.test(text) || /(^|[/{,])\.[^/]/.test(text);
  return {
    matches: (path) => matches(`${ROOT}/${path}`),
    mayContain: (path) => {
      const found = `${ROOT}/${path}`;
      if (found === directory || directory.startsWith(`${found}/`)) return true;
      return (
        isDeep && found.startsWith(`${directory}/`) && (namesHidden || !/\/\./.test(found.slice(directory.length)))
      );
    },
  };
}

/** Visits the files that match any of the patterns, in the order of their names. Throws system errors. */
export async function walkFiles(
  root: OpenDirectory,
  patterns: readonly FilePattern[],
  visitor: FileVisitor,
): Promise<void> {
  const slice = createSlices();
  const matches = (path: string) => patterns.some((pattern) => pattern.matches(path));
  const mayContain = (path: string) => patterns.some((pattern) => pattern.mayContain(path));
  const unopened = (path: string, why: Unopened) => {
    if (matches(path) || mayContain(path)) visitor.unopened(path, why);
  };
  await walk(root, '', 1);

  async function walk(directory: OpenDirectory, above: string, depth: number): Promise<void> {
    const entries = unlessDenied(() => directory.entries());
    if (entries === null) return unopened(above, 'unreadable');
    for (const entry of entries) {
      if (visitor.signal?.aborted === true) return;
      await slice();
      const path = above === '' ? entry.name : `${above}/${entry.name}`;
      if (!entry.isPlain) unopened(path, 'name');
      else if (entry.kind === 'directory') await enter(directory, entry, path, depth);
      else if (entry.kind === 'link' && !matches(path)) unopened(path, 'link');
      else if (matches(path)) await open(directory, entry, path);
    }
  }

  async function enter(directory: OpenDirectory, { name }: Entry, path: string, depth: number): Promise<void> {
    if (!mayContain(path)) return;
    if (depth >= MAX_DEPTH) return visitor.unopened(path, 'depth');
    const inner = unlessDenied(() => directory.directory(name) ?? 'gone');
    if (inner === null) return visitor.unopened(path, 'unreadable');
    // It was replaced by a link, or removed.
    if (inner === 'gone') return;
    try {
      await walk(inner, path, depth + 1);
    } finally {
      inner.close();
    }
  }

  async function open(directory: OpenDirectory, { name, kind }: Entry, path: string): Promise<void> {
    if (kind === 'other') return visitor.unopened(path, 'special');
    if (kind === 'link' && visitor.link !== undefined) {
      const written = directory.linkAt(name);
      if (written !== null) visitor.link(path, written);
      return;
    }
    const target = kind === 'link' ? directory.targetOf(name, root) : [];
    if (target === null) return visitor.unopened(path, 'link');
    const fd = unlessDenied(() => (kind === 'link' ? root.fileAt(target) : directory.file(name)) ?? 'none');
    if (fd === null) return visitor.unopened(path, 'unreadable');
    if (fd === 'none') {
      // A file is gone, or was replaced by something else.
      if (kind === 'link') visitor.unopened(path, 'link');
      return;
    }
    try {
      await visitor.file(path, fd);
    } finally {
      closeSync(fd);
    }
  }
}

/** Null if the user may not read it. */
function unlessDenied<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (['EACCES', 'EPERM'].includes(errorCode(error))) return null;
    throw error;
  }
}
