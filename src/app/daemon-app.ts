import { availableParallelism, hostname } from 'node:os';
import { join } from 'node:path';
import type { Config } from '#config/config.ts';
import { listDirectories, listSettings, readLogForwarding } from '#config/part-settings.ts';
import type { ProcessIdentity } from '#core/run/run.ts';
import { AutoRetries, wasRetried } from '#daemon/auto-retries.ts';
import { Backfills } from '#daemon/backfills.ts';
import { createCatalog, listedNames } from '#daemon/catalog/catalog.ts';
import { watchClaim } from '#daemon/claim-watch.ts';
import { createDaemonRuns } from '#daemon/daemon-runs.ts';
import { createRunFeeds, DaemonChanges } from '#daemon/live-changes.ts';
import { createLogReceiver } from '#daemon/log-receiver.ts';
import { createMetrics, lockWaits } from '#daemon/metrics.ts';
import { previousMoment } from '#daemon/recent-runs.ts';
import { createScheduler, type Scheduler } from '#daemon/schedule/scheduler.ts';
import { schedulerLine } from '#daemon/schedule/scheduler-event.ts';
import type { QueueLimits } from '#daemon/start-queue.ts';
import { createForwardTotal } from '#forwarding/forward-total.ts';
import type { Monitor } from '#forwarding/monitor.ts';
import { endDeadGroups, isElsewhere, mayBeAlive } from '#processes/processes.ts';
import { ReportingStarter, startThread } from '#processes/programs.ts';
import { momentBefore, runReader } from '#service/backfill.ts';
import { anyRun, type History, readPastRun } from '#service/history.ts';
import type { ServedWorkflows } from '#service/served.ts';
import { lockEntry } from '#service/service.ts';
import { isLongCheck, type StartRequest, withoutRun } from '#service/start-runs.ts';
import {
  checkText,
  createTaskThread,
  createWorkflowEditor,
  createWorkflowLoader,
  shownText,
  shownWorkflow,
  type TaskThread,
} from '#service/workflows.ts';
import type { DaemonClaim, DaemonState } from '#store/store.ts';
import { systemClock } from '#system/clock.ts';
import { LOCAL_ENGINE } from '#system/engine-address.ts';
import { ownTurn } from '#system/turns.ts';
import { createControl, createPast, judgeFor, openLocks, removeRun } from './history-app.ts';
import { packageRoot } from './package-root.ts';
import { daemonState } from './run-store.ts';

export { daemonState } from './run-store.ts';

/** The services of a daemon. */
export type DaemonApp = Awaited<ReturnType<typeof createDaemonApp>>;

export type DaemonOptions = {
  /** Default: the files of the home. */
  readonly state?: DaemonState;
  /** The workflows directory from the command line, passed on to run processes; null if not given. */
  readonly dags: string | null;
  /** Receives errors that belong to no request. */
  readonly report: (error: unknown) => void;
  readonly log?: (line: string) => void;
  /** Unlimited if absent. */
  readonly limits?: QueueLimits;
  readonly version?: string;
};

/** Watches whether this process is still the daemon of its home. */
export function watchDaemonClaim({ loss }: DaemonClaim, report: (error: unknown) => void) {
  return watchClaim(loss, report, systemClock);
}

/** Wires the parts of a daemon together, which runs nothing itself: each run is a process over the same store. */
export async function createDaemonApp(config: Config, options: DaemonOptions) {
  const { dags, report, log = () => {}, limits = noLimits, version = '' } = options;
  const state = options.state ?? (await daemonState(config));
  const { processEnv } = config;
  const starter = new ReportingStarter(withoutRun(processEnv));
  const copying = new AbortController();
  const control = createControl(config, {
    keepsRuns: true,
    starter,
    dags,
    isDaemon: true,
    copying: {
      lasting: copying.signal,
      report,
      accepting: ({ runId, workflow }) => retries.expect(runId, workflow),
    },
  });
  const { history, directories, remote } = control;
  const { value: engine } = config.settings.read('engine');
  const { suspensions } = state;
  const thread = createTaskThread(() =>
    startThread(join(packageRoot, 'bin/task-worker.js'), { execArgv: [], argv: [] }),
  );
  const loader = createWorkflowLoader(thread);
  const catalog = await createCatalog(directories, { clock: systemClock, report, log, load: loader.load });
  const metrics = await createMetrics({
    version,
    runsActive: () => runs.runIndex.running(),
    lateRuns: async () => {
      await runs.runIndex.refresh();
      return runs.runIndex.active().filter(({ lateSince }) => lateSince !== undefined).length;
    },
    queueDepth: () => runs.startQueue.depth(),
    schedulerLagSeconds: () => scheduler?.lagSeconds() ?? 0,
    schedulesMissed: () => scheduler?.missed() ?? 0,
    lockWaits: async () => lockWaits(await locks(), systemClock.now()),
  });
  const pools = config.settings.read('pools').value;
  const locks = async () => (await (await openLocks(config)).list()).map(lockEntry);
  const runs = createDaemonRuns({
    control: {
      ...control,
      checked: (request) => withParams(request, thread),
      store: (request) => {
        retries.expect(request.runId, request.workflow);
        return control.store(request);
      },
    },
    read: loader.read,
    limits: { starting: STARTS_PER_CORE * availableParallelism(), ...limits },
    judge: judgeFor(control.archive),
    memory: state.watched,
    endDeadGroups,
    over: (run) => {
      metrics.countRun(run);
      retries.consider(run);
      backfills.over(run.runId);
    },
    log,
    report,
  });
  const { runIndex } = runs;
  const retries = new AutoRetries({
    clock: systemClock,
    retry: runs.actions.retry,
    read: (runId) => readPastRun(control.archive, runId),
    isRetried: (run) => wasRetried(run, runIndex, control.archive),
    memory: state.retries,
    log,
    report,
  });
  const backfills = new Backfills({
    clock: systemClock,
    start: runs.actions.start,
    read: runReader(control.archive, history),
    momentBefore: (file, before) => momentBefore(file, before, history),
    memory: state.backfills,
    log,
    report,
  });
  let scheduler: Scheduler | null = null;
  let monitor: Monitor | null = null;
  const info = {
    node: process.version,
    host: hostname(),
    pid: process.pid,
    startedAt: new Date(),
    timeZone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
  };
  const workflows: ServedWorkflows = {
    ...createWorkflowEditor({ directories, catalog, suspensions, check: loader.check }),
    ...listedNames(catalog),
    list: catalog.list,
    version: catalog.version,
    check: (text, beside) =>
      checkText(text, directories, { check: loader.check, environment: Object.keys(processEnv), pools, beside }),
    suspend: (file, until) => {
      suspensions.set(file, until);
      changes.suspensionChanged();
    },
    suspendedUntil: suspensions.suspendedUntil,
    suspensionStamp: suspensions.stamp,
    nextOf: (workflow) => scheduler?.nextOf(workflow) ?? null,
    startsOf: (workflow, count) => scheduler?.startsOf(workflow, count) ?? [],
    scheduleWordsOf: (workflow) => scheduler?.wordsOf(workflow) ?? null,
    shown: (workflow) => shownWorkflow(workflow, [], processEnv),
    shownText: (text, workflow) => shownText(text, workflow, processEnv),
  };
  const changes = new DaemonChanges({
    queue: runs.queue,
    scheduleStamp: () => scheduler?.stamp() ?? null,
    runIndex,
    catalog,
    workflows,
    daemon: () => ({
      version,
      running: runIndex.running(),
      queued: runs.startQueue.depth(),
      awaitingApproval: runIndex.awaitingApproval(),
    }),
    clock: systemClock,
    report,
  });
  return {
    catalog,
    workflows,
    runIndex,
    history,
    runs: runs.actions,
    searchLines: (pattern: string, text: string) => thread.run({ kind: 'search', pattern, text }),
    feeds: createRunFeeds(history),
    storeLog: createLogReceiver({
      history,
      holderOf: ({ runId, state: { owner, promise } }, ...attempt) =>
        remote.holderOf({ runId, owner, promise }, ...attempt),
    }),
    runStamp: (runId: string) => control.archive.stampOf(runId) ?? '',
    removeRun: (runId: string) => removeRun(runId, config),
    queue: runs.queue,
    queueNamed: runs.startQueue.stateOf,
    locks,
    backfills,
    putFirst: runs.startQueue.putFirst,
    moments: async (from: number, to: number, limit: number) => scheduler?.moments(from, to, limit) ?? [],
    missed: () => scheduler?.missed() ?? 0,
    info: () => ({ ...info, version }),
    disk: state.space,
    settings: () => ({ settings: listSettings(config), places: listDirectories(config, processEnv) }),
    changes,
    clock: systemClock,
    upcoming: () => scheduler?.upcoming() ?? [],
    metrics,
    /** The shortage for which the machine would refuse a start now; null: none. */
    refusal: state.refusal,
    /** The life cycle of the daemon; it does nothing before these are called. */
    life: {
      /** Takes over the runs of earlier daemons. Throws as `TemporalEngine.connect`. */
      adopt: async () => {
        if (engine !== LOCAL_ENGINE) await remote.connect(engine);
        await runs.adopt();
      },
      /** Starts waiting, requested and scheduled runs from now on. */
      begin: async () => {
        runs.startQueue.open();
        retries.open();
        await backfills.open();
        monitor = await openForwardingMonitor(config, state, log);
        // What other machines have started decides about the schedule.
        if (engine !== LOCAL_ENGINE) await remote.copyAll(engine, state.engine);
        scheduler = await createScheduler({
          catalog,
          clock: systemClock,
          suspensions,
          runs: runs.actions,
          runIndex,
          succeededSince: (file, since, exceptId) => succeededSince(history, { file, since, exceptId }),
          previousMoment: (file, before) => previousMoment(control.archive, runIndex.runIdsOf(file), before),
          record: state.schedule,
          report: (event) => {
            const line = schedulerLine(event);
            if (line !== null) log(line);
          },
        });
      },
      /** Starts no more runs; waiting runs remain for the next daemon. */
      rest: async () => {
        runs.startQueue.close();
        retries.close();
        backfills.close();
        await scheduler?.close();
      },
      /** Resolves when the daemon no longer has to watch its runs. */
      end: runs.end,
    },
    close: async () => {
      copying.abort();
      catalog.close();
      thread.close();
      await runs.close();
      starter.close();
      await monitor?.close();
    },
  };
}

async function succeededSince(
  history: History,
  { file, since, exceptId }: { readonly file: string; readonly since: number; readonly exceptId: string },
): Promise<boolean> {
  const statuses = ['succeeded', 'partially_succeeded'] as const;
  const found = history.list({ ...anyRun, workflow: file, statuses, from: since, limit: 2 });
  for await (const { runId } of found) if (runId !== exceptId) return true;
  return false;
}

/** Checks the parameters of a request in the thread if that may take long. */
async function withParams(request: StartRequest, thread: TaskThread): Promise<StartRequest> {
  const { workflow, params } = request;
  await ownTurn();
  if (!isLongCheck(workflow, params)) return request;
  return { ...request, accepted: await thread.run({ kind: 'accept', workflow, params }) };
}

/** Starting a process keeps a core busy, and the daemon needs one to answer requests. */
const STARTS_PER_CORE = 2;
const noLimits: QueueLimits = { running: Number.POSITIVE_INFINITY, waiting: Number.POSITIVE_INFINITY };

/** Opens the monitor for the forwarding of all runs; null if forwarding or the monitor is off. */
async function openForwardingMonitor(
  config: Config,
  state: DaemonState,
  warn: (line: string) => void,
): Promise<Monitor | null> {
  const forwarding = await readLogForwarding(config);
  if (forwarding?.monitor == null) return null;
  const { openMonitor } = await import('#forwarding/monitor.ts');
  const { archive } = createPast(config);
  const isGoingOn = (process: ProcessIdentity, runId: string) =>
    isElsewhere(process) ? archive.mayGoOn(runId) : mayBeAlive(process);
  const counts = createForwardTotal(state.forwarding, isGoingOn, { queueSize: forwarding.queueSize, now: Date.now });
  return openMonitor(forwarding.monitor, counts, { warn });
}
