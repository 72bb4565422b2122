import type * as removal from './history/removal.ts';
import type { summarizeNotice as SummarizeNotice } from './history/run-failures.ts';
import type { retryChild as RetryChild } from './runs/retry-child.ts';
import type { selectSteps as SelectSteps } from './runs/select-steps.ts';
import type { answerTasks as AnswerTasks } from './workflows/thread-tasks.ts';
import type { usualDurationOf as UsualDurationOf } from './workflows/workflow-entries.ts';
import type { getWorkflow as GetWorkflow, LoadedWorkflow } from './workflows/workflows.ts';

// Few commands use these functions: each loads its module when it is called.

/** Removes past runs by rules. */
export const applyRetention: typeof removal.applyRetention = async (...given) =>
  (await import('./history/removal.ts')).applyRetention(...given);

/** Removes one run that has finished. */
export const removePastRun: typeof removal.removePastRun = async (...given) =>
  (await import('./history/removal.ts')).removePastRun(...given);

/** Returns the summary of a run for a notification about it. */
export const summarizeNotice: typeof SummarizeNotice = async (...given) =>
  (await import('./history/run-failures.ts')).summarizeNotice(...given);

/** Plans the retry of the sub-workflow run of an earlier attempt. */
export const retryChild: typeof RetryChild = async (...given) =>
  (await import('./runs/retry-child.ts')).retryChild(...given);

/** Returns the selection that words mean. Throws a `WfError`. */
export async function selectSteps(...given: Parameters<typeof SelectSteps>): Promise<ReturnType<typeof SelectSteps>> {
  return (await import('./runs/select-steps.ts')).selectSteps(...given);
}

/** Returns the usual duration of a workflow in milliseconds; null without a success. */
export async function usualDurationOf(...given: Parameters<typeof UsualDurationOf>): Promise<number | null> {
  return (await import('./workflows/workflow-entries.ts')).usualDurationOf(...given);
}

/** Does work for another thread of this process. */
export async function answerTasks(...given: Parameters<typeof AnswerTasks>): Promise<void> {
  (await import('./workflows/thread-tasks.ts')).answerTasks(...given);
}

/** Like `getWorkflow`. */
export async function getWorkflowOnDemand(...given: Parameters<typeof GetWorkflow>): Promise<LoadedWorkflow> {
  return (await import('./workflows/workflows.ts')).getWorkflow(...given);
}
