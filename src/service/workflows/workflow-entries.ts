import { usualDurationMs } from '#core/summary/summarize.ts';
import type { RunSummary } from '#core/summary/summary.ts';
import { noSchedule } from '#core/workflow.ts';
import type { RunArchive, RunStatuses, Suspensions } from '#store/store.ts';
import type { History } from '../history/history.ts';
import type { WorkflowEntry } from '../service.ts';
import { type ListedWorkflow, listWorkflows, type WorkflowDirectories } from './workflows.ts';

/** The local workflows and runs. */
export type EntryTools = {
  readonly directories: WorkflowDirectories;
  /** Null if no runs are stored. */
  readonly past: { readonly archive: RunArchive; readonly history: History } | null;
  readonly suspendedUntil: Suspensions['suspendedUntil'];
  readonly nextStarts: (
    workflows: readonly ListedWorkflow[],
    suspendedUntil: Suspensions['suspendedUntil'],
  ) => Promise<ReadonlyMap<string, Date>>;
};

/** Returns the local workflows with their last runs: those of the current directory, then those of the workflows directory. */
export async function workflowEntries({
  directories,
  past,
  suspendedUntil,
  nextStarts,
}: EntryTools): Promise<readonly WorkflowEntry[]> {
  const { here, listed } = listWorkflows(directories);
  const workflows = [...here, ...listed];
  const pastOf = past === null ? new Map<string, PastOfFile>() : await findPast(workflows, past);
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
    lastRun: pastOf.get(file)?.last ?? null,
    medianMs: medianOf(pastOf.get(file)),
    diagnostics,
  }));
}

function suspensionOf(end: number | null): Pick<WorkflowEntry, 'suspended' | 'suspendedUntil'> {
  const hasEnd = end !== null && Number.isFinite(end);
  return { suspended: end !== null, suspendedUntil: hasEnd ? new Date(end).toISOString() : null };
}

function medianOf(past: PastOfFile | undefined): number | null {
  return past === undefined ? null : usualDurationMs([past.last, ...past.earlier]);
}

/** The number of runs among which successes are looked for, as in the API. */
const MOST_RECENT = 20;

type PastOfFile = { readonly last: RunSummary; readonly earlier: UsualRun[] };
type UsualRun = Parameters<typeof usualDurationMs>[0][number];

/** Returns by file the last run, which is read, and the remembered durations of earlier ones. */
async function findPast(
  workflows: readonly ListedWorkflow[],
  { archive, history }: NonNullable<EntryTools['past']>,
): Promise<ReadonlyMap<string, PastOfFile>> {
  const missing = new Set(workflows.map(({ file }) => file));
  const found = new Map<string, PastOfFile>();
  const ids = missing.size === 0 ? [] : archive.list();
  const labelOf = archive.labels(ids);
  const statuses = archive.statuses(ids);
  for (const runId of ids) {
    if (missing.size === 0) break;
    const file = labelOf(runId)?.file ?? null;
    if (file === null || !missing.has(file)) continue;
    const past = found.get(file);
    if (past === undefined) {
      const run = await history.read(runId);
      if (run !== null) found.set(file, { last: history.summarize(run), earlier: [] });
      continue;
    }
    past.earlier.push(rememberedRun(runId, statuses));
    if (past.earlier.length === MOST_RECENT - 1) missing.delete(file);
  }
  return found;
}

function rememberedRun(runId: string, statuses: RunStatuses): UsualRun {
  const status = statuses.of(runId);
  return { status, durationMs: status === 'succeeded' ? statuses.durationOf(runId) : null };
}

/** Returns the usual duration of a workflow from remembered statuses: no run is read. Null without a success. */
export function usualDurationOf(file: string, archive: RunArchive): number | null {
  const ids = archive.list();
  const labelOf = archive.labels(ids);
  const statuses = archive.statuses(ids);
  const runs: UsualRun[] = [];
  for (const runId of ids) {
    if (runs.length === MOST_RECENT) break;
    if (labelOf(runId)?.file !== file) continue;
    runs.push(rememberedRun(runId, statuses));
  }
  return usualDurationMs(runs);
}
