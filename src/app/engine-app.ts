import { spawn } from 'node:child_process';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Config } from '#config/config.ts';
import type { Check } from '#doctor/machine.ts';
import type { WorkerReport } from '#engine/temporal/client/inspect-engine.ts';
import type { TemporalHost } from '#engine/temporal/client/temporal-host.ts';
import type { EngineWorker } from '#engine/temporal/worker/worker.ts';
import { endProcesses, findRunProcesses, mayBeAlive, processMoment, thisProcess } from '#processes/processes.ts';
import { createRunLogs } from '#store/files/logs/run-logs.ts';
import { WfError } from '#system/errors.ts';
import { hostOptions } from './app.ts';
import { packageRoot } from './package-root.ts';
import { engineSettings, lostAfterMs } from './remote-app.ts';
import { queueSizes } from './run-store.ts';

export type { TemporalHost, WorkerReport };

const processes = { moment: processMoment, find: findRunProcesses, end: endProcesses };

/** Opens the host of runs that an engine carries out. Throws a `WfError`: `usage`, `unreachable`. */
export async function openEngineHost(
  config: Config,
  { url, keepHistory }: { readonly url: string; readonly keepHistory: boolean },
): Promise<TemporalHost> {
  const { openTemporalHost } = await import('#engine/temporal/client/temporal-host.ts');
  return openTemporalHost({
    ...hostOptions(config, { keepHistory }),
    settings: engineSettings(config, url),
    lostAfterMs: lostAfterMs(config),
    queueSize: queueSizes(config),
  });
}

/** Returns the workers of the engine of the settings. Throws a `WfError`: `usage`, `unreachable`. */
export async function readWorkers(config: Config): Promise<readonly WorkerReport[]> {
  const { listWorkers } = await import('#engine/temporal/client/inspect-engine.ts');
  return listWorkers(engineSettings(config, config.settings.read('engine').value));
}

/** Checks the engine of the settings for `wf doctor`; changes nothing. */
export async function checkEngine(config: Config, version: string): Promise<readonly Check[]> {
  const { inspectEngine } = await import('#engine/temporal/client/inspect-engine.ts');
  return inspectEngine(engineSettings(config, config.settings.read('engine').value), version);
}

/** How a worker was asked for. */
export type WorkerRequest = {
  readonly name: string | null;
  readonly version: string;
  readonly slots: number;
  readonly directory: string | null;
  readonly drainMs: number;
  readonly report: (message: string) => void;
};

/** Starts a worker with its guard. Throws a `WfError`: `usage`, `unreachable`, `conflict`. */
export async function startWorker(
  config: Config,
  { name, version, slots, directory, drainMs, report }: WorkerRequest,
): Promise<EngineWorker & { readonly name: string }> {
  const settings = engineSettings(config, config.settings.read('engine').value);
  const { startEngineWorker } = await import('#engine/temporal/worker/worker.ts');
  const shared = directory ?? (config.runsDir === null ? null : join(config.runsDir, '..', 'worker'));
  if (shared === null) throw new WfError('storage', 'there is no home directory for a worker', { help: 'pass --dir' });
  const named = name ?? `${hostname()}-${process.pid}`;
  const worker = await startEngineWorker({
    settings,
    name: named,
    version,
    slots,
    drainMs,
    host: { ...hostOptions(config, { keepHistory: false }), background: processes, openLogs: createRunLogs },
    shared,
    tools: { own: thisProcess(), isAlive: mayBeAlive, processes },
    startGuard: () => startGuard(report),
    workflowCode: join(packageRoot, 'dist/temporal-workflow.js'),
    report,
  });
  return { ...worker, name: named };
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
export async function guard(): Promise<void> {
  const { guardWorker } = await import('#engine/temporal/worker/worker.ts');
  return guardWorker(process.stdin, process.stdout, processes);
}
