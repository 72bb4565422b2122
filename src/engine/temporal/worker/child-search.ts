import { given } from '#core/data/collections.ts';
import { isSameChild } from '#core/run/retry.ts';
import { handlerKind } from '#core/workflow.ts';
import type { Attempt, SubworkflowRequest } from '#executors/executor.ts';
import { WfError } from '#system/errors.ts';
import { knownWorkflow, refuseCircle } from '../../driver/child-run.ts';
import type { StepTask } from '../../driver/step-task.ts';
import type { RunRequest } from '../../engine.ts';
import type { LocalEngineOptions } from '../../local/engine-options.ts';
import type { ChildEnd, ChildStart } from '../protocol.ts';

/** How a worker finds the parameters of a child run, and an id for it. */
export type ChildSearch = Pick<LocalEngineOptions, 'findSubworkflow' | 'newRunId'>;

/** Evaluates the child run of an attempt. Returns how to start it, or why it cannot start. */
export async function findChild(
  asked: SubworkflowRequest,
  attempt: Attempt,
  { request, search }: { readonly request: RunRequest; readonly search: ChildSearch },
): Promise<ChildStart | { readonly problem: string }> {
  const { step, number } = attempt;
  try {
    const expand = (text: string) => attempt.expand(text);
    const run = expand(asked.run);
    const known = knownWorkflow(request, run);
    const { sources } = request;
    const found = await search.findSubworkflow({ ...asked, run, parent: request.workflow, sources, expand, known });
    refuseCircle(request, found.workflow);
    const runId = search.newRunId();
    const isNamedByVariables = run !== asked.run && !attempt.holdsSecret(run);
    attempt.started(null, { runId, ...(isNamedByVariables ? { workflow: run } : {}) });
    // A handler belongs to its own run, and further attempts start from the beginning.
    const earlier = number > 1 || handlerKind(step.name) !== null ? undefined : request.known?.retries?.[step.name];
    return {
      runId,
      run,
      params: found.params,
      isRetry: earlier !== undefined && isSameChild(earlier, found.workflow, found.params),
      variables: Object.fromEntries(step.env.map(({ name }) => [name, attempt.env[name] ?? ''])),
      timeoutMs: step.timeoutMs,
      ...given({ graceMs: step.graceMs }),
    };
  } catch (error) {
    if (!(error instanceof WfError)) throw error;
    attempt.started(null);
    return { problem: error.message.replaceAll('\n', '; ') };
  }
}

/** The rest of an attempt whose child run has ended: what was evaluated before it is not evaluated again. */
export function taskAfterChild(task: StepTask, { start }: ChildEnd): StepTask {
  const step = { ...task.step, env: [], preconditions: [] };
  return { ...task, step, variables: { ...task.variables, ...start.variables } };
}
