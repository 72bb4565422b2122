import { availableParallelism, hostname } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import type { Config } from '#config/config.ts';
import { listDirectories, listSettings, readLogForwarding } from '#config/part-settings.ts';
import type { ProcessIdentity } from '#core/run/run.ts';
import { AutoRetries, wasRetried } from '#daemon/auto-retries.ts';
import { type Catalog, createCatalog, listedNames } from '#daemon/catalog/catalog.ts';
import { type ClaimWatch, watchClaim } from '#daemon/claim-watch.ts';
import { createDaemonRuns, type DaemonRuns, type RunsAtEnd } from '#daemon/daemon-runs.ts';
import { createLiveChanges, createRunFeeds } from '#daemon/live-changes.ts';
import { createMetrics, type Metrics } from '#daemon/metrics.ts';
import type { RunIndex } from '#daemon/run-index.ts';
import { createScheduler, type Scheduler } from '#daemon/schedule/scheduler.ts';
import { type SchedulerEvent, schedulerLine } from '#daemon/schedule/scheduler-event.ts';
import type { QueueLimits } from '#daemon/start-queue.ts';
import { createForwardTotal } from '#forwarding/forward-total.ts';
import type { Monitor } from '#forwarding/monitor.ts';
import { endDeadGroups, isElsewhere, mayBeAlive } from '#processes/processes.ts';
import { ReportingStarter, startThread } from '#processes/programs.ts';
import { anyRun, type History, readPastRun } from '#service/history.ts';
import type { LiveChanges, RunFeeds, ServedWorkflows } from '#service/served.ts';
import type { RunActions } from '#service/service.ts';
import { isLongCheck, type StartRequest, withoutRun } from '#service/start-runs.ts';
import {
  checkText,
  createTaskThread,
  createWorkflowEditor,
  createWorkflowLoader,
  type SearchLines,
  shownText,
  shownWorkflow,
  type TaskThread,
} from '#service/workflows.ts';
import type { DaemonClaim, DaemonState, DiskSpace } from '#store/store.ts';
import { type Clock, systemClock } from '#system/clock.ts';
import type { SystemProblem } from '#system/errors.ts';
import { ownTurn } from '#system/turns.ts';
import { createControl, createPast, judgeFor, removeRun } from './history-app.ts';
import { packageRoot } from './package-root.ts';
import { daemonState } from './run-store.ts';

export { daemonState } from './run-store.ts';

/** The services of a daemon. */
export type DaemonApp = {
  readonly catalog: Catalog;
  readonly workflows: ServedWorkflows;
  readonly runIndex: RunIndex;
  readonly history: History;
  readonly runs: RunActions;
  /** Searches lines in a thread. */
  readonly searchLines: SearchLines;
  /** Changes with each event of a run. */
  readonly runStamp: (runId: string) => string;
  /** Removes a run that has finished. */
  readonly removeRun: (runId: string) => Promise<number>;
  readonly queue: DaemonRuns['queue'];
  readonly queueNamed: DaemonRuns['queueNamed'];
  readonly putFirst: DaemonRuns['putFirst'];
  readonly moments: Scheduler['moments'];
  readonly missed: Scheduler['missed'];
  /** Version, process and time zone of the daemon. */
  readonly info: () => object;
  /** The space where runs are stored; null if it is unknown. */
  readonly disk: () => Promise<DiskSpace | null>;
  /** The settings, as in `wf config`. */
  readonly settings: () => object;
  /** Live events of runs. */
  readonly feeds: RunFeeds;
  /** Changes of all runs and workflows. */
  readonly changes: LiveChanges;
  readonly clock: Clock;
  /** Upcoming scheduled starts. */
  readonly upcoming: Scheduler['upcoming'];
  readonly metrics: Metrics;
  /** The shortage that would make the machine refuse a start now; null if there is none. */
  readonly refusal: () => SystemProblem | null;
  readonly life: DaemonLife;
  readonly close: () => Promise<void>;
};

export type DaemonOptions = {
  /** Default: the files of the home. */
  readonly state?: DaemonState;
  /** The workflows directory from the command line, passed on to run processes; null if not given. */
  readonly dags: string | null;
  /** Receives errors that belong to no request. */
  readonly report: (error: unknown) => void;
  /** Receives log lines for the operator; optional. */
  readonly log?: (line: string) => void;
  /** Unlimited if absent. */
  readonly limits?: QueueLimits;
  /** Version of this program. */
  readonly version?: string;
};

/** The life cycle of a daemon; it does nothing before these are called. */
export type DaemonLife = {
  /** Takes over the runs of earlier daemons. */
  readonly adopt: () => Promise<void>;
  /** Starts waiting, requested and scheduled runs from now on. */
  readonly begin: () => Promise<void>;
  /** Starts no more runs. */
  readonly rest: () => Promise<void>;
  /** Resolves when the daemon no longer has to watch its runs. */
  readonly end: (how: RunsAtEnd) => Promise<void>;
};

/** Watches whether this process is still the daemon of its home. */
export function watchDaemonClaim({ loss }: DaemonClaim, report: (error: unknown) => void): ClaimWatch {
  return watchClaim({ loss, report, clock: systemClock });
}

/**
 * Wires the parts of a daemon together. The daemon runs nothing itself: each run is a process of its own over the same
 * store.
 */
export async function createDaemonApp(config: Config, options: DaemonOptions): Promise<DaemonApp> {
  const { dags, report, log = () => {}, limits = noLimits } = options;
  const state = options.state ?? (await daemonState(config));
  const { processEnv } = config;
  const starter = new ReportingStarter(withoutRun(processEnv));
  const control = createControl(config, { keepsRuns: true, starter, dags, isDaemon: true });
  const { history, directories } = control;
  const { suspensions } = state;
  const thread = createTaskThread(startTaskThread);
  const loader = createWorkflowLoader(thread);
  const catalog = await createCatalog(directories, { clock: systemClock, report, log, load: loader.load });
  const metrics = await createMetrics({
    version: options.version ?? '',
    runsActive: () => runs.runIndex.running(),
    queueDepth: () => runs.depth(),
    schedulerLagSeconds: () => scheduler?.lagSeconds() ?? 0,
    schedulesMissed: () => scheduler?.missed() ?? 0,
  });
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
      checkText(text, directories, { check: loader.check, environment: Object.keys(processEnv), beside }),
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
  const changes = createLiveChanges({
    queue: runs.queue,
    scheduleStamp: () => scheduler?.stamp() ?? null,
    runIndex,
    catalog,
    workflows,
    daemon: () => ({
      version: options.version ?? '',
      running: runIndex.running(),
      queued: runs.depth(),
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
    searchLines: (pattern, text) => thread.run({ kind: 'search', pattern, text }),
    feeds: createRunFeeds(history),
    runStamp: (runId) => control.archive.stampOf(runId) ?? '',
    removeRun: (runId) => removeRun(runId, config),
    queue: runs.queue,
    queueNamed: runs.queueNamed,
    putFirst: runs.putFirst,
    moments: async (from, to, limit) => scheduler?.moments(from, to, limit) ?? [],
    missed: () => scheduler?.missed() ?? 0,
    info: () => ({ ...info, version: options.version ?? '' }),
    disk: state.space,
    settings: () => ({ settings: listSettings(config), places: listDirectories(config, processEnv) }),
    changes,
    clock: systemClock,
    upcoming: () => scheduler?.upcoming() ?? [],
    metrics,
    refusal: state.refusal,
    life: {
      adopt: runs.adopt,
      begin: async () => {
        runs.open();
        retries.open();
        monitor = await openForwardingMonitor(config, state, log);
        const logEvent = (event: SchedulerEvent) => logLine(schedulerLine(event), log);
        scheduler = await createScheduler({
          catalog,
          clock: systemClock,
          suspensions,
          runs: runs.actions,
          runIndex,
          succeededSince: (file, since, exceptId) => succeededSince(history, { file, since, exceptId }),
          record: state.schedule,
          report: logEvent,
        });
      },
      rest: async () => {
        runs.rest();
        retries.close();
        await scheduler?.close();
      },
      end: runs.end,
    },
    close: async () => {
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

/** Starts the thread that answers tasks. */
function startTaskThread(): Worker {
  return startThread(join(packageRoot, 'bin/task-worker.js'), { execArgv: [], argv: [] });
}

/** Starting a process keeps a core busy, and the daemon needs one to answer requests. */
const STARTS_PER_CORE = 2;
const noLimits: QueueLimits = { running: Number.POSITIVE_INFINITY, waiting: Number.POSITIVE_INFINITY };

function logLine(line: string | null, log: (line: string) => void): void {
  if (line !== null) log(line);
}

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
