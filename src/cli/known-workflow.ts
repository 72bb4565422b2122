import { isNotFound } from '../errors.ts';
import { noSuchRun } from '../service/history/find-run.ts';
import type { History } from '../service/history/history.ts';
import { findWorkflow, type WorkflowPlaces } from '../service/workflows/workflows.ts';
import type { RunArchive } from '../store/store.ts';

/** The places of workflows and runs. */
export type KnownPlaces = {
  readonly history: Pick<History, 'knowsWorkflow'>;
  readonly archive: RunArchive;
  readonly places: WorkflowPlaces;
};

/** Throws a `WfError` `not-found` for a name that is no workflow, and returns for a workflow that has not run. */
export function requireKnownWorkflow(name: string, { history, archive, places }: KnownPlaces): void {
  if (history.knowsWorkflow(name)) return;
  try {
    findWorkflow(name, places);
  } catch (error) {
    throw isNotFound(error) ? noSuchRun(archive, name) : error;
  }
}
