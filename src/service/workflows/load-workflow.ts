import { type LoadRequest, type LoadResult, loadWorkflow } from '../../language/load.ts';

/** Loads a workflow as `loadWorkflow` does, at once or later; then the promise rejects with what that throws. */
export type LoadWorkflow = (request: LoadRequest) => LoadResult | Promise<LoadResult>;

/** The result of a load without the workflow, which for a large file takes long to send to another thread. */
export type CheckResult = Pick<LoadResult, 'diagnostics' | 'sources'> & { readonly isValid: boolean };

/** Checks a workflow as `checkWorkflow` does, at once or later; then the promise rejects with what that throws. */
export type CheckWorkflow = (request: LoadRequest) => CheckResult | Promise<CheckResult>;

/** Loads a workflow only for its diagnostics. Throws what `loadWorkflow` throws. */
export function checkWorkflow(request: LoadRequest): CheckResult {
  const { workflow, diagnostics, sources } = loadWorkflow(request);
  // Only a file with errors is shown with its text.
  return { isValid: workflow !== null, diagnostics, sources: workflow === null ? sources : [] };
}
