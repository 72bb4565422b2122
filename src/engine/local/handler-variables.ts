import type { RunState } from '../../core/run/run-state.ts';
import { steps } from '../../core/run/run-state.ts';
import { verdict } from '../../core/run/verdict.ts';

/**
 * What a handler is told of the run: its status word, the step that failed first, and why it or the run failed; empty
 * texts where there is nothing to tell.
 */
export function handlerVariables(run: RunState): Readonly<Record<string, string>> {
  const { status, message } = verdict(run);
  const [failed] = [...steps(run)]
    .filter((step) => step.status === 'failed')
    .sort((a, b) => Number(a.restored) - Number(b.restored) || (a.finishedAt ?? 0) - (b.finishedAt ?? 0));
  return {
    WF_STATUS: status,
    WF_FAILED_STEP: failed?.name ?? '',
    WF_ERROR: failed?.message ?? message,
  };
}
