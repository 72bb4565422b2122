import { closeSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, workflowDirectories } from '#config/config.ts';
import type { ProcessOwner } from '#core/run/run.ts';
import type { RunState } from '#core/run/run-state.ts';
import type { Engine, RunRef, RunRequest } from '#engine/engine.ts';
import { createLocalEngine, localJudge } from '#engine/local/local-engine.ts';
import { queueRun as storeQueued } from '#engine/local/new-run.ts';
import type { TemporalEngine } from '#engine/temporal/client/temporal-engine.ts';
import {
  endProcesses,
  findRunProcesses,
  isAlive,
  isElsewhere,
  isInThisScope,
  leftBy,
  mayBeAlive,
  sendSignal,
  thisProcess,
} from '#processes/processes.ts';
import { type ReportingStarter, reportFd, startReporting } from '#processes/programs.ts';
import {
  anyRun,
  createHistory,
  type History,
  type JudgeOwner,
  keepingReader,
  type Reach,
  removePastRun,
  usualDurationOf,
} from '#service/history.ts';
import { type Carrier, launchRun, type StartOfRuns, storeRun, withoutRun } from '#service/start-runs.ts';
import type { OwnDaemon, RunArchive, StepChecks } from '#store/store.ts';
import { systemClock } from '#system/clock.ts';
import { LOCAL_ENGINE } from '#system/engine-address.ts';
import { ifRefused } from '#system/errors.ts';
import { packageRoot } from './package-root.ts';
import type { Copying } from './remote-app.ts';
import { cacheBytes, daemonState, fileStore, lockSizes, lockStore } from './run-store.ts';

/**
 * Past runs and their storage. `keepsRuns`: the runs read last stay in memory, for a process that reads them again.
 * `reach`: how words name runs; default: those of any file.
 */
export function createPast(
  config: Config,
  { keepsRuns = false, reach = { cwd: config.cwd, any: true }, remote = remoteEngine(config) }: PastOptions = {},
): { readonly history: History; readonly archive: RunArchive } {
  const archive = fileStore(config);
  const leftovers = { find: findRunProcesses, end: endProcesses };
  const tools = {
    archive,
    clock: systemClock,
    judge: judgeFor(archive),
    leftBy,
    processes: leftovers,
    catchUp: remote.catchUp,
    waitsOf: remote.waitsOf,
    removeContainers: async (daemons: readonly string[]) =>
      (await import('#executors/docker/docker.ts')).removeContainers(daemons, config.processEnv),
    queue: archive,
  };
  const readRun = keepsRuns ? keepingReader(archive) : undefined;
  return { archive, history: createHistory(tools, reach, readRun) };
}

/** The locks in use, for other processes than those that run steps. Rejects with a `WfError` `storage` without a home. */
export async function openLocks(config: Config) {
  fileStore(config);
  const { list, break: take } = await lockStore(config, (runId) => settleRun(runId, config));
  return { list: () => list(lockSizes(config)), break: take };
}

/** Ends what a run has left whose process is gone. One that is not stored, or cannot be read, leaves nothing. */
export async function settleRun(runId: string, config: Config): Promise<void> {
  await createPast(config).history.read(runId).catch(ifRefused(null));
}

/** Claims the next start of a workflow as `DaemonState` describes; always succeeds without a store. */
export async function claimStart(workflow: string, config: Config): Promise<(() => void) | null> {
  return config.runsDir === null ? () => {} : (await daemonState(config)).claimStart(workflow);
}

/** Returns whether the run of the same workflow before this one failed. */
export async function hasFailedBefore(
  { runId, file, workflow }: Pick<RunState, 'runId' | 'file' | 'workflow'>,
  config: Config,
): Promise<boolean> {
  const { history, archive } = createPast(config);
  const statuses = ['succeeded', 'partially_succeeded', 'failed'] as const;
  const behind = { at: archive.timeOf(runId), runId };
  for await (const run of history.list({ ...anyRun, workflow: file ?? workflow, statuses, behind, limit: 1 })) {
    return run.state.status === 'failed';
  }
  return false;
}

/** Returns the usual duration of a workflow in milliseconds; null without a success. */
export async function usualDuration(file: string, config: Config): Promise<number | null> {
  return usualDurationOf(file, fileStore(config));
}

/** Returns the look-up of the end of a file's suspension; always null without a store. */
export async function suspensions(config: Config): Promise<(file: string) => number | null> {
  return config.runsDir === null ? () => null : (await daemonState(config)).suspensions.suspendedUntil;
}

/** Removes one run that has finished. */
export async function removeRun(runId: string, config: Config): Promise<number> {
  return removePastRun(runId, { archive: fileStore(config), history: createPast(config).history });
}

/** Returns the judge of the owners of runs. */
export function judgeFor(archive: RunArchive): JudgeOwner {
  return localJudge({ archive, isAlive: mayBeAlive, isElsewhere });
}

/** `starter`: starts carriers on behalf of this process, if it can. `dags`: the workflows directory given by an option. */
type ControlOptions = Omit<PastOptions, 'remote'> & {
  readonly starter?: ReportingStarter;
  readonly dags?: string | null;
  readonly isDaemon?: boolean;
  /** How runs of other engines are copied; default: when something asks for them. */
  readonly copying?: Copying;
};

type PastOptions = { readonly keepsRuns?: boolean; readonly reach?: Reach; readonly remote?: TemporalEngine };

/** The access to runs of other engines, which is loaded with the first one. */
function remoteEngine(config: Config, copying: Copying = { lasting: null, report: () => {} }): TemporalEngine {
  let opened: Promise<TemporalEngine> | null = null;
  const open = () => {
    const readHistory = () => createPast(config).history;
    opened ??= import('./remote-app.ts').then((app) =>
      app.openRemoteEngine(config, { ...copying, readHistory, failedBefore: hasFailedBefore }),
    );
    return opened;
  };
  return {
    accept: async (...asked) => (await open()).accept(...asked),
    holderOf: async (...asked) => (await open()).holderOf(...asked),
    waitsOf: async (...asked) => (await open()).waitsOf(...asked),
    catchUp: async (...asked) => (await open()).catchUp(...asked),
    cancel: async (...asked) => (await open()).cancel(...asked),
    answer: async (...asked) => (await open()).answer(...asked),
    connect: async (...asked) => (await open()).connect(...asked),
    copyAll: async (...asked) => (await open()).copyAll(...asked),
  };
}

function isRemote({ owner }: Pick<RunRef, 'owner'>): boolean {
  return owner !== null && 'engine' in owner;
}

/**
 * The address of the engine that executes a run; null: this machine. A retry goes where the run before it was; that of a
 * daemon with an engine goes there, since its runs may have another address on the machine that started them.
 */
function engineOf(
  { retryOf }: Pick<RunRequest, 'retryOf'>,
  { settings }: Config,
  { archive, isDaemon }: { readonly archive: RunArchive; readonly isDaemon: boolean },
): string | null {
  const { value, level } = settings.read('engine');
  const isGiven = level === 'flag' || (isDaemon && value !== LOCAL_ENGINE);
  const before = retryOf === null || isGiven ? [] : archive.readEvents(retryOf).events;
  const owned = before.findLast((event) => event.type === 'run.owned');
  if (owned?.type === 'run.owned' && 'engine' in owned.owner) return owned.owner.engine;
  return value === LOCAL_ENGINE ? null : value;
}

/** Stores runs for other processes, starts processes for them, and reaches the owners of running ones. */
export function createControl(
  config: Config,
  { starter, dags = null, isDaemon = false, copying, ...options }: ControlOptions = {},
) {
  const remote = remoteEngine(config, copying);
  const env = withoutRun(config.processEnv);
  const store = fileStore(config);
  const terms = { queue: store, clock: systemClock, by: thisProcess(), lasting: isDaemon };
  const context = { env: { ...config.processEnv, ...flagsOf(config) }, cwd: config.cwd, dags, isDaemon };
  return {
    ...createPast(config, { ...options, remote }),
    remote,
    queue: store,
    control: store,
    env: config.processEnv,
    engineFor: (start: StartOfRuns): Engine => {
      const local = createLocalEngine({
        ...start,
        archive: store,
        control: store,
        clock: systemClock,
        judge: judgeFor(store),
        wake: (owner) => sendSignal(owner, 'SIGCONT'),
        signalStop,
      });
      return {
        ...local,
        accept: (request) => {
          const url = engineOf(request, config, { archive: store, isDaemon });
          return url === null ? local.accept(request) : remote.accept(request, url);
        },
        cancel: (run, asked) => (isRemote(run) ? remote : local).cancel(run, asked),
        answer: (run, answer) => (isRemote(run) ? remote : local).answer(run, answer),
      };
    },
    clock: systemClock,
    directories: workflowDirectories(config),
    /** Failures that `continueOn.failure` tolerates fail every run, according to the settings. */
    strict: config.settings.read('strict').value,
    /** Stores a run that waits. The promise of a daemon to start it is kept by its successor. */
    store: (request: RunRequest) => storeRun(request, context, (run, kept) => storeQueued(run, { ...terms, ...kept })),
    launch: (runId: string): Carrier => {
      const flags = ['--runs', config.runsDir ?? '', '--report', String(reportFd)];
      const program = { argv: [process.execPath, launcher, 'carry', runId, ...flags], cwd: config.cwd, env };
      return launchRun(runId, {
        openProcessLog: store.openProcessLog,
        closeLog: closeSync,
        start: ({ fd, path }) => starter?.start(program, path) ?? startReporting(program, fd),
      });
    },
  };
}

/**
 * The options `--queues` and `--strict-selectors` as variables: the processes of runs find any other source of these settings
 * themselves.
 */
function flagsOf({ settings }: Config): { readonly WF_QUEUES?: string; readonly WF_STRICT_SELECTORS?: string } {
  const queues = settings.read('queues');
  const isStrict = settings.read('strictSelectors').level === 'flag';
  return {
    ...(queues.level === 'flag'
      ? { WF_QUEUES: queues.value.map(({ name, maxConcurrent }) => `${name}=${maxConcurrent}`).join(',') }
      : {}),
    ...(isStrict ? { WF_STRICT_SELECTORS: 'true' } : {}),
  };
}

/** Stops a run by signals to its process; false if this process cannot reach it. */
function signalStop(owner: ProcessOwner, force: boolean): boolean {
  if (!isInThisScope(owner) || !isAlive(owner)) return false;
  sendSignal(owner, 'SIGTERM');
  // The second signal ends a run at once.
  if (force) sendSignal(owner, 'SIGINT');
  return true;
}

/** The login of this user's daemon if it listens at this local address and has created a token; else null. */
export async function ownDaemonLogin(config: Config, address: string): Promise<OwnDaemon | null> {
  return config.runsDir === null ? null : (await daemonState(config)).findOwn(address, isAlive);
}

const launcher = join(packageRoot, 'bin/wf.js');

/** The earlier successes of the steps of a workflow file; null without a home. */
export async function stepChecksFor(
  { runsDir, settings }: Pick<Config, 'runsDir' | 'settings'>,
  file: string,
): Promise<StepChecks | null> {
  if (runsDir === null) return null;
  const { createStepChecks } = await import('#store/files/fingerprints/result-cache.ts');
  return createStepChecks(runsDir, file, cacheBytes(settings));
}
