import { type Config, requireNamedDags, workflowDirectories } from '#config/config.ts';
import type { Reach } from '#service/history.ts';
import { createLocalService, type LocalService } from '#service/local-service.ts';
import { beginRun } from '#service/start-runs.ts';
import { type ListedWorkflow, readWorkflow } from '#service/workflows.ts';

/** Opens the service of this machine. `dags`: the workflows directory given by an option, for the processes of its runs. */
export async function openLocal(
  config: Config,
  dags: string | undefined,
  reach: Reach = { cwd: config.cwd, any: true },
): Promise<LocalService> {
  const app = await import('#app/history-app.ts');
  const past = () => app.createPast(config, { reach });
  return createLocalService({
    location: `this directory or ${config.dagsDir ?? 'the workflows directory: there is no home'}`,
    reach,
    directories: workflowDirectories(config),
    past,
    control: () => {
      const control = app.createControl(config, { reach, dags: dags ?? null });
      const engine = control.engineFor({ store: control.store, begin: (runId) => beginRun(runId, control) });
      return { ...control, read: readWorkflow, engine };
    },
    locks: async () => (await app.openLocks(config)).list(),
    entries: async () => {
      requireNamedDags(config);
      const suspendedUntil = await app.suspensions(config);
      return { past: config.runsDir === null ? null : past(), suspendedUntil, nextStarts };
    },
  });
}

/** Returns the next starts by file. The cron library is loaded only if there is a schedule. */
async function nextStarts(
  workflows: readonly ListedWorkflow[],
  suspendedUntil: (file: string) => number | null,
): Promise<ReadonlyMap<string, Date>> {
  const scheduled = workflows.flatMap(({ file, workflow }) =>
    workflow === null || workflow.schedule.start.length === 0 ? [] : [{ file, schedule: workflow.schedule }],
  );
  if (scheduled.length === 0) return new Map();
  const { loadCronTimes } = await import('#daemon/schedule/cron-times.ts');
  const { nextStarts: startsOf } = await import('#daemon/schedule/next-start.ts');
  const times = await loadCronTimes();
  const now = Date.now();
  return new Map(
    scheduled.flatMap(({ file, schedule }) => {
      const [next] = startsOf(schedule, times, { now, suspendedUntil: suspendedUntil(file), count: 1 });
      return next === undefined ? [] : [[file, next] as const];
    }),
  );
}
