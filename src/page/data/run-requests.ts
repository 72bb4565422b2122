import { signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { pathOf, to } from '../api/address.ts';
import { api, ask } from '../api/client.ts';
import type { ControlRequest } from './resource.ts';

/** Whether the form that answers an approval is on the screen, or its answer is being sent. */
export const openAnswer = signal<'open' | 'sending' | null>(null);

/** The scope of a retry: all steps that did not succeed, one step and its dependents, or one step alone. */
type RetryPart = { readonly from: string } | { readonly step: string } | Record<string, never>;

/** Returns a function that retries a run, or a part of it, by the request of a control, and opens the new run. */
export function useRetry(id: string, { send }: ControlRequest): (part: RetryPart) => void {
  const { route } = useLocation();
  // By part, so that a second click repeats the same request: requests with the same id create one run.
  const newIds = useMemo(() => new Map<string, string>(), [id]);
  return (part) =>
    void send(async () => {
      const key = JSON.stringify(part);
      const runId = newIds.get(key) ?? newRunId();
      newIds.set(key, runId);
      const created = await ask(
        api.POST('/api/v2/runs/{id}/retry', { params: { path: { id } }, body: { ...part, runId } }),
      );
      route(pathOf(to.run(created.runId)));
    });
}

/** Creates a run id: a UUID of version 7, which sorts by time. */
export function newRunId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const time = Date.now();
  for (let index = 0; index < 6; index++) bytes[index] = Math.floor(time / 2 ** (8 * (5 - index))) % 256;
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
