import { basename, dirname, join, relative, resolve } from 'node:path';
import { given } from '#core/data/collections.ts';
import type { Workflow } from '#core/workflow.ts';
import type { Diagnostic, Source } from '#language/diagnostic.ts';
import { parseDotenv } from '#language/formats.ts';
import { type LoadRequest, type LoadResult, loadWorkflow } from '#language/load.ts';
import { tryOr, WfError } from '#system/errors.ts';
import { readRegular } from '#system/files.ts';
import { findWorkflowFiles, pathKind, workflowsIn } from './workflow-directory.ts';
import { readWorkflow, type WorkflowDirectories, type WorkflowReference } from './workflows.ts';

/** Whether a file is valid, with its diagnostics. */
export type CheckedFile = {
  readonly valid: boolean;
  /** Null: it is invalid, or a base configuration. */
  readonly workflow: Workflow | null;
  readonly form?: LoadResult['form'];
  readonly diagnostics: readonly Diagnostic[];
  /** Warnings that the file silences. */
  readonly ignored: readonly Diagnostic[];
  readonly sources: readonly Source[];
};

/**
 * Returns the files that names select: a directory selects every workflow file below it, an empty list the workflows
 * directory, or without one the files here. Throws a `WfError` `not-found` if a directory has no workflow file.
 */
export function filesToCheck(names: readonly string[], { cwd, dagsDir }: WorkflowDirectories): readonly string[] {
  if (names.length > 0) return names.flatMap((name) => filesBelow(name, cwd) ?? [name]);
  const files = dagsDir === null ? null : filesBelow(dagsDir, cwd);
  if (files !== null) return files;
  const here = workflowsIn(cwd);
  if (here.length > 0) return here;
  const where =
    dagsDir === null ? 'no workflows directory is set' : `the workflows directory "${dagsDir}" does not exist`;
  throw new WfError('usage', `no file is named, and ${where}`, { help: 'wf validate FILE, or a directory' });
}

/** Lists the files below a directory; null if the name is no directory. Paths are relative if that is shorter. */
function filesBelow(name: string, cwd: string): readonly string[] | null {
  const directory = resolve(cwd, name);
  if (name === '-' || pathKind(directory) !== 'directory') return null;
  const { files } = findWorkflowFiles(directory);
  if (files.length === 0) throw new WfError('not-found', `there is no workflow file in "${name}"`);
  return files.map((file) => {
    const fromHere = relative(cwd, file);
    return fromHere.startsWith('..') ? file : fromHere;
  });
}

/** Checks a workflow, or a base configuration. `environment`: the variables that a run would inherit. */
export function checkFile(
  reference: WorkflowReference,
  directories: WorkflowDirectories,
  checks: Pick<LoadRequest, 'environment' | 'isStrict' | 'pools'>,
): CheckedFile {
  const base = 'name' in reference ? baseNamed(reference.name, directories) : null;
  if (base !== null && base === directories.base) return checkBase(base);
  const { workflow, diagnostics, form, ignored = [], sources } = readWorkflow(reference, directories, checks);
  if (base !== null && diagnostics.some(({ code }) => code === 'no-steps')) return checkBase(base);
  const checked = { diagnostics: withDotenvHelp(diagnostics), ignored, sources };
  return { valid: workflow !== null, workflow, ...given({ form }), ...checked };
}

/** Names the file `.env` beside a file in the warning about a variable that only `.env` sets: it is not read by itself. */
function withDotenvHelp(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const read = new Map<string, ReadonlySet<string>>();
  return diagnostics.map((diagnostic) => {
    const { code, message, position, label } = diagnostic;
    const name = code === 'unset-variable' ? /"\$(\w+)"$/.exec(message)?.[1] : undefined;
    if (name === undefined || position === null) return diagnostic;
    const path = join(dirname(position.file), '.env');
    const entries = () => parseDotenv(readRegular(path).toString('utf8'));
    const names = read.get(path) ?? new Set(tryOr([], entries).map((entry) => entry.name));
    read.set(path, names);
    if (!names.has(name)) return diagnostic;
    const help = `The file ".env" beside it does, but is not read: write "dotenv: .env" at the top.`;
    return { ...diagnostic, label: label === '' ? '' : 'set in ".env"', help };
  });
}

function baseNamed(name: string, { cwd, base }: WorkflowDirectories): string | null {
  const path = resolve(cwd, name);
  const isBase = path === base || /^base\.ya?ml$/.test(basename(path));
  return isBase && pathKind(path) === 'file' ? path : null;
}

/** Checks a base configuration by merging it into a minimal workflow. */
function checkBase(base: string): CheckedFile {
  const text = 'steps: [{name: step, command: "true"}]';
  const { workflow, diagnostics, ignored = [], sources } = loadWorkflow({ text, file: null, dir: dirname(base), base });
  return { valid: workflow !== null, workflow: null, diagnostics, ignored, sources };
}
