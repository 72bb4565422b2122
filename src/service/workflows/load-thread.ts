import type { MessagePort } from 'node:worker_threads';
import { WfError } from '../../errors.ts';
import { type LoadRequest, type LoadResult, loadWorkflow } from '../../language/load.ts';
import { type CheckResult, checkWorkflow } from './load-workflow.ts';
import { readWorkflow, type WorkflowPlaces, type WorkflowReference } from './workflows.ts';

/** A task for a thread: plain data, since functions cannot be sent to it. */
export type LoadOrder =
  | { readonly kind: 'load'; readonly request: LoadRequest }
  | { readonly kind: 'check'; readonly request: LoadRequest }
  | { readonly kind: 'read'; readonly reference: WorkflowReference; readonly places: WorkflowPlaces };

/** The result of each kind of `LoadOrder`. */
export type LoadResults = { readonly load: LoadResult; readonly check: CheckResult; readonly read: LoadResult };

/** The answer to one `LoadOrder`: its result, an error for the user, or an internal error. */
export type LoadAnswer =
  | { readonly kind: 'result'; readonly result: LoadResults[keyof LoadResults] }
  | { readonly kind: 'error'; readonly error: Pick<WfError, 'code' | 'message' | 'help'> }
  | { readonly kind: 'bug'; readonly error: unknown };

/** Answers each `LoadOrder` that comes to a thread with a `LoadAnswer`. */
export function answerLoads(port: MessagePort): void {
  port.on('message', (order: LoadOrder) => port.postMessage(answer(order)));
}

/** Runs a task. Errors are sent as plain data, since they would lose their class. */
function answer(order: LoadOrder): LoadAnswer {
  try {
    return { kind: 'result', result: resultOf(order) };
  } catch (error) {
    if (!(error instanceof WfError)) return { kind: 'bug', error };
    const { code, message, help } = error;
    return { kind: 'error', error: { code, message, help } };
  }
}

function resultOf(order: LoadOrder): LoadResults[keyof LoadResults] {
  switch (order.kind) {
    case 'load':
      return loadWorkflow(order.request);
    case 'check':
      return checkWorkflow(order.request);
    case 'read':
      return readWorkflow(order.reference, order.places);
  }
}
