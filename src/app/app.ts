import type { Config } from '#config/config.ts';
import type { LogForwarding } from '#core/log-forwarding.ts';
import type { Notify, OnChild } from '#engine/engine.ts';
import type { LocalEngineOptions } from '#engine/local/engine-options.ts';
import { createRunHost } from '#engine/local/run-host.ts';
import type { Attempt } from '#executors/executor.ts';
import { loadExecutor, reportAttempts } from '#executors/registry.ts';
import { hostName, os } from '#fast/os.ts';
import type { LogForwarder, LogForwarderOptions } from '#forwarding/log-forwarder.ts';
import { createMailNotifier } from '#mail/reports/mail-notifier.ts';
import { createNotifier, joinNotifiers } from '#notifications/notifier.ts';
import type { Delivery, NotifierOptions } from '#notifications/send-notifications.ts';
import type { NamedPipes } from '#processes/named-pipes.ts';
import { endProcesses, findRunProcesses, processMoment, type RunGroup, thisProcess } from '#processes/processes.ts';
import { capture, queueFlush } from '#processes/programs.ts';
import { attachArtifacts, summarizeNotice } from '#service/history.ts';
import { newRunId } from '#service/service.ts';
import { retryChild, runRequest, type StartRequest, withDotenv } from '#service/start-runs.ts';
import { createMemoryStore } from '#store/memory.ts';
import { systemClock } from '#system/clock.ts';
import { daemonState, fileStore, lockSizes, lockStore } from './run-store.ts';
import { subworkflowFinder } from './subworkflows.ts';

export { enterRunGroup, lowerPriority } from '#processes/processes.ts';

/** Options of a single run. */
export type AppOptions = {
  readonly keepHistory: boolean;
  /** Called before each attempt starts, with its environment, secrets included. */
  readonly onAttempt?: ((attempt: Attempt) => void) | null;
  /** Called for each child run in the turn in which it starts; returns its watcher. */
  readonly onChild?: OnChild | null;
  /** Replaces the mails and notifications of the run. */
  readonly notify?: Notify;
  readonly group?: RunGroup | null;
  /** Called for each run of this process that will start no more programs and forwards no more output. */
  readonly rest?: ((runId: string) => void) | null;
};

/** Wires the parts together: the only place that picks the host of runs and the store. */
export function createApp(config: Config, options: AppOptions) {
  return {
    host: createRunHost(hostOptions(config, options)),
    /** Forwards the lines of a run; `forDaemon`: the id of the run if the monitor of a daemon reports it. */
    forwardLogs: async (
      settings: LogForwarding,
      { warn, forDaemon }: { readonly warn: (message: string) => void; readonly forDaemon: string | null },
    ): Promise<LogForwarder> => {
      const { LogForwarder } = await import('#forwarding/log-forwarder.ts');
      const publish = forDaemon === null ? null : await notifyDaemon(forDaemon, config);
      return LogForwarder.open(settings, { warn, now: systemClock.now, elapsed: systemClock.elapsed, publish });
    },
  };
}

/** What a host of runs needs of this machine. */
export function hostOptions(config: Config, options: AppOptions): LocalEngineOptions {
  const { keepHistory } = options;
  return {
    store: keepHistory
      ? fileStore(config, { queueSync: queueFlush })
      : createMemoryStore({ tempDir: () => os().tmpdir() }),
    clock: systemClock,
    processEnv: config.processEnv,
    owner: thisProcess(),
    executor: options.onAttempt ? reportAttempts(loadExecutor, options.onAttempt) : loadExecutor,
    capture,
    background: {
      moment: processMoment,
      find: findRunProcesses,
      end: endProcesses,
      ...(options.group ? { sweep: options.group.sweep } : {}),
      ...(options.rest ? { rest: options.rest } : {}),
    },
    findSubworkflow: subworkflowFinder(config),
    retryChild: async (request) => {
      const { createPast } = await import('./history-app.ts');
      return retryChild(request, createPast(config).history);
    },
    onChild: options.onChild ?? null,
    newRunId,
    openPipe: pipesWith(config.processEnv),
    notify: options.notify ?? runNotifier(config, keepHistory),
    locks: locksOf(config),
    needsSelected: config.settings.read('strictSelectors').value,
  };
}

/** Sends the mails and notifications of runs. `kept`: they are stored. */
export function runNotifier(config: Config, kept: boolean): Notify {
  const summaryOf = noticeSummary(kept);
  const mail = createMailNotifier({ host: hostName(), commands: { retry: true }, summaryOf, attach: attachArtifacts });
  const chat = createNotifier({
    ...notifierSettings(config),
    summaryOf,
    attach: attachArtifacts,
    // Without a history, no run failed before.
    failedBefore: async ({ state, failedBefore }) =>
      failedBefore ?? (kept && (await import('./history-app.ts')).hasFailedBefore(state, config)),
  });
  return joinNotifiers(mail, chat);
}

/** Opens the locks of the home once; they are loaded with the first one. */
function locksOf(config: Config): LocalEngineOptions['locks'] {
  let opened: ReturnType<typeof lockStore> | null = null;
  const settle = async (runId: string) => (await import('./history-app.ts')).settleRun(runId, config);
  return {
    open: () => {
      opened ??= lockStore(config, settle);
      return opened;
    },
    sizeOf: lockSizes(config),
    perMinute: (name) => config.settings.read('pools').value.find((pool) => pool.name === name)?.perMinute ?? null,
  };
}

function noticeSummary(kept: boolean): NotifierOptions['summaryOf'] {
  return (notice, lines) => summarizeNotice(notice, { lines, kept });
}

function notifierSettings({ processEnv, settings }: Config): Pick<NotifierOptions, 'env' | 'publicUrl'> {
  return { env: processEnv, publicUrl: settings.read('publicUrl').value?.replace(/\/+$/, '') ?? null };
}

/**
 * Sends a sample of each notification, or resolves to why none was sent. Throws as `runRequest` does, and `run-exists`,
 * `storage`.
 */
export async function sendSamples(
  config: Config,
  request: StartRequest,
): Promise<{ readonly deliveries: readonly Delivery[]; readonly problem: string | null }> {
  const { createSampler, withoutWork } = await import('#notifications/sample.ts');
  const run = await withDotenv(request, config.processEnv);
  const { workflow } = run;
  let deliveries: readonly Delivery[] = [];
  const notify = createSampler(
    workflow,
    { ...notifierSettings(config), summaryOf: noticeSummary(false), attach: attachArtifacts },
    (results) => {
      deliveries = results;
    },
  );
  const { host } = createApp(config, { keepHistory: false, notify });
  const sampled = host.start({ ...runRequest(run), workflow: withoutWork(workflow) }, () => {});
  const { status, message } = await sampled.finished;
  return { deliveries, problem: status === 'failed' ? message : null };
}

async function notifyDaemon(runId: string, config: Config): Promise<LogForwarderOptions['publish']> {
  if (config.runsDir === null) return null;
  const { forwardPublisher } = await import('#forwarding/forward-total.ts');
  return forwardPublisher((await daemonState(config)).forwarding, runId, thisProcess());
}

/** Opens named pipes; loaded with the first one. */
function pipesWith(env: Config['processEnv']): LocalEngineOptions['openPipe'] {
  let pipes: Promise<NamedPipes> | null = null;
  return async (directory) => {
    pipes ??= import('#processes/named-pipes.ts').then((loaded) => new loaded.NamedPipes(env));
    return (await pipes).open(directory);
  };
}
