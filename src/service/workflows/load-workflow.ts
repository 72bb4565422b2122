import type { LoadRequest, LoadResult } from '../../language/load.ts';

/** Loads a workflow as `loadWorkflow` does, at once or later; then the promise rejects with what that throws. */
export type LoadWorkflow = (request: LoadRequest) => LoadResult | Promise<LoadResult>;
