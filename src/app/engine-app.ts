import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '#config/config.ts';
import { readLogStoreToken } from '#config/part-settings.ts';
import { given } from '#core/data/collections.ts';
import type { Labels } from '#core/selectors.ts';
import type { Check } from '#doctor/machine.ts';
import type { FitCheck, WorkerReport } from '#engine/temporal/client/inspect-engine.ts';
import type { TemporalHost } from '#engine/temporal/client/temporal-host.ts';
import type { EngineWorker, LogTarget, RunEnders } from '#engine/temporal/worker/worker.ts';
import { endProcesses, findRunProcesses, mayBeAlive, processMoment, thisProcess } from '#processes/processes.ts';
import { createSharedArtifacts } from '#store/files/file-store.ts';
import { createRunLogs } from '#store/files/logs/run-logs.ts';
import { outsideLogs } from '#store/files/run-directory.ts';
import { createMemoryStore } from '#store/memory.ts';
import { failedAs, WfError } from '#system/errors.ts';
import { writePiece } from '#system/file-pieces.ts';
import { type AppOptions, hostOptions, runNotifier } from './app.ts';
import { createPast, hasFailedBefore } from './history-app.ts';
import { ownRelease, packageRoot } from './package-root.ts';
import { engineSettings, lostAfterMs } from './remote-app.ts';
import { logStoreDirectory, queueSizes } from './run-store.ts';
import { knownWorkflowTools } from './subworkflows.ts';

export type { FitCheck, TemporalHost, WorkerReport };

const processes = { moment: processMoment, find: findRunProcesses, end: endProcesses };

/** What ends the programs that a dead worker has left on this machine. `env`: how Docker daemons are reached. */
function leftovers(env: Config['processEnv']): RunEnders {
  return {
    ...processes,
    removeContainers: async (daemons) => (await import('#executors/docker/docker.ts')).removeContainers(daemons, env),
  };
}

/** Opens the host of runs that an engine carries out. Throws a `WfError`: `usage`, `unreachable`. */
export async function openEngineHost(
  config: Config,
  { url, ...options }: { readonly url: string } & Pick<AppOptions, 'keepHistory' | 'onChild'>,
): Promise<TemporalHost> {
  const { openTemporalHost } = await import('#engine/temporal/client/temporal-host.ts');
  return openTemporalHost({
    ...hostOptions(config, options),
    known: knownWorkflowTools(
      config,
      () => createPast(config).history,
      // Without a history, no run failed before.
      options.keepHistory ? hasFailedBefore : null,
    ),
    settings: engineSettings(config, url),
    lostAfterMs: lostAfterMs(config),
    release: ownRelease(),
    logStore: logStoreDirectory(config),
    queueSize: queueSizes(config),
    pools: config.settings.read('pools').value,
  });
}

/** Returns the workers of the engine of the settings. Throws a `WfError`: `usage`, `unreachable`. */
export async function readWorkers(config: Config): Promise<readonly WorkerReport[]> {
  const { listWorkers } = await import('#engine/temporal/client/inspect-engine.ts');
  return listWorkers(engineSettings(config, config.settings.read('engine').value));
}

/** Returns what checks workflows against the engine of the settings, see `createFitCheck`. */
export async function openFitCheck(config: Config): Promise<FitCheck> {
  const { createFitCheck } = await import('#engine/temporal/client/inspect-engine.ts');
  const settings = engineSettings(config, config.settings.read('engine').value);
  return createFitCheck(
    settings,
    knownWorkflowTools(config, () => createPast(config).history, null),
  );
}

/** Checks the engine of the settings for `wf doctor`; changes nothing. */
export async function checkEngine(config: Config, version: string): Promise<readonly Check[]> {
  const { inspectEngine } = await import('#engine/temporal/client/inspect-engine.ts');
  const url = config.settings.read('engine').value;
  const { value: logs } = config.settings.read('engineLogs');
  const ofEngine = inspectEngine(engineSettings(config, url), { version, logs });
  return [...(await ofEngine), await checkLogStore(config)];
}

/** Checks whether logs can be stored; nothing is. */
async function checkLogStore(config: Config): Promise<Check> {
  const check = (detail: string, help: string | null = null): Check => {
    return { name: 'log store', ok: help === null, version: null, detail, help };
  };
  try {
    const target = await openLogTarget(config, { worker: 'wf doctor', report: () => {} });
    if (target === null) return check('none: of long logs, only the ends leave their workers');
    const { url, send } = target;
    if (logStoreDirectory(config) !== null) return check(url);
    const log = { runId: 'wf.doctor', workflow: '', step: 'none', attempt: 1, stream: 'output', file: '' } as const;
    // There is no such run.
    await send(log, { offset: 0, bytes: new Uint8Array(), total: null }).catch((error: unknown) => {
      if (!failedAs(error, 'not-found')) throw error;
    });
    return check(url);
  } catch (error) {
    if (!(error instanceof WfError)) throw error;
    return check(error.message, error.help ?? 'check the address, and that the daemon runs');
  }
}

/** How a worker was asked for. */
export type WorkerRequest = {
  readonly name: string | null;
  readonly version: string;
  readonly slots: number;
  readonly labels: Labels;
  readonly serves: readonly Labels[];
  readonly directory: string | null;
  readonly drainMs: number;
  readonly report: (message: string) => void;
};

/** Starts a worker with its guard. Throws a `WfError`: `usage`, `unreachable`, `conflict`. */
export async function startWorker(
  config: Config,
  { name, directory, ...request }: WorkerRequest,
): Promise<EngineWorker & { readonly name: string }> {
  const settings = engineSettings(config, config.settings.read('engine').value);
  const { startEngineWorker } = await import('#engine/temporal/worker/worker.ts');
  const shared = directory ?? (config.runsDir === null ? null : join(config.runsDir, '..', 'worker'));
  if (shared === null) throw new WfError('storage', 'there is no home directory for a worker', { help: 'pass --dir' });
  const named = name ?? `${hostname()}-${process.pid}`;
  const logTarget = await openLogTarget(config, { worker: named, report: request.report });
  const worker = await startEngineWorker({
    settings,
    ...request,
    name: named,
    host: {
      // Runs are stored by those who copy them.
      ...hostOptions(config, { keepHistory: false, notify: runNotifier(config, true) }),
      background: processes,
      openLogs: createRunLogs,
      ...given({ openArtifacts: artifactsIn(logStoreDirectory(config)) }),
      openStore: () => createMemoryStore({ tempDir: tmpdir }),
    },
    shared,
    tools: { own: thisProcess(), isAlive: mayBeAlive, processes: leftovers(config.processEnv) },
    logTarget,
    startGuard: () => startGuard(request.report),
    workflowCode: join(packageRoot, 'dist/temporal-workflow.js'),
  });
  return { ...worker, name: named };
}

/** Where a worker stores logs; null: nowhere. Throws a `WfError` `usage` for a store that cannot be used. */
async function openLogTarget(
  config: Config,
  { worker, report }: { readonly worker: string; readonly report: (message: string) => void },
): Promise<LogTarget | null> {
  const { value: url } = config.settings.read('engineLogs');
  if (url === null) return null;
  const directory = logStoreDirectory(config);
  if (directory !== null) return directoryTarget(url, directory);
  const token = readLogStoreToken(config.settings.read);
  if (token === null)
    throw new WfError('usage', `the log store ${url} needs a token`, {
      help: 'set WF_ENGINE_LOGS_TOKEN, or engineLogsTokenFile, here and for the daemon',
    });
  const { hostname: host, protocol } = new URL(url);
  if (protocol === 'http:' && !LOOPBACK.test(host))
    report('logs and their token cross the network unencrypted: there is no TLS');
  const { httpLogTarget } = await import('#engine/temporal/worker/worker.ts');
  return httpLogTarget({ url, token, worker });
}

/** Opens the artifacts of runs in a log store; undefined without one. */
function artifactsIn(directory: string | null) {
  if (directory === null) return undefined;
  return (workflow: string, runId: string) => createSharedArtifacts(outsideLogs(directory, workflow, runId));
}

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** A directory of all machines. It must exist: that of a file system that is not mounted would hide the logs later. */
function directoryTarget(url: string, directory: string): LogTarget {
  const requireDirectory = () => {
    if (statSync(directory, { throwIfNoEntry: false })?.isDirectory()) return;
    throw new WfError('usage', `the log store "${directory}" is not a directory of this machine`, {
      help: 'mount it, or create it',
    });
  };
  requireDirectory();
  return {
    url,
    send: async ({ workflow, runId, file }, piece) => {
      requireDirectory();
      return writePiece(join(outsideLogs(directory, workflow, runId), file), piece);
    },
  };
}

/** The guard outlives this process, and the signals of its terminal. */
function startGuard(report: (message: string) => void) {
  const guard = spawn(process.execPath, [join(packageRoot, 'bin/wf.js'), 'worker-guard'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: true,
  });
  guard.on('exit', (code, signal) => {
    if (code !== 0) report(`the guard of this worker has ended, and is started again: ${signal ?? `exit ${code}`}`);
  });
  guard.on('error', (error) => report(`the guard of this worker cannot be started: ${error.message}`));
  guard.unref();
  return guard;
}

/** Guards the worker that started this process. */
export async function guard(env: Config['processEnv']): Promise<void> {
  const { guardWorker } = await import('#engine/temporal/worker/worker.ts');
  return guardWorker(process.stdin, process.stdout, leftovers(env));
}
