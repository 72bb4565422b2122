import type { RunSummary } from '../core/run/summary.ts';
import { foldRun } from '../service/history/fold-run.ts';
import type { PastRun } from '../service/history/past-run.ts';
import type { DaemonClient } from './daemon-client.ts';
import { storedEvents } from './events/event-feed.ts';
import { remoteLogPaths } from './logs/log-path.ts';
import { type RemoteWorkflow, workflowOf } from './remote-workflow.ts';

/** Reads a run of a daemon from its present events. The paths of its logs are those of the API. */
export async function readRemoteRun(client: DaemonClient, summary: RunSummary): Promise<PastRun & RemoteWorkflow> {
  const { runId } = summary;
  const { workflow, sources } = await workflowOf(client, summary);
  const events = await storedEvents(client, runId);
  const logPaths = (step: string, attempt: number) => remoteLogPaths(runId, step, attempt);
  const stored = { runId, workflow, sources, events, damage: [], logPaths };
  // Events that do not fit are from a newer daemon: the summary contains the outcome of the run.
  return { runId, state: foldRun(workflow, events).state, stored, damage: [], workflow, sources };
}
