import {
  constants,
  copyFileSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  rmdirSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, isAbsolute, join, parse, relative } from 'node:path';
import type { Suspensions } from '#store/store.ts';
import { flushDirectory, replaceByDraft } from '#system/durable-file.ts';
import { errorCode, messageOf, systemReason, WfError } from '#system/errors.ts';
import { closing, readRegular, removeIfPossible } from '#system/files.ts';
import { type CheckResult, type CheckWorkflow, checkWorkflow } from './load-workflow.ts';
import { InvalidWorkflow } from './workflow-directory.ts';
import type { ListedWorkflow, ListingPaths } from './workflows.ts';

/** Edits the files of the workflows directory that the catalog lists. */
export type WorkflowEditor = ReturnType<typeof createWorkflowEditor>;

/** Checks the present text of a file right before a change. An error is passed on and prevents the change. */
type CheckText = (present: string) => void;

/** Options of saving; `allowInvalid`: saves an invalid text too. */
type SaveOptions = { readonly check?: CheckText; readonly allowInvalid?: boolean };

/** The text of a new file, by default a workflow of one step, and its group: a subdirectory, by default none. */
type CreateOptions = { readonly text?: string; readonly allowInvalid?: boolean; readonly group?: string };

/** Options of renaming; `group`: the subdirectory of the new file, by default that of the old one. */
type RenameOptions = { readonly check?: CheckText; readonly group?: string };

type ListedFiles = { readonly list: () => readonly ListedWorkflow[]; readonly refresh: () => Promise<void> };

type EditorParts = {
  readonly directories: ListingPaths;
  readonly catalog: ListedFiles;
  readonly suspensions: Suspensions;
  /** Checks a text before it is saved; synchronous by default. */
  readonly check?: CheckWorkflow;
};

/** Letters and digits of any script, and common separators; no character that is special in paths or shells. */
const USABLE_NAME = /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.+ -]*$/u;
const LONGEST_NAME_BYTES = 200;
const MOST_GROUP_LEVELS = 8;
/** Characters of a too long name in a message. */
const SHOWN_OF_LONG = 40;

const FIRST_TEXT = 'steps:\n  - name: hello\n    command: echo hello\n';

/** Creates an editor that notifies the catalog of each change. Every method rejects with `storage`. */
export function createWorkflowEditor({
  directories,
  catalog,
  suspensions,
  check: checkWhole = checkWorkflow,
}: EditorParts) {
  const change = async <T>(what: string, work: () => T): Promise<T> => {
    try {
      return storing(what, work);
    } finally {
      await catalog.refresh();
    }
  };
  const refuseInvalid = async (file: string, text: string) =>
    requireValid(file, await checkWhole({ text, file: null, dir: dirname(file), base: directories.base }));
  const read = ({ file }: ListedWorkflow): string => storing(`read "${file}"`, () => readRegular(file).toString());
  return {
    /** Reads the text of a file from the disk. Throws a `WfError` `not-found`, `storage`. */
    read,
    /** Replaces the text of a file. Rejects with an `InvalidWorkflow` if the text is invalid; the file is then unchanged. */
    save: async (
      workflow: ListedWorkflow,
      text: string,
      { check, allowInvalid = false }: SaveOptions = {},
    ): Promise<void> => {
      const file = editableFile(workflow, directories);
      check?.(read(workflow));
      if (!allowInvalid) await refuseInvalid(workflow.file, text);
      // Check again: other requests are handled while a long text is read.
      check?.(read(workflow));
      await change(`save "${workflow.file}"`, () => replaceFile(file, text));
    },
    /** Creates a workflow and returns its file. Rejects with a `WfError`: `usage` for an invalid name, `conflict` for a taken one. */
    create: async (
      name: string,
      { text = FIRST_TEXT, allowInvalid = false, group = '' }: CreateOptions = {},
    ): Promise<string> => {
      const directory = groupDirectory(group, directories);
      const file = join(directory, `${freeName(name, catalog)}.yaml`);
      await inDirectory(directory, async () => {
        if (!allowInvalid && text !== FIRST_TEXT) await refuseInvalid(file, text);
        await change(`create "${file}"`, () => createFile(file, text));
      });
      return file;
    },
    /** Renames or moves a workflow, and returns its file. Rejects as `create` and `save` do. */
    rename: async (workflow: ListedWorkflow, name: string, { check, group }: RenameOptions = {}): Promise<string> => {
      const { dir, ext } = parse(workflow.file);
      const directory = group === undefined ? dir : groupDirectory(group, directories);
      const file = join(directory, `${freeName(name, catalog, workflow.file)}${ext}`);
      const text = read(workflow);
      check?.(text);
      if (file === workflow.file) return file;
      await inDirectory(directory, async () => {
        // Imports are relative to the directory of the file.
        if (directory !== dir && workflow.workflow !== null) await refuseInvalid(file, text);
        check?.(read(workflow));
        await change(`rename "${workflow.file}"`, () => {
          renameFile(workflow.file, file);
          suspensions.move(workflow.file, file);
        });
      });
      return file;
    },
    remove: async (workflow: ListedWorkflow, check?: CheckText): Promise<void> => {
      check?.(read(workflow));
      await change(`delete "${workflow.file}"`, () => {
        unlinkSync(workflow.file);
        suspensions.set(workflow.file, null);
      });
    },
  };
}

/** Returns the name without extension. Throws `conflict` if another file than `own` has it in any group. */
function freeName(given: string, catalog: Pick<ListedFiles, 'list'>, own: string | null = null): string {
  const name = given.trim().replace(/\.ya?ml$/, '');
  requireUsable(name);
  const other = catalog.list().find(({ file }) => file !== own && parse(file).name === name);
  if (other === undefined) return name;
  throw new WfError('conflict', `a workflow "${name}" exists already`, { help: `its file is "${other.file}"` });
}

/** Returns the directory of a group, which need not exist. Throws a `WfError` `usage` for one that cannot be listed. */
function groupDirectory(given: string, { dagsDir }: ListingPaths): string {
  if (dagsDir === null) throw new WfError('usage', 'there is no workflows directory', { help: 'name one with --dags' });
  const names = given.trim() === '' ? [] : given.trim().split('/');
  const unusable = names.find((name) => !USABLE_NAME.test(name) || Buffer.byteLength(name) > LONGEST_NAME_BYTES);
  if (unusable !== undefined || names.length > MOST_GROUP_LEVELS) {
    throw new WfError('usage', `"${given.slice(0, LONGEST_NAME_BYTES)}" cannot be a group`, {
      help: `a group is up to ${MOST_GROUP_LEVELS} names separated by "/", such as "ops/nightly"; each has letters, digits, spaces and _ . + -`,
    });
  }
  const paths = names.map((_, index) => join(dagsDir, ...names.slice(0, index + 1)));
  // Links to directories are not listed.
  const other = paths.find((path) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === false);
  if (other === undefined) return join(dagsDir, ...names);
  throw new WfError('usage', `"${given}" cannot be a group: "${other}" is not a directory`, {
    help: 'choose another group',
  });
}

/** Works with a directory that is created if it does not exist, and removed again if the work fails. */
async function inDirectory(directory: string, work: () => Promise<void>): Promise<void> {
  const first = storing(`create "${directory}"`, () => mkdirSync(directory, { recursive: true, mode: 0o700 }));
  try {
    await work();
  } catch (error) {
    if (first !== undefined) removeEmpty(directory, dirname(first));
    throw error;
  }
}

/** Removes a directory and those above it, up to but not including `top`, as far as they are empty. */
function removeEmpty(directory: string, top: string): void {
  for (let path = directory; path !== top; path = dirname(path)) {
    try {
      rmdirSync(path);
    } catch {
      // Another process uses it.
      return;
    }
  }
}

function requireUsable(name: string): void {
  const bytes = Buffer.byteLength(name);
  if (bytes > LONGEST_NAME_BYTES) {
    const start = [...name].slice(0, SHOWN_OF_LONG).join('');
    throw new WfError('usage', `"${start}..." cannot be the name of a workflow: it has ${bytes} bytes`, {
      help: `a name has at most ${LONGEST_NAME_BYTES} bytes`,
    });
  }
  if (USABLE_NAME.test(name)) return;
  throw new WfError('usage', `"${name}" cannot be the name of a workflow`, {
    help: 'a name has letters, digits, spaces and _ . + -, and begins with a letter, a digit or _',
  });
}

/** Resolves a link to the file to edit. Throws if that file is outside the workflows directory. */
function editableFile({ file }: ListedWorkflow, { dagsDir }: ListingPaths): string {
  const real = storing(`read "${file}"`, () => realpathSync(file));
  const way = relative(
    storing(`read "${dagsDir}"`, () => realpathSync(dagsDir ?? dirname(file))),
    real,
  );
  if (!isAbsolute(way) && way !== '..' && !way.startsWith('../')) return real;
  throw new WfError('usage', `"${file}" is a link to "${real}", which is outside the workflows directory`, {
    help: 'edit that file itself',
  });
}

function requireValid(file: string, { isValid, diagnostics, sources }: CheckResult): void {
  if (isValid) return;
  const inFile = diagnostics.map((diagnostic) => {
    const { position } = diagnostic;
    return position?.file === '-' ? { ...diagnostic, position: { ...position, file } } : diagnostic;
  });
  throw new InvalidWorkflow(parse(file).name, inFile, sources);
}

function storing<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof WfError) throw error;
    const why = systemReason(errorCode(error)) ?? messageOf(error);
    if (errorCode(error) === 'EEXIST') throw new WfError('conflict', `cannot ${what}: a file of that name exists`);
    if (errorCode(error) === 'ENOENT') throw new WfError('not-found', `cannot ${what}: the file no longer exists`);
    throw new WfError('storage', `cannot ${what}: ${why}`, { cause: error });
  }
}

/** Replaces a file atomically; keeps its mode and, if permitted, its owner. */
function replaceFile(path: string, text: string): void {
  const draft = draftOf(path);
  const { mode, uid, gid } = statSync(path);
  replaceByDraft(path, draft, {
    open: () => openSync(draft, 'wx', 0o600),
    write: (fd) => {
      writeFileSync(fd, text);
      keepOwner(fd, uid, gid);
      fchmodSync(fd, mode & 0o777);
    },
  });
}

/** Creates a file with its whole text, or none; throws the system's `EEXIST` if it exists. */
function createFile(path: string, text: string): void {
  const draft = draftOf(path);
  try {
    closing(openSync(draft, 'wx', 0o600), (fd) => {
      writeFileSync(fd, text);
      fsyncSync(fd);
    });
    renameFile(draft, path);
  } finally {
    removeIfPossible(draft);
  }
}

/** Renames a file within its directory; throws the system's `EEXIST` if the name is taken, unlike a plain rename. */
function renameFile(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (errorCode(error) === 'EEXIST' || errorCode(error) === 'ENOENT') throw error;
    // Some file systems have no hard links, and some files may not be linked.
    copyFileSync(from, to, constants.COPYFILE_EXCL);
  }
  unlinkSync(from);
  flushDirectory(dirname(to));
}

/** Its name begins with a dot: a draft that a crash left is not listed as a workflow. */
function draftOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.${process.pid}-${Math.random().toString(36).slice(2)}.tmp`);
}

function keepOwner(fd: number, uid: number, gid: number): void {
  const own = fstatSync(fd);
  if (own.uid === uid && own.gid === gid) return;
  try {
    fchownSync(fd, uid, gid);
  } catch (error) {
    if (errorCode(error) !== 'EPERM') throw error;
  }
}
