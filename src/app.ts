import type { StdioOptions } from 'node:child_process';
import { closeSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Config, dagsDirFor } from './config/config.ts';
import type { LogForwarding } from './core/log-forwarding.ts';
import { systemClock } from './engine/clock.ts';
import type { Engine, Notify, OnChild } from './engine/engine.ts';
import type { FindSubworkflow } from './engine/local/engine-options.ts';
import { createLocalEngine } from './engine/local/local.ts';
import { queueRun as storeQueued } from './engine/local/queue-run.ts';
import { WfError } from './errors.ts';
import { tellAttempts } from './executors/attempt-teller.ts';
import type { Attempt } from './executors/executor.ts';
import { loadExecutor } from './executors/registry.ts';
import type { LogForwarder, LogForwarderOptions } from './forwarding/log-forwarder.ts';
import { parseParamTemplates } from './language/params.ts';
import { createMailNotifier } from './mail/reports/mail-notifier.ts';
import { createNotifier, joinNotifiers } from './notifications/notifier.ts';
import type { Delivery, NotifierOptions } from './notifications/send-notifications.ts';
import { capture } from './processes/capture.ts';
import {
  declareGone,
  identify,
  isAlive,
  isElsewhere,
  leftBy,
  mayBeAlive,
  thisProcess,
} from './processes/process-identity.ts';
import { processPlace } from './processes/process-place.ts';
import { sendSignal } from './processes/process-signals.ts';
import { processMoment } from './processes/process-table.ts';
import { endProcesses, findRunProcesses } from './processes/process-tree.ts';
import type { RunGroup } from './processes/run-group.ts';
import { spawnDetached } from './processes/subprocess.ts';
import { anyRun, createHistory, type History } from './service/history/history.ts';
import type { RetentionReport, RetentionRequest } from './service/history/retention.ts';
import { acceptRun, type RunContext, withoutRun } from './service/runs/accept-run.ts';
import { checkGivenParams } from './service/runs/given-params.ts';
import { type Carrier, launchRun } from './service/runs/launch-run.ts';
import { newRunId } from './service/runs/new-run-id.ts';
import { runRequest, type StartRequest } from './service/runs/runs.ts';
import type { StopTools } from './service/runs/stopping.ts';
import { withDotenv } from './service/runs/with-dotenv.ts';
import type { AcceptedRun } from './service/service.ts';
import { InvalidWorkflow } from './service/workflows/invalid-workflow.ts';
import { getWorkflow, type WorkflowPlaces } from './service/workflows/workflows.ts';
import type { OwnDaemon } from './store/files/control/own-daemon.ts';
import type { Processes } from './store/files/control/owner.ts';
import { createFileStore, type FileStore } from './store/files/file-store.ts';
import { createMemoryStore } from './store/memory.ts';
import type { RunArchive } from './store/store.ts';

export { enterRunGroup } from './processes/run-group.ts';

/** The services that the CLI and the server are built on. */
export type App = {
  readonly engine: Engine;
  /**
   * Forwards the lines of a run to a sink. `forDaemon`: id of the run, if a daemon's monitor reports its forwarding.
   */
  readonly forwardLogs: (
    settings: LogForwarding,
    options: { readonly warn: (message: string) => void; readonly forDaemon: string | null },
  ) => Promise<LogForwarder>;
};

/** Options of a single run. */
export type AppOptions = {
  readonly keepHistory: boolean;
  /** Called before each attempt starts, with its environment, secrets included. */
  readonly onAttempt?: ((attempt: Attempt) => void) | null;
  /** Called for each child run in the turn in which it starts; returns its watcher. */
  readonly onChild?: OnChild | null;
  /** Replaces the mails and notifications of the run. */
  readonly notify?: Notify;
  /** Control group that holds every process of the run. */
  readonly group?: RunGroup | null;
};

/** Wires the parts together: the only place that picks the engine and the store. */
export function createApp(config: Config, options: AppOptions): App {
  const chat = createNotifier({ ...notifierSettings(config), failedBefore: failedBefore(config, options.keepHistory) });
  const engine = createLocalEngine({
    store: options.keepHistory ? fileStore(config) : createMemoryStore({ tempDir: tmpdir }),
    clock: systemClock,
    processEnv: config.processEnv,
    owner: thisProcess(),
    executor: options.onAttempt ? tellAttempts(loadExecutor, options.onAttempt) : loadExecutor,
    capture,
    background: {
      moment: processMoment,
      find: findRunProcesses,
      end: endProcesses,
      ...(options.group ? { sweep: options.group.sweep } : {}),
    },
    findSubworkflow: subworkflowFinder(config),
    retryChild: async (request) => {
      const { retryChild } = await import('./service/runs/retry-child.ts');
      return retryChild(request, createPast(config).history);
    },
    onChild: options.onChild ?? null,
    newRunId,
    openPipes: async (directory) =>
      (await import('./processes/named-pipes.ts')).openPipes(directory, config.processEnv),
    notify: options.notify ?? joinNotifiers(createMailNotifier({ host: hostname(), commands: { retry: true } }), chat),
  });
  return {
    engine,
    forwardLogs: (settings, options) => forwardLogs(settings, { ...options, config }),
  };
}

/** Settings of notifications. */
function notifierSettings({ processEnv, settings }: Config): Pick<NotifierOptions, 'env' | 'publicUrl'> {
  return { env: processEnv, publicUrl: settings.read('publicUrl').value?.replace(/\/+$/, '') ?? null };
}

/**
 * Sends a sample of each notification of a workflow, evaluated as in a run; resolves to the results, or to the reason why
 * none was sent. Throws as `startRun` does.
 */
export async function sendSamples(
  config: Config,
  request: StartRequest,
): Promise<{ readonly deliveries: readonly Delivery[]; readonly problem: string | null }> {
  const { createSampler, withoutWork } = await import('./notifications/sample.ts');
  const run = await withDotenv(request, config.processEnv);
  const { workflow } = run;
  let deliveries: readonly Delivery[] = [];
  const notify = createSampler(workflow, notifierSettings(config), (results) => {
    deliveries = results;
  });
  const { engine } = createApp(config, { keepHistory: false, notify });
  const sampled = engine.start({ ...runRequest(run), workflow: withoutWork(workflow) }, () => {});
  const { status, message } = await sampled.finished;
  return { deliveries, problem: status === 'failed' ? message : null };
}

/** Checks whether the previous run of a workflow failed. Without a history, it did not. */
function failedBefore(config: Config, keepHistory: boolean): NotifierOptions['failedBefore'] {
  return async ({ state: { runId, file, workflow } }) => {
    if (!keepHistory) return false;
    const { history, archive } = createPast(config);
    const statuses = ['succeeded', 'partially_succeeded', 'failed'] as const;
    const behind = { at: archive.timeOf(runId), runId };
    for await (const run of history.list({ ...anyRun, workflow: file ?? workflow, statuses, behind, limit: 1 })) {
      return run.state.status === 'failed';
    }
    return false;
  };
}

/** Past runs and their storage. */
export function createPast(config: Config): { readonly history: History; readonly archive: RunArchive } {
  const archive = fileStore(config);
  const leftovers = { find: findRunProcesses, end: endProcesses };
  const tools = {
    archive,
    clock: systemClock,
    isAlive: mayBeAlive,
    isElsewhere,
    leftBy,
    processes: leftovers,
    removeContainers: async (daemons: readonly string[]) =>
      (await import('./executors/docker/docker.ts')).removeContainers(daemons, config.processEnv),
    queue: archive,
  };
  return { archive, history: createHistory(tools, config.cwd) };
}

/** Returns the look-up of the end of a file's suspension; always null without a store. */
export async function suspensions({ runsDir }: Config): Promise<(file: string) => number | null> {
  if (runsDir === null) return () => null;
  const { createSuspensions } = await import('./store/files/suspensions.ts');
  return createSuspensions(join(dirname(runsDir), 'suspended')).suspendedUntil;
}

/** Removes past runs. */
export type Retention = {
  readonly apply: (request: RetentionRequest) => Promise<RetentionReport>;
  /** Whether the last removal was more than a day ago; true for only one of several processes that ask. */
  readonly isDue: () => boolean;
};

/** Sets up the removal of past runs; its modules load when it is applied. */
export function createRetention(config: Config): Retention {
  const archive = fileStore(config);
  const { history } = createPast(config);
  return {
    apply: async (request) => {
      const { applyRetention } = await import('./service/history/retention.ts');
      return applyRetention(request, {
        archive,
        history,
        clock: systemClock,
        isAlive: mayBeAlive,
        isElsewhere,
        cwd: config.cwd,
      });
    },
    isDue: () => archive.claimTidying(systemClock.now(), tidyEveryMs),
  };
}

/** Removes one run that has finished. */
export async function removeRun(runId: string, config: Config): Promise<number> {
  const { removePastRun } = await import('./service/history/remove-run.ts');
  return removePastRun(runId, { archive: fileStore(config), history: createPast(config).history });
}

const tidyEveryMs = 86_400_000;

/** Accepts runs for other processes, starts processes for them, and reaches the owners of running ones. */
export type Control = StopTools & {
  readonly history: History;
  readonly places: WorkflowPlaces;
  /** Failures that `continueOn.failure` tolerates fail every run, according to the settings. */
  readonly strict: boolean;
  /** `lasting`: a daemon accepts the run, and its successor keeps the promise. */
  readonly accept: (
    request: StartRequest,
    terms: { readonly lasting: boolean; readonly context: RunContext },
  ) => Promise<AcceptedRun>;
  /** Starts a process for a waiting run. */
  readonly launch: (runId: string) => Carrier;
};

/** Controls the runs of all processes. */
export function createControl(config: Config): Control {
  const store = fileStore(config);
  const own = { clock: systemClock, by: thisProcess() };
  return {
    ...createPast(config),
    queue: store,
    control: store,
    wake: (owner) => sendSignal(owner, 'SIGCONT'),
    clock: systemClock,
    places: workflowPlaces(config),
    strict: config.settings.read('strict').value,
    accept: (request, { lasting, context }) =>
      acceptRun(request, {
        context,
        store: (run, kept) => storeQueued(run, { ...own, queue: store, lasting, ...kept }),
      }),
    launch: (runId) => {
      const env = withoutRun(config.processEnv);
      const argv = [process.execPath, launcher, 'carry', runId, '--runs', config.runsDir ?? '', '--report'];
      const program = { argv, cwd: config.cwd, env };
      const spawn = (stdio: StdioOptions) => spawnDetached(program, stdio);
      return launchRun(runId, { openProcessLog: store.openProcessLog, closeLog: closeSync, spawn });
    },
  };
}

/** The launcher of this program. */
const launcher = join(import.meta.dirname, '../bin/wf.js');

/** Process checks for code that needs to know whether a process is alive. */
export const processes: Processes = {
  identify,
  isAlive: mayBeAlive,
  elsewhere: {
    get here() {
      return processPlace();
    },
    isElsewhere,
    declareGone,
  },
};

async function forwardLogs(
  settings: LogForwarding,
  { warn, forDaemon, config }: Parameters<App['forwardLogs']>[1] & { readonly config: Config },
): Promise<LogForwarder> {
  const { openLogForwarder } = await import('./forwarding/log-forwarder.ts');
  const tell = forDaemon === null ? null : await tellDaemon(forDaemon, config);
  return openLogForwarder(settings, { warn, now: Date.now, tell });
}

async function tellDaemon(runId: string, { runsDir }: Config): Promise<LogForwarderOptions['tell']> {
  if (runsDir === null) return null;
  const { createRunNotes } = await import('./store/files/run-notes.ts');
  const { forwardTeller } = await import('./forwarding/forward-total.ts');
  return forwardTeller(createRunNotes(forwardingNotes(runsDir)), runId, thisProcess());
}

/** Directory in which run processes report the state of their forwarding to a daemon. */
export function forwardingNotes(runsDir: string): string {
  return join(dirname(runsDir), 'daemon', 'forwarding');
}

/**
 * The login of this user's own daemon if it listens at an address of this machine and has created a token; else null.
 */
export async function ownDaemonLogin({ runsDir }: Config, address: string): Promise<OwnDaemon | null> {
  if (runsDir === null) return null;
  const { findOwnDaemon } = await import('./store/files/control/own-daemon.ts');
  return findOwnDaemon(join(dirname(runsDir), 'daemon'), address, isAlive);
}

/** Directories searched for workflows. */
export function workflowPlaces({ cwd, dagsDir, configDir }: Config): WorkflowPlaces {
  return { cwd, dagsDir, base: configDir === null ? null : join(configDir, 'base.yaml') };
}

function fileStore({ runsDir }: Config): FileStore {
  if (runsDir !== null) return createFileStore({ runsDir, ...processes });
  throw new WfError('storage', 'there is no home directory to store the run in', {
    help: 'set HOME or WF_HOME, or run with --no-history',
  });
}

/** `run:` names a file next to its parent, or a workflow in the workflows directory. */
function subworkflowFinder(config: Config): FindSubworkflow {
  return async ({ run, params, parent }) => {
    const places = { ...workflowPlaces(config), cwd: parent.dir, dagsDir: dagsDirFor(config, parent.dir) };
    try {
      const { workflow, sources } = getWorkflow({ name: run }, places);
      const given = parseParamTemplates(params);
      checkGivenParams(workflow, given);
      return await withDotenv({ workflow, sources, params: given }, config.processEnv);
    } catch (error) {
      throw error instanceof InvalidWorkflow ? new WfError('invalid-workflow', error.inOneLine) : error;
    }
  };
}
