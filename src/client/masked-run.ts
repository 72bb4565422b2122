import type { RunSummary } from '../core/run/summary.ts';
import { isNotFound } from '../errors.ts';
import { type DaemonClient, segment } from './daemon-client.ts';

/** Asks a daemon whether secrets in the stored workflow of a run are masked, so that a retry needs the file. */
export async function maskedOf(
  { get }: DaemonClient,
  { runId, status }: RunSummary,
): Promise<{ readonly masked?: true }> {
  // A retry is suggested only for these.
  if (status !== 'failed' && status !== 'canceled') return {};
  try {
    const { masked } = await get(`/runs/${segment(runId)}/view`);
    return masked === true ? { masked: true } : {};
  } catch (error) {
    // A daemon of an earlier version has no such view.
    if (isNotFound(error)) return {};
    throw error;
  }
}
