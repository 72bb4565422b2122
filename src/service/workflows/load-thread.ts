import type { MessagePort } from 'node:worker_threads';
import { WfError } from '../../errors.ts';
import { type LoadRequest, type LoadResult, loadWorkflow } from '../../language/load.ts';
import { readWorkflow, type WorkflowPlaces, type WorkflowReference } from './workflows.ts';

/** What a thread is asked to read: plain data, since functions cannot be sent to it. */
export type LoadOrder =
  | { readonly request: LoadRequest }
  | { readonly reference: WorkflowReference; readonly places: WorkflowPlaces };

/** The answer to one `LoadOrder`: its result, an error for the user, or an internal error. */
export type LoadAnswer =
  | { readonly kind: 'result'; readonly result: LoadResult }
  | { readonly kind: 'error'; readonly error: Pick<WfError, 'code' | 'message' | 'help'> }
  | { readonly kind: 'bug'; readonly error: unknown };

/** Answers each `LoadOrder` that comes to a thread with a `LoadAnswer`. */
export function answerLoads(port: MessagePort): void {
  port.on('message', (order: LoadOrder) => port.postMessage(answer(order)));
}

/** Errors lose their class on the way to another thread. */
function answer(order: LoadOrder): LoadAnswer {
  try {
    return {
      kind: 'result',
      result: 'request' in order ? loadWorkflow(order.request) : readWorkflow(order.reference, order.places),
    };
  } catch (error) {
    if (!(error instanceof WfError)) return { kind: 'bug', error };
    const { code, message, help } = error;
    return { kind: 'error', error: { code, message, help } };
  }
}
