import { type Signal, useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { pathOf, to } from '../../api/address.ts';
import { ApiProblem } from '../../api/problem.ts';
import { newRunId, type RetryPart, retryRun } from '../../data/run-actions.ts';

/** Retries a run, or a part of it, and opens the new run; `problem` gets the reason if that fails. */
export function useRetry(
  runId: string,
  problem: Signal<ApiProblem | null>,
): { readonly isPending: Signal<boolean>; readonly retry: (part: RetryPart) => Promise<void> } {
  const { route } = useLocation();
  const isPending = useSignal(false);
  // Made once, so that a second click is the same request.
  const newId = useMemo(newRunId, [runId]);
  const retry = async (part: RetryPart) => {
    isPending.value = true;
    problem.value = null;
    try {
      const { runId: created } = await retryRun(runId, newId, part);
      route(pathOf(to.run(created)));
    } catch (error) {
      problem.value = ApiProblem.of(error);
      isPending.value = false;
    }
  };
  return { isPending, retry };
}
