import type { RunState } from '../core/run-state.ts';
import { steps } from '../core/run-state.ts';
import { verdict } from '../core/verdict.ts';

/** What a handler is told of the run: its status word, and the first failed step with its error, or empty texts. */
export function handlerVariables(run: RunState): Readonly<Record<string, string>> {
  const failed = [...steps(run)].find(({ status }) => status === 'failed');
  return {
    WF_STATUS: verdict(run).status,
    WF_FAILED_STEP: failed?.name ?? '',
    WF_ERROR: failed?.message ?? run.message,
  };
}
