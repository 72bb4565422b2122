import { type Dirent, readdirSync } from 'node:fs';
import { dirname, extname, join, relative, resolve, sep } from 'node:path';

/** What a look into the workflows directory found, as absolute paths. */
export type WorkflowFiles = {
  /** In the order of their paths. */
  readonly files: readonly string[];
  /** The directory itself and those below it, outermost first; none when it does not exist. */
  readonly directories: readonly string[];
};

/**
 * Finds the workflow files of a directory and of those below it. What begins with a dot is left out, as are directories
 * behind symbolic links. Throws the system's error where the disk fails; what is not there or is forbidden is passed over.
 */
export function findWorkflowFiles(dagsDir: string): WorkflowFiles {
  const found = { files: [] as string[], directories: [] as string[] };
  walk(dagsDir, found);
  found.files.sort();
  return found;
}

/** Whether a file of that name is taken for a workflow. */
export function isWorkflowFile(name: string): boolean {
  // Editors and version control keep their own files under hidden names: a lock such as ".#deploy.yaml".
  return !name.startsWith('.') && (extname(name) === '.yaml' || extname(name) === '.yml');
}

/** The sub-directory of the workflows directory that holds the file, with `/`; empty for any other place. */
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
