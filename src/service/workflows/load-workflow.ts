import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { type LoadRequest, type LoadResult, loadWorkflow } from '#language/load.ts';
import { messageOf, WfError } from '#system/errors.ts';

/** Loads a workflow as `loadWorkflow` does, synchronously or by a promise that rejects with its error. */
export type LoadWorkflow = (request: LoadRequest) => LoadResult | Promise<LoadResult>;

/** The result of a load without the workflow, which for a large file takes long to send to another thread. */
export type CheckResult = Pick<LoadResult, 'diagnostics' | 'sources'> & { readonly isValid: boolean };

/** Checks a workflow as `checkWorkflow` does, synchronously or by a promise that rejects with its error. */
export type CheckWorkflow = (request: LoadRequest) => CheckResult | Promise<CheckResult>;

/** Loads a workflow only for its diagnostics. Throws what `loadWorkflow` throws. */
export function checkWorkflow(request: LoadRequest): CheckResult {
  const { workflow, diagnostics, sources } = loadWorkflow(request);
  // The text is shown only for a file with errors.
  return { isValid: workflow !== null, diagnostics, sources: workflow === null ? sources : [] };
}

type CheckOptions = Required<Pick<LoadRequest, 'environment'>> &
  Pick<LoadRequest, 'pools'> & { readonly check: CheckWorkflow; readonly beside?: string | null };

/**
 * Checks the text of a workflow from elsewhere. Imports are resolved as if the file were in the workflows directory, or in
 * that of `beside`, a file there, and never outside of it. `environment`: the names of the variables that a run would
 * inherit. Rejects with a `WfError` `usage` if there is no workflows directory, `storage` if it cannot be created.
 */
export async function checkText(
  text: string,
  { dagsDir, base }: { readonly dagsDir: string | null; readonly base: string | null },
  { check, beside = null, ...checks }: CheckOptions,
): Promise<CheckResult> {
  if (dagsDir === null) {
    throw new WfError('usage', 'there is no workflows directory', { help: 'name one with --dags' });
  }
  try {
    mkdirSync(dagsDir, { recursive: true, mode: 0o700 });
  } catch (error) {
    const why = messageOf(error);
    throw new WfError('storage', `the workflows directory "${dagsDir}" cannot be created: ${why}`, { cause: error });
  }
  return check({ text, file: null, dir: beside === null ? dagsDir : dirname(beside), base, ...checks });
}
