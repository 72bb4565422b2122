import { statSync } from 'node:fs';
import { readRegular } from '#system/files.ts';

/** Distinguishes states of a file without reading it. */
export type FileStamp = {
  /** Changes with the file. */
  readonly key: string;
  /** When its content last changed, in milliseconds since 1970-01-01 UTC; null: there is no file. */
  readonly changedAt: number | null;
};

/** The stamps of one time: each file is examined once. */
export type Stamps = {
  readonly of: (path: string) => FileStamp;
  /** Returns a text that changes with the listed files and the list. */
  readonly ofTree: () => string;
};

/** Returns the stamps of these files, and of others on request. */
export function takeStamps(files: readonly string[]): Stamps {
  const taken = new Map<string, FileStamp>(files.map((path) => [path, stampOf(path)]));
  let tree: string | null = null;
  return {
    of: (path) => {
      const stamp = taken.get(path) ?? stampOf(path);
      taken.set(path, stamp);
      return stamp;
    },
    ofTree: () => {
      tree ??= files.map((path) => `${path} ${taken.get(path)?.key}`).join('\n');
      return tree;
    },
  };
}

/** Reads a file and compares it with a text. */
export function holdsText(path: string, text: string): boolean {
  try {
    return readRegular(path).toString('utf8') === text;
  } catch {
    return false;
  }
}

/** Returns the stamp of a file, following symbolic links. Never throws: an error is a state too. */
function stampOf(path: string): FileStamp {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    if (stats === undefined) return { key: 'missing', changedAt: null };
    const { dev, ino, size, mtimeNs, ctimeNs } = stats;
    return { key: `${dev}.${ino}.${size}.${mtimeNs}.${ctimeNs}`, changedAt: Number(mtimeNs / 1_000_000n) };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    return { key: code, changedAt: null };
  }
}
