import { type LoadRequest, type LoadResult, loadWorkflow } from '../../language/load.ts';

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
