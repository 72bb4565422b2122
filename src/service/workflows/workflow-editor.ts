import { mkdirSync, realpathSync, unlinkSync } from 'node:fs';
import { dirname, isAbsolute, join, parse, relative } from 'node:path';
import { messageOf, WfError } from '../../errors.ts';
import { readRegular } from '../../regular-file.ts';
import type { Suspensions } from '../../store/store.ts';
import { InvalidWorkflow } from './invalid-workflow.ts';
import type { ListedPlaces, ListedWorkflow } from './listed-workflow.ts';
import { type CheckWorkflow, checkWorkflow } from './load-workflow.ts';
import { createFile, isCode, renameFile, replaceFile } from './replace-file.ts';

/**
 * Edits the files of the workflows directory that the catalog lists. Every method rejects with a `WfError` `storage` if
 * the disk fails.
 */
export type WorkflowEditor = {
  /** Reads the text of a file from the disk. Throws a `WfError` `not-found`, `storage`. */
  readonly read: (workflow: ListedWorkflow) => string;
  /** Replaces the text of a file. Rejects with an `InvalidWorkflow` if the text is invalid; the file is then unchanged. */
  readonly save: (workflow: ListedWorkflow, text: string, options?: SaveOptions) => Promise<void>;
  /** Creates a workflow and returns its file. Rejects with a `WfError`: `usage` for an invalid name, `conflict` for a taken one. */
  readonly create: (name: string, options?: CreateOptions) => Promise<string>;
  /** Renames a workflow and returns its new file. Rejects as `create` does. */
  readonly rename: (workflow: ListedWorkflow, name: string, check?: CheckText) => Promise<string>;
  readonly remove: (workflow: ListedWorkflow, check?: CheckText) => Promise<void>;
};

/** Checks the present text of a file right before a change. An error is passed on and prevents the change. */
export type CheckText = (present: string) => void;

/** Options of saving; `allowInvalid`: saves an invalid text too. */
export type SaveOptions = { readonly check?: CheckText; readonly allowInvalid?: boolean };

/** The text of a new file; by default a workflow of one step. */
export type CreateOptions = { readonly text?: string; readonly allowInvalid?: boolean };

/** The known files of the workflows directory, and how to read them again after a change. */
type ListedFiles = { readonly list: () => readonly ListedWorkflow[]; readonly refresh: () => Promise<void> };

export type EditorParts = {
  readonly places: ListedPlaces;
  readonly catalog: ListedFiles;
  readonly suspensions: Suspensions;
  /** Checks a text before it is saved; synchronous by default. */
  readonly check?: CheckWorkflow;
};

/** Letters and digits of any script, and common separators; no character that is special in paths or shells. */
const usableName = /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.+ -]*$/u;
const longestNameBytes = 200;
/** Characters of a too long name in a message. */
const shownOfLong = 40;

const firstText = 'steps:\n  - name: hello\n    command: echo hello\n';

/** Creates an editor that notifies the catalog of each change. */
export function createWorkflowEditor({
  places,
  catalog,
  suspensions,
  check: checkWhole = checkWorkflow,
}: EditorParts): WorkflowEditor {
  const change = async <T>(what: string, work: () => T): Promise<T> => {
    try {
      return storing(what, work);
    } finally {
      await catalog.refresh();
    }
  };
  const read = ({ file }: ListedWorkflow) => storing(`read "${file}"`, () => readRegular(file).toString());
  return {
    read,
    save: async (workflow, text, { check, allowInvalid = false } = {}) => {
      const file = editableFile(workflow, places);
      check?.(read(workflow));
      if (!allowInvalid) await refuseInvalid(workflow.file, text, { base: places.base, check: checkWhole });
      // Check again: other requests are handled while a long text is read.
      check?.(read(workflow));
      await change(`save "${workflow.file}"`, () => replaceFile(file, text));
    },
    create: async (name, { text = firstText, allowInvalid = false } = {}) => {
      const { dagsDir } = places;
      if (dagsDir === null)
        throw new WfError('usage', 'there is no workflows directory', { help: 'name one with --dags' });
      const file = join(dagsDir, `${freeName(name, catalog)}.yaml`);
      if (!allowInvalid && text !== firstText)
        await refuseInvalid(file, text, { base: places.base, check: checkWhole });
      await change(`create "${file}"`, () => {
        mkdirSync(dagsDir, { recursive: true, mode: 0o700 });
        createFile(file, text);
      });
      return file;
    },
    rename: async (workflow, name, check) => {
      const { dir, ext } = parse(workflow.file);
      const file = join(dir, `${freeName(name, catalog)}${ext}`);
      check?.(read(workflow));
      await change(`rename "${workflow.file}"`, () => {
        renameFile(workflow.file, file);
        suspensions.move(workflow.file, file);
      });
      return file;
    },
    remove: async (workflow, check) => {
      check?.(read(workflow));
      await change(`delete "${workflow.file}"`, () => {
        unlinkSync(workflow.file);
        if (suspensions.isSuspended(workflow.file)) suspensions.set(workflow.file, false);
      });
    },
  };
}

/** Returns the name without extension. Throws if it is taken anywhere in the directory, since references would be ambiguous. */
function freeName(given: string, catalog: Pick<ListedFiles, 'list'>): string {
  const name = given.trim().replace(/\.ya?ml$/, '');
  requireUsable(name);
  const other = catalog.list().find(({ file }) => parse(file).name === name);
  if (other === undefined) return name;
  throw new WfError('conflict', `a workflow "${name}" exists already`, { help: `its file is "${other.file}"` });
}

/** Throws a `WfError` `usage` for an invalid name; the message shortens a long name. */
function requireUsable(name: string): void {
  const bytes = Buffer.byteLength(name);
  if (bytes > longestNameBytes) {
    const start = [...name].slice(0, shownOfLong).join('');
    throw new WfError('usage', `"${start}..." cannot be the name of a workflow: it has ${bytes} bytes`, {
      help: `a name has at most ${longestNameBytes} bytes`,
    });
  }
  if (usableName.test(name)) return;
  throw new WfError('usage', `"${name}" cannot be the name of a workflow`, {
    help: 'a name has letters, digits, spaces and _ . + -, and begins with a letter, a digit or _',
  });
}

/** Resolves a link to the file to edit. Throws if that file is outside the workflows directory. */
function editableFile({ file }: ListedWorkflow, { dagsDir }: ListedPlaces): string {
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

/** Checks a text; imports are resolved from the directory of the file. */
async function refuseInvalid(
  file: string,
  text: string,
  { base, check }: { readonly base: string | null; readonly check: CheckWorkflow },
): Promise<void> {
  const { isValid, diagnostics, sources } = await check({ text, file: null, dir: dirname(file), base });
  if (isValid) return;
  const inFile = diagnostics.map((diagnostic) => {
    const { place } = diagnostic;
    return place?.file === '-' ? { ...diagnostic, place: { ...place, file } } : diagnostic;
  });
  throw new InvalidWorkflow(parse(file).name, inFile, sources);
}

function storing<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof WfError) throw error;
    const why = messageOf(error);
    if (isCode(error, 'EEXIST')) throw new WfError('conflict', `cannot ${what}: a file of that name exists`);
    if (isCode(error, 'ENOENT')) throw new WfError('not-found', `cannot ${what}: the file no longer exists`);
    throw new WfError('storage', `cannot ${what}: ${why}`, { cause: error });
  }
}
