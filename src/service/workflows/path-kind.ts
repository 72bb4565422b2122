import { statSync } from 'node:fs';

/** Returns the kind of a path; `file` includes pipes and devices. Null: the path cannot be reached. */
export function pathKind(path: string): 'file' | 'directory' | null {
  try {
    return statSync(path).isDirectory() ? 'directory' : 'file';
  } catch {
    return null;
  }
}
