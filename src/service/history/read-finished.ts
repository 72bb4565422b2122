import type { RunArchive } from '#store/store.ts';
import { WfError } from '#system/errors.ts';
import { foldRun } from './fold-run.ts';
import type { PastRun } from './past-run.ts';

/**
 * Reads a finished run without its workflow, from its journal alone; null for any other run, and if its state depends on
 * the workflow.
 */
export function readFinished(archive: Pick<RunArchive, 'readEvents'>, runId: string): PastRun | null {
  try {
    const { events, damage } = archive.readEvents(runId);
    const types = new Set(events.map(({ type }) => type));
    const isEnough = types.has('run.created') && types.has('run.finished') && !types.has('step.marked');
    return isEnough ? { runId, state: foldRun(null, events).state, stored: null, damage } : null;
  } catch (error) {
    if (error instanceof WfError) return null;
    throw error;
  }
}
