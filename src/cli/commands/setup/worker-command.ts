import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { escapeControls } from '#render/text.ts';
import { exitCodes } from '../../exit-codes.ts';
import type { CommonOptions } from '../../program/add-command.ts';
import { configFor } from '../../reference.ts';
import type { Console } from '../../terminal/console.ts';
import { version } from '../../version.ts';

/** The options of `wf worker`. */
type WorkerOptions = CommonOptions & {
  readonly name?: string;
  readonly slots?: number;
  readonly dir?: string;
  readonly drain?: number;
};

const DRAIN_SECONDS = 600;

/** Serves the runs of an engine until a signal: the first lets running steps end, the second ends them. */
export async function workerCommand(options: WorkerOptions, { err }: Console): Promise<number> {
  const config = configFor(options);
  const { slots = availableParallelism(), dir, drain = DRAIN_SECONDS, name = null } = options;
  const report = (message: string) => err.write(`wf: ${escapeControls(message)}\n`);
  const { startWorker } = await import('#app/engine-app.ts');
  const directory = dir === undefined ? null : resolve(dir);
  const worker = await startWorker(config, { name, version, slots, directory, drainMs: drain * 1000, report });
  report(`worker ${worker.name} serves ${config.settings.read('engine').value}, ${slots} steps at once`);
  const stop = () => {
    report('stopping: running steps may end; a second signal ends them');
    worker.stop();
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
  try {
    await worker.stopped;
  } finally {
    process.off('SIGTERM', stop).off('SIGINT', stop);
  }
  return exitCodes.succeeded;
}

/** Guards the worker that started this process, until it ends. */
export async function guardCommand(): Promise<number> {
  const { guard } = await import('#app/engine-app.ts');
  await guard();
  return exitCodes.succeeded;
}
