import type { MessagePort } from 'node:worker_threads';
import type { Param } from '#core/run/run.ts';
import type { Workflow } from '#core/workflow.ts';
import { type LoadRequest, type LoadResult, loadWorkflow } from '#language/load.ts';
import { WfError } from '#system/errors.ts';
import { acceptParams } from '../runs/given-params.ts';
import { matchingLines } from './line-matcher.ts';
import { type CheckResult, checkWorkflow } from './load-workflow.ts';
import { readWorkflow, type WorkflowDirectories, type WorkflowReference } from './workflows.ts';

/** A task for a thread: plain data, since functions cannot be sent to it. */
export type ThreadTask =
  | { readonly kind: 'load'; readonly request: LoadRequest }
  | { readonly kind: 'check'; readonly request: LoadRequest }
  | { readonly kind: 'read'; readonly reference: WorkflowReference; readonly directories: WorkflowDirectories }
  | { readonly kind: 'accept'; readonly workflow: Workflow; readonly params: readonly Param[] }
  | { readonly kind: 'search'; readonly pattern: string; readonly text: string };

/** The result of each kind of `ThreadTask`; of a search, the indexes of the matching lines. */
export type TaskResults = {
  readonly load: LoadResult;
  readonly check: CheckResult;
  readonly read: LoadResult;
  readonly accept: readonly Param[];
  readonly search: readonly number[];
};

/** The answer to one `ThreadTask`: its result, an error for the user, or an internal error. */
export type TaskAnswer =
  | { readonly kind: 'result'; readonly result: TaskResults[keyof TaskResults] }
  | { readonly kind: 'error'; readonly error: Pick<WfError, 'code' | 'message' | 'help'> }
  | { readonly kind: 'bug'; readonly error: unknown };

/** Answers each `ThreadTask` that comes to a thread with a `TaskAnswer`. */
export function answerTasks(port: MessagePort): void {
  port.on('message', (task: ThreadTask) => port.postMessage(answer(task)));
}

/** Runs a task. Errors are sent as plain data, since they would lose their class. */
function answer(task: ThreadTask): TaskAnswer {
  try {
    return { kind: 'result', result: resultOf(task) };
  } catch (error) {
    if (!(error instanceof WfError)) return { kind: 'bug', error };
    const { code, message, help } = error;
    return { kind: 'error', error: { code, message, help } };
  }
}

function resultOf(task: ThreadTask): TaskResults[keyof TaskResults] {
  switch (task.kind) {
    case 'load':
      return loadWorkflow(task.request);
    case 'check':
      return checkWorkflow(task.request);
    case 'read':
      return readWorkflow(task.reference, task.directories);
    case 'accept':
      return acceptParams(task.workflow, task.params);
    case 'search':
      return matchingLines(task.pattern, task.text);
  }
}
