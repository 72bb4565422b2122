import { type WorkflowInfo, type WorkflowInterceptorsFactory, workflowInfo } from '@temporalio/workflow';

/** How far a history was read: the number of its last event, and its bytes before the last workflow task. */
type Read = Pick<WorkflowInfo, 'historyLength' | 'historySize'>;

/**
 * Whether a worker was given events before the workflow task that they belong to. That happens if it answers a query of a
 * run that it does not know while the next task waits: it reads the history up to its last event. A replay gets these
 * events with those that follow, in another order (signals come first), so decisions about them cannot be repeated. Each
 * task brings a new size; without sizes, of servers before 1.20, there is no way to know.
 */
export function isReadAhead(before: Read | null, now: Read): boolean {
  if (before === null || now.historySize === 0) return false;
  return now.historySize === before.historySize && now.historyLength > before.historyLength;
}

/** Refuses events that were read ahead: the query fails, and the worker forgets the run until the task comes. */
export const interceptors: WorkflowInterceptorsFactory = () => {
  let before: Read | null = null;
  return {
    internals: [
      {
        activate: (input, next) => {
          const isQuery = input.activation.jobs?.every(({ queryWorkflow }) => queryWorkflow) === true;
          if (!isQuery) {
            const { historyLength, historySize } = workflowInfo();
            const now = { historyLength, historySize };
            if (isReadAhead(before, now)) throw new Error('the run has events that no worker has decided about yet');
            before = now;
          }
          next(input);
        },
      },
    ],
  };
};
