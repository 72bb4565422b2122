import type { RunSummary } from '../../core/run/summary.ts';
import { noSchedule } from '../../core/workflow.ts';
import { diagnosticJson } from '../../render/views/diagnostic-json.ts';
import type { History } from '../../service/history/history.ts';
import type { WorkflowEntry } from '../../service/history/run-access.ts';
import type { ListedWorkflow } from '../../service/workflows/listed-workflow.ts';
import { listWorkflows, type WorkflowPlaces } from '../../service/workflows/workflows.ts';
import type { RunArchive } from '../../store/store.ts';

/** The local workflows and runs; `past` is null if no runs are stored. */
export type LocalPlaces = {
  readonly places: WorkflowPlaces;
  readonly past: { readonly archive: RunArchive; readonly history: History } | null;
  readonly isSuspended: (file: string) => boolean;
};

/** Returns the local workflows with their last runs, in the order of their paths. */
export async function localWorkflows({ places, past, isSuspended }: LocalPlaces): Promise<readonly WorkflowEntry[]> {
  const workflows = listWorkflows(places);
  const lastRuns = past === null ? new Map<string, RunSummary>() : await findLastRuns(workflows, past);
  const nextStarts = await findNextStarts(workflows.filter(({ file }) => !isSuspended(file)));
  return workflows.map(({ workflow, name, group, file, diagnostics }) => ({
    name,
    group,
    file,
    description: workflow?.description ?? '',
    tags: workflow?.tags ?? [],
    schedule: workflow?.schedule ?? noSchedule,
    next: nextStarts.get(file)?.toISOString() ?? null,
    suspended: isSuspended(file),
    lastRun: lastRuns.get(file) ?? null,
    diagnostics: diagnostics.map(diagnosticJson),
  }));
}

/** Returns the next starts by file. The cron library is loaded only if there is a schedule. */
async function findNextStarts(workflows: readonly ListedWorkflow[]): Promise<ReadonlyMap<string, Date>> {
  const scheduled = workflows.flatMap(({ file, workflow }) =>
    workflow === null || workflow.schedule.start.length === 0 ? [] : [{ file, schedule: workflow.schedule }],
  );
  if (scheduled.length === 0) return new Map();
  const { loadCronTimes } = await import('../../daemon/schedule/cron-times.ts');
  const { nextStart } = await import('../../daemon/schedule/next-start.ts');
  const times = await loadCronTimes();
  const now = Date.now();
  return new Map(
    scheduled.flatMap(({ file, schedule }) => {
      const next = nextStart(schedule, times, now);
      return next === null ? [] : [[file, next] as const];
    }),
  );
}

/** Returns the last runs by file. Only the last run of each workflow is read. */
async function findLastRuns(
  workflows: readonly ListedWorkflow[],
  { archive, history }: { readonly archive: RunArchive; readonly history: History },
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
