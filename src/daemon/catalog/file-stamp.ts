import { statSync } from 'node:fs';
import { readRegular } from '../../regular-file.ts';

/** What tells one state of a file from another without reading it. */
export type FileStamp = {
  /** Differs when the file does. */
  readonly key: string;
  /** When its content was last changed, in milliseconds since 1970-01-01 UTC; null for a file that is not there. */
  readonly changedAt: number | null;
};

/** The stamps of one moment: each file is looked at once. */
export type Stamps = {
  readonly of: (path: string) => FileStamp;
  /** A text that differs when a listed file does, or the list. */
  readonly ofTree: () => string;
};

/** The stamps of these files, and of others that are asked for. */
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

/** Whether a file holds a text, by reading it. */
export function holdsText(path: string, text: string): boolean {
  try {
    return readRegular(path).toString('utf8') === text;
  } catch {
    return false;
  }
}

/** Symbolic links are followed. Never throws: also that a file cannot be looked at is a state. */
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
