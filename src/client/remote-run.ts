import type { RunSummary } from '#core/summary/summary.ts';
import type { LoggedRun } from '#service/history/attempts.ts';
import { foldRun } from '#service/history/fold-run.ts';
import type { RunLogs } from '#store/logs.ts';
import type { DaemonClient } from './daemon-client.ts';
import { storedEvents } from './events/event-feed.ts';
import { type RemoteWorkflow, workflowOf } from './remote-workflow.ts';

/** A run of a daemon with its present events. */
export type RemoteRun = LoggedRun & RemoteWorkflow & { readonly runId: string };

/** Reads a run of a daemon. */
export async function readRemoteRun(client: DaemonClient, summary: RunSummary, logs: RunLogs): Promise<RemoteRun> {
  const { runId } = summary;
  const { workflow, sources } = await workflowOf(client, summary);
  const events = await storedEvents(client, runId);
  // Events that do not fit are from a newer daemon: the summary contains the outcome of the run.
  return { runId, state: foldRun(workflow, events).state, stored: { events, logs }, workflow, sources };
}
