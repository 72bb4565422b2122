import { type Dirent, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { dirname, extname, join, relative, resolve, sep } from 'node:path';
import { quoteWord } from '#core/words/quote-word.ts';
import type { Diagnostic, Source } from '#language/diagnostic.ts';
import { errorCode, tryOr, WfError } from '#system/errors.ts';
import { closing } from '#system/files.ts';

type DirectoryContents = {
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

function isWorkflowFile(name: string): boolean {
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
    if (passedOver.has(errorCode(error))) return null;
    throw error;
  }
}

/** Returns the kind of a path; `file` includes pipes and devices. Null: the path cannot be reached. */
export function pathKind(path: string): 'file' | 'directory' | null {
  return tryOr(null, () => (statSync(path).isDirectory() ? 'directory' : 'file'));
}

/** The bytes at the start of a file in which its `name` and `steps` are looked for. */
const HEAD_BYTES = 65_536;

/**
 * Returns the workflow file that a word names relative to a directory: by its path, whose extension is optional, or by the
 * `name` that a file in the directory has. Null: none.
 */
export function workflowHere(word: string, directory: string): string | null {
  if (word === '' || word.startsWith('@')) return null;
  const path = resolve(directory, word);
  const files = [path, `${path}.yaml`, `${path}.yml`].filter((each) => pathKind(each) === 'file');
  // A program may have the name of a workflow that lies elsewhere.
  const file = files.find((each) => isWorkflowFile(each) || hasSteps(each));
  if (file !== undefined) return file;
  const named = /^name\s*:[ \t]*(["']?)([^\r\n]*?)\1[ \t]*(?:[ \t]#.*)?\r?$/m;
  const here = filesOf(directory).map((name) => join(directory, name));
  return here.find((each) => named.exec(headOf(each))?.[2] === word) ?? null;
}

/** Returns the names of the files in a directory that are workflows; other YAML files have no steps at the top level. */
export function workflowsIn(directory: string): readonly string[] {
  return filesOf(directory).filter((name) => hasSteps(join(directory, name)));
}

/**
 * Returns the name of the workflow file that a command without one means: `workflow.yaml`, or the only one of the directory.
 * Throws a `WfError` `usage` that lists the files.
 */
export function defaultWorkflow(directory: string, command: string): string {
  const files = workflowsIn(directory);
  const file = ['workflow.yaml', 'workflow.yml'].find((name) => files.includes(name)) ?? files[0];
  if (file === undefined) {
    const help = `wf ${command} FILE; wf init writes a first workflow, wf list shows those of the workflows directory`;
    throw new WfError('usage', `no workflow is named, and there is none in ${directory}`, { help });
  }
  if (files.length === 1 || file.startsWith('workflow.')) return file;
  const listed = files.length > MOST_LISTED ? [...files.slice(0, MOST_LISTED), '...'] : files;
  const count = `no workflow is named, and there are ${files.length} here`;
  throw new WfError('usage', `${count}: ${listed.join(', ')}`, { help: `wf ${command} ${quoteWord(file)}` });
}

const MOST_LISTED = 20;

function hasSteps(file: string): boolean {
  return /^(?:\{\s*)?(["']?)steps\1\s*:/m.test(headOf(file));
}

/** Returns the names of the YAML files in a directory, not below it; none if it cannot be read. */
export function filesOf(directory: string): readonly string[] {
  return tryOr([], () => readdirSync(directory).filter(isWorkflowFile).sort());
}

/** Most folders of a directory that are searched for a workflow. */
const MOST_FOLDERS = 1_000;

/**
 * Returns the path of a workflow file of that name in a directory or the one above, or in a folder of these. Directories that
 * everybody can write, such as /tmp, are passed over.
 */
export function fileNearby(name: string, directory: string): string | null {
  for (const place of [directory, dirname(directory)]) {
    if (tryOr(true, () => (statSync(place).mode & 0o002) !== 0)) continue;
    const folders = (entriesOf(place) ?? []).filter((entry) => entry.isDirectory()).slice(0, MOST_FOLDERS);
    const files = [place, ...folders.map((folder) => join(place, folder.name))].flatMap((path) => {
      return [join(path, `${name}.yaml`), join(path, `${name}.yml`)];
    });
    const found = files.find((file) => pathKind(file) === 'file');
    if (found !== undefined) return found;
  }
  return null;
}

/** Returns the start of a regular file as text; empty if it cannot be read. */
function headOf(file: string): string {
  return tryOr('', () => {
    if (!statSync(file).isFile()) return '';
    const bytes = Buffer.alloc(HEAD_BYTES);
    return bytes.toString(
      'utf8',
      0,
      closing(openSync(file, 'r'), (fd) => readSync(fd, bytes, 0, HEAD_BYTES, 0)),
    );
  });
}

/** The file cannot be run; the diagnostics contain the reasons. */
export class InvalidWorkflow extends WfError {
  readonly diagnostics: readonly Diagnostic[];
  readonly sources: readonly Source[];

  constructor(name: string, diagnostics: readonly Diagnostic[], sources: readonly Source[]) {
    super('invalid-workflow', `"${name}" is not a valid workflow`);
    this.diagnostics = diagnostics;
    this.sources = sources;
  }

  /** The message with the first problem and its position, on one line. */
  get inOneLine(): string {
    const errors = this.diagnostics.filter(({ severity }) => severity === 'error');
    const [first] = errors;
    if (first === undefined) return this.message;
    const position =
      first.position === null
        ? ''
        : `${first.position.file}:${first.position.start.line}:${first.position.start.column}: `;
    const more = errors.length > 1 ? ` (the first of ${errors.length} errors that wf validate shows)` : '';
    return `${this.message}: ${position}${first.message}${more}`;
  }
}
