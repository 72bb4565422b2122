import { type Signal, useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { pathOf, to } from '../../api/address.ts';
import { ApiProblem } from '../../api/client.ts';
import { newRunId, type RetryPart, retryRun } from '../../data/run-requests.ts';

/** Retries a run, or a part of it, and opens the new run; `problem` is the reason of a failure. */
export function useRetry(
  runId: string,
  problem: Signal<ApiProblem | null>,
): { readonly isPending: Signal<boolean>; readonly retry: (part: RetryPart) => Promise<void> } {
  const { route } = useLocation();
  const isPending = useSignal(false);
  // By part, so that a second click repeats the same request.
  const newIds = useMemo(() => new Map<string, string>(), [runId]);
  const retry = async (part: RetryPart) => {
    isPending.value = true;
    problem.value = null;
    const key = JSON.stringify(part);
    const newId = newIds.get(key) ?? newRunId();
    newIds.set(key, newId);
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
