import { signal } from '@preact/signals';
import type { RunSummary } from '#run-view/api/types.ts';
import { api, ask } from '../api/client.ts';

/** Whether the form that answers an approval is on the screen, or its answer is being sent. */
export const openAnswer = signal<'open' | 'sending' | null>(null);

/** Requests the stop of a run; `force`: its running steps are killed. */
export function stopRun(id: string, force: boolean): Promise<RunSummary> {
  return ask(api.POST('/api/v2/runs/{id}/stop', { params: { path: { id } }, body: { force } }));
}

/** Removes a finished run with its logs. */
export function deleteRun(id: string): Promise<void> {
  return ask(api.DELETE('/api/v2/runs/{id}', { params: { path: { id } } }));
}

/** The statuses that a user can give to a step. */
export type MarkedStatus = 'succeeded' | 'failed';

/** Sets the status of a step of a finished run. */
export function markStep(id: string, step: string, status: MarkedStatus): Promise<RunSummary> {
  return ask(api.POST('/api/v2/runs/{id}/steps/{step}/mark', { params: { path: { id, step } }, body: { status } }));
}

/** Approves a step that waits for approval. Omitted inputs have their defaults. */
export function approveStep(
  id: string,
  step: string,
  body: { readonly inputs: Readonly<Record<string, string>>; readonly comment: string },
): Promise<RunSummary> {
  return ask(api.POST('/api/v2/runs/{id}/steps/{step}/approve', { params: { path: { id, step } }, body }));
}

/** Rejects a step that waits for approval, so that it fails. */
export function rejectStep(id: string, step: string, reason: string): Promise<RunSummary> {
  return ask(api.POST('/api/v2/runs/{id}/steps/{step}/reject', { params: { path: { id, step } }, body: { reason } }));
}

/** The scope of a retry: all steps that did not succeed, one step and its dependents, or one step alone. */
export type RetryPart = { readonly from: string } | { readonly step: string } | Record<string, never>;

/** Retries a run. Repeated requests with the same `runId` create one run. */
export function retryRun(id: string, runId: string, part: RetryPart): Promise<RunSummary> {
  return ask(api.POST('/api/v2/runs/{id}/retry', { params: { path: { id } }, body: { ...part, runId } }));
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
