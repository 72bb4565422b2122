import { basename, dirname, relative, resolve } from 'node:path';
import { WfError } from '../../errors.ts';
import type { Diagnostic, Source } from '../../language/diagnostic.ts';
import { loadWorkflow } from '../../language/load.ts';
import { pathKind } from './path-kind.ts';
import { findWorkflowFiles } from './workflow-files.ts';
import { readWorkflow, type WorkflowPlaces, type WorkflowReference } from './workflows.ts';

/** Whether a file can be used, and everything to say about it. */
export type CheckedFile = {
  readonly valid: boolean;
  readonly diagnostics: readonly Diagnostic[];
  readonly sources: readonly Source[];
};

/**
 * The files that names stand for: a directory for every workflow file below it, no name at all for the workflows directory.
 * Throws a `WfError` `not-found` where a directory has no workflow file.
 */
export function filesToCheck(names: readonly string[], { cwd, dagsDir }: WorkflowPlaces): readonly string[] {
  if (names.length > 0) return names.flatMap((name) => filesBelow(name, cwd) ?? [name]);
  const files = dagsDir === null ? null : filesBelow(dagsDir, cwd);
  if (files !== null) return files;
  const where =
    dagsDir === null ? 'no workflows directory is set' : `the workflows directory "${dagsDir}" does not exist`;
  throw new WfError('usage', `no file is named, and ${where}`, { help: 'wf validate FILE, or a directory' });
}

/** Null for what is no directory. Paths are relative where they are shorter so. */
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

/**
 * Everything that is wrong with a workflow, or with a base configuration: the configured one, or a `base.yaml` without steps.
 * `environment`: the names of the variables that a run would inherit.
 */
export function checkFile(
  reference: WorkflowReference,
  places: WorkflowPlaces,
  environment: readonly string[],
): CheckedFile {
  const base = 'name' in reference ? baseNamed(reference.name, places) : null;
  if (base !== null && base === places.base) return checkBase(base);
  const { workflow, diagnostics, sources } = readWorkflow(reference, places, { environment });
  if (base !== null && diagnostics.some(({ code }) => code === 'no-steps')) return checkBase(base);
  return { valid: workflow !== null, diagnostics, sources };
}

function baseNamed(name: string, { cwd, base }: WorkflowPlaces): string | null {
  const path = resolve(cwd, name);
  const isBase = path === base || /^base\.ya?ml$/.test(basename(path));
  return isBase && pathKind(path) === 'file' ? path : null;
}

/** A base counts beneath any workflow, here the smallest. */
function checkBase(base: string): CheckedFile {
  const result = loadWorkflow({ text: 'steps: [{name: step, command: "true"}]', file: null, dir: dirname(base), base });
  const { workflow, diagnostics, sources } = result;
  return { valid: workflow !== null, diagnostics, sources };
}
