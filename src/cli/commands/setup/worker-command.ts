import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { given } from '#core/data/collections.ts';
import { type Labels, labelsText, MAX_WORKER_LABELS, readLabels } from '#core/selectors.ts';
import { escapeControls } from '#render/text.ts';
import { WfError } from '#system/errors.ts';
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
  readonly labels?: string;
  readonly serve?: readonly string[];
};

const DRAIN_SECONDS = 600;

/** Serves the runs of an engine until a signal: the first lets running steps end, the second ends them. */
export async function workerCommand(options: WorkerOptions, { err }: Console): Promise<number> {
  const config = configFor(options);
  const { slots = availableParallelism(), dir, drain = DRAIN_SECONDS, name = null } = options;
  const labels = options.labels === undefined ? {} : labelsOf(options.labels, '--labels');
  if (Object.keys(labels).length > MAX_WORKER_LABELS) {
    const most = `--labels takes at most ${MAX_WORKER_LABELS} labels, of which a worker serves every combination`;
    throw new WfError('usage', most, { help: 'name the combinations that it serves: --serve NAME=VALUE,NAME=VALUE' });
  }
  const serves = (options.serve ?? []).map((text) => labelsOf(text, '--serve'));
  const report = (message: string) => err.write(`wf: ${escapeControls(message)}\n`);
  const { startWorker } = await import('#app/engine-app.ts');
  const directory = dir === undefined ? null : resolve(dir);
  const own = { name, version, slots, labels, serves, directory, drainMs: drain * 1000, report };
  const worker = await startWorker(config, own);
  const offered = [labels, ...serves].map(labelsText).filter((text) => text !== '');
  const where = `${config.settings.read('engine').value}${offered.length === 0 ? '' : ` for ${offered.join(' and ')}`}`;
  const stop = () => {
    report('stopping: running steps may end; a second signal ends them');
    worker.stop();
  };
  // Before the message, after which a supervisor may stop the worker at any time.
  process.on('SIGTERM', stop).on('SIGINT', stop);
  try {
    report(`worker ${worker.name} serves ${where}, ${slots} steps at once`);
    await worker.stopped;
  } finally {
    process.off('SIGTERM', stop).off('SIGINT', stop);
  }
  return exitCodes.succeeded;
}

/** Throws a `WfError` `usage`. */
function labelsOf(text: string, option: string): Labels {
  const read = readLabels(text);
  if ('labels' in read) return read.labels;
  throw new WfError('usage', `${option}: ${read.problem}`, { help: `for example: ${option} gpu=true,os=linux` });
}

/** Guards the worker that started this process, until it ends. */
export async function guardCommand(): Promise<number> {
  const { guard } = await import('#app/engine-app.ts');
  await guard(given(process.env) as Record<string, string>);
  return exitCodes.succeeded;
}
