// Few commands use these functions: each loads its module when it is called.

/** Removes past runs by rules. */
export const applyRetention = onDemand(async () => (await import('./history/removal.ts')).applyRetention);

/** Removes one run that has finished. */
export const removePastRun = onDemand(async () => (await import('./history/removal.ts')).removePastRun);

/** Returns the summary of a run for a notification about it. */
export const summarizeNotice = onDemand(async () => (await import('./history/run-failures.ts')).summarizeNotice);

/** Reads the artifacts that a notification about a run sends. */
export const attachArtifacts = onDemand(async () => (await import('./history/artifacts.ts')).attachArtifacts);

/** The artifacts of a run of this machine. */
export const storedArtifacts = onDemand(async () => (await import('./history/artifacts.ts')).storedArtifacts);

/** Plans the retry of the sub-workflow run of an earlier attempt. */
export const retryChild = onDemand(async () => (await import('./runs/retry-child.ts')).retryChild);

/** Plans the retries of all sub-workflow runs of a run. */
export const retryChildren = onDemand(async () => (await import('./runs/retry-child.ts')).retryChildren);

/** Returns the selection that words mean. Throws a `WfError`. */
export const selectSteps = onDemand(async () => (await import('./runs/select-steps.ts')).selectSteps);

/** Returns the usual duration of a workflow in milliseconds; null without a success. */
export const usualDurationOf = onDemand(async () => (await import('./workflows/workflow-entries.ts')).usualDurationOf);

/** Does work for another thread of this process. */
export const answerTasks = onDemand(async () => (await import('./workflows/thread-tasks.ts')).answerTasks);

/** Like `getWorkflow`. */
export const getWorkflowOnDemand = onDemand(async () => (await import('./workflows/workflows.ts')).getWorkflow);

type Work<Given extends readonly unknown[], Result> = (...given: Given) => Result | Promise<Result>;

function onDemand<Given extends readonly unknown[], Result>(load: () => Promise<Work<Given, Result>>) {
  return async (...given: Given): Promise<Result> => (await load())(...given);
}
