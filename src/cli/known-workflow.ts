import { WfError } from '../errors.ts';
import { noSuchRun } from '../service/history/find-run.ts';
import type { History } from '../service/history/history.ts';
import { findWorkflow, type WorkflowPlaces } from '../service/workflows/workflows.ts';
import type { RunArchive } from '../store/store.ts';

/** Where workflows and their runs are known from. */
export type KnownPlaces = {
  readonly history: Pick<History, 'knowsWorkflow'>;
  readonly archive: RunArchive;
  readonly places: WorkflowPlaces;
};

/** A workflow that exists and has not run is known; any other name is a mistake: throws a `WfError` `not-found`. */
export function requireKnownWorkflow(name: string, { history, archive, places }: KnownPlaces): void {
  if (history.knowsWorkflow(name)) return;
  try {
    findWorkflow(name, places);
  } catch (error) {
    throw error instanceof WfError && error.code === 'not-found' ? noSuchRun(archive, name) : error;
  }
}
