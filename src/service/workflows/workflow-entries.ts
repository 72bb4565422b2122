import type { RunSummary } from '../../core/summary/summary.ts';
import { noSchedule } from '../../core/workflow.ts';
import type { RunArchive, Suspensions } from '../../store/store.ts';
import type { History } from '../history/history.ts';
import type { WorkflowEntry } from '../service.ts';
import type { ListedWorkflow } from './listed-workflow.ts';
import { listWorkflows, type WorkflowPlaces } from './workflows.ts';

/** The local workflows and runs. */
export type EntryTools = {
  readonly places: WorkflowPlaces;
  /** Null if no runs are stored. */
  readonly past: { readonly archive: RunArchive; readonly history: History } | null;
  readonly suspendedUntil: Suspensions['suspendedUntil'];
  /** Returns the next starts by file. */
  readonly nextStarts: (
    workflows: readonly ListedWorkflow[],
    suspendedUntil: Suspensions['suspendedUntil'],
  ) => Promise<ReadonlyMap<string, Date>>;
};

/** Returns the local workflows with their last runs: those of the current directory, then those of the workflows directory. */
export async function workflowEntries({
  places,
  past,
  suspendedUntil,
  nextStarts,
}: EntryTools): Promise<readonly WorkflowEntry[]> {
  const { here, listed } = listWorkflows(places);
  const workflows = [...here, ...listed];
  const lastRuns = past === null ? new Map<string, RunSummary>() : await findLastRuns(workflows, past);
  const next = await nextStarts(listed, suspendedUntil);
  return workflows.map(({ workflow, name, group, file, diagnostics }, index) => ({
    name,
    ...(index < here.length ? { here: true } : {}),
    group,
    file,
    description: workflow?.description ?? '',
    tags: workflow?.tags ?? [],
    queue: workflow?.queue ?? null,
    schedule: workflow?.schedule ?? noSchedule,
    next: next.get(file)?.toISOString() ?? null,
    ...suspensionOf(suspendedUntil(file)),
    lastRun: lastRuns.get(file) ?? null,
    diagnostics,
  }));
}

function suspensionOf(end: number | null): Pick<WorkflowEntry, 'suspended' | 'suspendedUntil'> {
  const hasEnd = end !== null && Number.isFinite(end);
  return { suspended: end !== null, suspendedUntil: hasEnd ? new Date(end).toISOString() : null };
}

/** Returns the last runs by file. Only the last run of each workflow is read. */
async function findLastRuns(
  workflows: readonly ListedWorkflow[],
  { archive, history }: NonNullable<EntryTools['past']>,
): Promise<ReadonlyMap<string, RunSummary>> {
  const missing = new Set(workflows.map(({ file }) => file));
  const found = new Map<string, RunSummary>();
  const ids = missing.size === 0 ? [] : archive.list();
  const labelOf = archive.labels(ids);
  for (const runId of ids) {
    if (missing.size === 0) break;
    const file = labelOf(runId)?.file ?? null;
    const run = file === null || !missing.has(file) ? null : await history.read(runId);
    if (file === null || run === null) continue;
    missing.delete(file);
    found.set(file, history.summarize(run));
  }
  return found;
}
