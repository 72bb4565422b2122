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
 * Changes the files of the workflows directory. Only files that the catalog lists are touched. Every method rejects with
 * a `WfError` `storage` when the disk refuses.
 */
export type WorkflowEditor = {
  /** The text of a file as it is on the disk. Throws a `WfError` `not-found`, `storage`. */
  readonly read: (workflow: ListedWorkflow) => string;
  /** Puts a text in the place of a file. Rejects with an `InvalidWorkflow` when it could not be run; then nothing is changed. */
  readonly save: (workflow: ListedWorkflow, text: string, options?: SaveOptions) => Promise<void>;
  /** Makes a workflow and answers its file. Rejects with a `WfError`: `usage` for an unusable name, `conflict` for a taken one. */
  readonly create: (name: string, options?: CreateOptions) => Promise<string>;
  /** Answers the new file. Rejects as `create` does. */
  readonly rename: (workflow: ListedWorkflow, name: string, check?: CheckText) => Promise<string>;
  readonly remove: (workflow: ListedWorkflow, check?: CheckText) => Promise<void>;
};

/** Looks at the present text of a file right before that is changed; what it throws is thrown on, and nothing is changed. */
export type CheckText = (present: string) => void;

/** How a text is saved; `allowInvalid`: also one that could not be run. */
export type SaveOptions = { readonly check?: CheckText; readonly allowInvalid?: boolean };

/** What a new file holds: by default a first step. */
export type CreateOptions = { readonly text?: string; readonly allowInvalid?: boolean };

/** The known files of the workflows directory, and how to read them again after a change. */
type ListedFiles = { readonly list: () => readonly ListedWorkflow[]; readonly refresh: () => Promise<void> };

export type EditorParts = {
  readonly places: ListedPlaces;
  readonly catalog: ListedFiles;
  readonly suspensions: Suspensions;
  /** Checks a text before it is saved; at once by default. */
  readonly check?: CheckWorkflow;
};

/** Letters and digits of any script, and what is common between them; nothing that a path or a shell gives a meaning. */
const usableName = /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.+ -]*$/u;
const longestNameBytes = 200;
/** So much of a name that is too long is told, in characters. */
const shownOfLong = 40;

const firstText = 'steps:\n  - name: hello\n    command: echo hello\n';

/** An editor that tells the catalog of each change. */
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
      // Again: a long text is read while other requests are answered.
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

/** The name without extension. Two workflows of one name could not be called by it any more, wherever they lie. */
function freeName(given: string, catalog: Pick<ListedFiles, 'list'>): string {
  const name = given.trim().replace(/\.ya?ml$/, '');
  requireUsable(name);
  const other = catalog.list().find(({ file }) => parse(file).name === name);
  if (other === undefined) return name;
  throw new WfError('conflict', `a workflow "${name}" exists already`, { help: `it is "${other.file}"` });
}

/** Throws a `WfError` `usage` that says which names there can be; a long one is not told whole. */
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

/** What a link leads to is edited in its own place; one that leads out of the directory is not followed. */
function editableFile({ file }: ListedWorkflow, { dagsDir }: ListedPlaces): string {
  const real = storing(`read "${file}"`, () => realpathSync(file));
  const way = relative(
    storing(`read "${dagsDir}"`, () => realpathSync(dagsDir ?? dirname(file))),
    real,
  );
  if (!isAbsolute(way) && way !== '..' && !way.startsWith('../')) return real;
  throw new WfError('usage', `"${file}" is a link to "${real}", which lies outside of the workflows directory`, {
    help: 'edit that file itself',
  });
}

/** A text whose imports are looked for where the file lies. */
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
    if (isCode(error, 'EEXIST')) throw new WfError('conflict', `cannot ${what}: there is a file of that name`);
    if (isCode(error, 'ENOENT')) throw new WfError('not-found', `cannot ${what}: the file is gone`);
    throw new WfError('storage', `cannot ${what}: ${why}`, { cause: error });
  }
}
