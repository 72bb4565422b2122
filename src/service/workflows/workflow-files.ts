import { type Dirent, readdirSync, statSync } from 'node:fs';
import { dirname, extname, join, relative, resolve, sep } from 'node:path';

/** The contents of the workflows directory, as absolute paths. */
export type DirectoryContents = {
  /** In the order of their paths. */
  readonly files: readonly string[];
  /** The directory itself and those below it, outermost first; none when it does not exist. */
  readonly directories: readonly string[];
};

/**
 * Finds the workflow files of a directory and its subdirectories. Skips names that begin with a dot, and symbolic links
 * to directories. Skips missing and forbidden paths; throws the system's error if the disk fails.
 */
export function findWorkflowFiles(dagsDir: string): DirectoryContents {
  const found = { files: [] as string[], directories: [] as string[] };
  walk(dagsDir, found);
  found.files.sort();
  return found;
}

/** Whether a file name is that of a workflow. */
export function isWorkflowFile(name: string): boolean {
  // Editors and version control use hidden names for their own files: a lock such as ".#deploy.yaml".
  return !name.startsWith('.') && (extname(name) === '.yaml' || extname(name) === '.yml');
}

/** Returns the subdirectory of the workflows directory that contains the file, with `/`; empty for any other file. */
export function groupOf(file: string, dagsDir: string | null): string {
  if (dagsDir === null) return '';
  const group = relative(dagsDir, dirname(file));
  return group === '..' || group.startsWith(`..${sep}`) || resolve(group) === group ? '' : group.split(sep).join('/');
}

function walk(directory: string, found: { readonly files: string[]; readonly directories: string[] }): void {
  const entries = entriesOf(directory);
  if (entries === null) return;
  found.directories.push(directory);
  for (const entry of entries) {
    const path = join(directory, entry.name);
    if (!entry.isDirectory()) {
      if (isWorkflowFile(entry.name)) found.files.push(path);
    } else if (!entry.name.startsWith('.')) walk(path, found);
  }
}

const passedOver = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM']);

function entriesOf(directory: string): readonly Dirent[] | null {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (passedOver.has(code)) return null;
    throw error;
  }
}

/** Returns the kind of a path; `file` includes pipes and devices. Null: the path cannot be reached. */
export function pathKind(path: string): 'file' | 'directory' | null {
  try {
    return statSync(path).isDirectory() ? 'directory' : 'file';
  } catch {
    return null;
  }
}
