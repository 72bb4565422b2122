import { statSync } from 'node:fs';

/** What a path leads to; a file is anything that can be read, also a pipe. Null: nothing that can be reached. */
export function pathKind(path: string): 'file' | 'directory' | null {
  try {
    return statSync(path).isDirectory() ? 'directory' : 'file';
  } catch {
    return null;
  }
}
