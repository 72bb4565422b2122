import { useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { pathOf, to } from '../../api/address.ts';
import type { ControlRequest } from '../../data/resource.ts';
import { newRunId, type RetryPart, retryRun } from '../../data/run-requests.ts';

/** Returns a function that retries a run, or a part of it, by the request of a control, and opens the new run. */
export function useRetry(runId: string, { send }: ControlRequest): (part: RetryPart) => void {
  const { route } = useLocation();
  // By part, so that a second click repeats the same request.
  const newIds = useMemo(() => new Map<string, string>(), [runId]);
  return (part) =>
    void send(async () => {
      const key = JSON.stringify(part);
      const newId = newIds.get(key) ?? newRunId();
      newIds.set(key, newId);
      const { runId: created } = await retryRun(runId, newId, part);
      route(pathOf(to.run(created)));
    });
}
