import { type LoadResult, loadWorkflow } from '#language/load.ts';
import { TooManyBytes } from '#language/read/decode.ts';
import { ownTurn } from '#system/turns.ts';
import { type CheckWorkflow, checkWorkflow, type LoadWorkflow } from './load-workflow.ts';
import type { TaskThread } from './task-thread.ts';
import type { TaskResults, ThreadTask } from './thread-tasks.ts';
import { readWorkflow, type WorkflowPlaces, type WorkflowReference } from './workflows.ts';

/** Reads the workflow of a reference as `readWorkflow` does, synchronously or by a promise. */
export type ReadWorkflow = (reference: WorkflowReference, places: WorkflowPlaces) => LoadResult | Promise<LoadResult>;

/** Reads workflows without blocking the event loop for long. */
export type WorkflowLoader = {
  readonly load: LoadWorkflow;
  readonly check: CheckWorkflow;
  readonly read: ReadWorkflow;
};

/** The maximum size that is read synchronously: about 20 ms, and one turn of the event loop may read several. */
const MAX_BYTES_AT_ONCE = 32 * 1024;

/**
 * Creates a loader that reads small workflows synchronously, those of requests one in a turn of the event loop, and large
 * ones (with imports and base) in a thread.
 */
export function createWorkflowLoader({ run }: Pick<TaskThread, 'run'>): WorkflowLoader {
  const atOnce = <Kind extends 'load' | 'check' | 'read'>(
    work: (limit: { readonly mostBytes: number }) => TaskResults[Kind],
    task: ThreadTask & { readonly kind: Kind },
  ): TaskResults[Kind] | Promise<TaskResults[Kind]> => {
    try {
      return work({ mostBytes: MAX_BYTES_AT_ONCE });
    } catch (error) {
      if (error instanceof TooManyBytes) return run(task);
      throw error;
    }
  };
  return {
    load: (request) => atOnce((limit) => loadWorkflow({ ...request, ...limit }), { kind: 'load', request }),
    check: async (request) => {
      await ownTurn();
      return atOnce((limit) => checkWorkflow({ ...request, ...limit }), { kind: 'check', request });
    },
    read: async (reference, places) => {
      await ownTurn();
      return atOnce((limit) => readWorkflow(reference, places, limit), { kind: 'read', reference, places });
    },
  };
}
