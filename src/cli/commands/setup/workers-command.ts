import type { WorkerReport } from '#app/engine-app.ts';
import { labelsText } from '#core/selectors.ts';
import { isoTime } from '#render/data-views.ts';
import { renderTable } from '#render/terminal.ts';
import { escapeControls } from '#render/text.ts';
import type { CommonOptions } from '../../program/add-command.ts';
import { configFor } from '../../reference.ts';
import type { Console } from '../../terminal/console.ts';

type WorkersOptions = CommonOptions & { readonly json?: true };

/** Prints the workers of an engine, as Temporal reports them. */
export async function workersCommand(options: WorkersOptions, { out, err }: Console): Promise<void> {
  const config = configFor(options);
  const { readWorkers } = await import('#app/engine-app.ts');
  const workers = await readWorkers(config);
  if (options.json) {
    out.write(`${JSON.stringify(workers.map(workerJson), null, 2)}\n`);
    return;
  }
  const { value: url } = config.settings.read('engine');
  if (workers.length === 0) err.write(`no worker serves ${url}: start one with wf worker --engine ${url}\n`);
  else out.write(renderWorkers(workers));
}

function workerJson({ name, version, core, key, slots, running, lastSeenAt, offer }: WorkerReport): object {
  const { labels = {}, serves = [] } = offer ?? {};
  return { name, version, core, key, labels, serves, slots, running, lastSeen: isoTime(lastSeenAt) };
}

/** The labels of a worker, and with a plus sign further combinations that it serves: `gpu=true +arch=arm64`. */
function labelsOf({ offer }: WorkerReport): string {
  if (offer === undefined) return '';
  return [labelsText(offer.labels), ...offer.serves.map((labels) => `+${labelsText(labels)}`)].join(' ').trim();
}

function renderWorkers(workers: readonly WorkerReport[]): string {
  const cell = (text: string) => ({ text, paint: (shown: string) => shown });
  const heads = ['NAME', 'LABELS', 'VERSION', 'SLOTS', 'RUNNING', 'KEY', 'LAST SEEN'];
  const rows = workers.map((worker) => {
    const { name, version, slots, running, key, lastSeenAt } = worker;
    return [
      escapeControls(name),
      labelsOf(worker),
      escapeControls(version),
      String(slots ?? ''),
      String(running ?? ''),
      key ?? '',
      `${Math.max(0, Math.round((Date.now() - lastSeenAt) / 1000))}s ago`,
    ].map(cell);
  });
  const columns = Number.POSITIVE_INFINITY;
  return renderTable([heads.map(cell), ...rows], { optional: [1, 5], columns });
}
