import { type RunStatus, runStatuses } from '#core/run/run.ts';
import { isCalendarDay, parseSpan } from '#core/time-text.ts';
import { views } from '#render/views.ts';
import { WfError } from '#system/errors.ts';
import { type AccessOptions, withService } from '../../access/open-service.ts';
import type { Console } from '../../terminal/console.ts';

/** The options of `wf history`; `name` is null for the runs of all workflows. */
type HistoryOptions = AccessOptions & {
  readonly name: string | null;
  readonly status?: readonly string[];
  readonly last?: string;
  readonly from?: string;
  readonly to?: string;
  readonly limit: number;
  readonly waiting?: true;
  readonly queue?: string;
  readonly tag?: string;
};

/** Lists past runs, newest first. */
export async function historyCommand(options: HistoryOptions, console: Console): Promise<void> {
  const { out, err, outTerminal } = console;
  const { name, limit, json, waiting, queue = null, tag = null } = options;
  const { from, to } = timeLimits(options, Date.now());
  const statuses = options.status === undefined ? null : options.status.map(asStatus);
  await withService({ ...options, shows: name }, console, async ({ runs: { list }, commandOptions }) => {
    const filter = { workflow: name, statuses, from, to, limit, queue, tag, ...(waiting ? { waiting } : {}) };
    const runs = await list(filter);
    if (json) {
      out.write(`${JSON.stringify(runs, null, 2)}\n`);
    } else if (runs.length === 0) {
      err.write('no runs\n');
    } else {
      const { renderHistory } = await views.history();
      out.write(renderHistory(runs, outTerminal, commandOptions));
    }
  });
}

function timeLimits({ last, from, to }: HistoryOptions, now: number): { from: number | null; to: number | null } {
  if (last !== undefined && from !== undefined) throw new WfError('usage', '--last and --from exclude each other');
  const start = from === undefined ? null : parseInstant('--from', from, 'start');
  const limits = {
    from: last === undefined ? start : now - spanOption('--last', last),
    to: to === undefined ? null : parseInstant('--to', to, 'end'),
  };
  if (limits.from === null || limits.to === null || limits.from <= limits.to) return limits;
  const given = last === undefined ? `--from "${from}"` : `the start of --last "${last}"`;
  throw new WfError('usage', `--to "${to}" is before ${given}`);
}

function asStatus(word: string): RunStatus {
  const status = runStatuses.find((known) => known === word.trim().replace('-', '_'));
  if (status !== undefined) return status;
  throw new WfError('usage', `"${word}" is not a status of a run`, { help: `statuses: ${runStatuses.join(', ')}` });
}

/**
 * Parses a duration such as `90m`, `7d` or `2d12h` to milliseconds. Throws a `WfError` `usage`, also for a number without a
 * unit: seconds, the unit in files, are unlikely to be intended where runs are removed.
 */
export function spanOption(option: string, text: string): number {
  const span = /^[\d.]*$/.test(text) ? null : parseSpan(text);
  if (span !== null) return span;
  throw new WfError('usage', `${option} "${text}" is not a duration`, {
    help: 'such as 30m, 12h, 2d12h, 7d or 2w',
  });
}

/** Parses a time in ISO 8601, local unless it names a zone; a day alone is its start or end. Throws a `WfError` `usage`. */
export function parseInstant(option: string, text: string, day: 'start' | 'end'): number {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const time = day === 'start' ? 'T00:00:00' : 'T23:59:59.999';
  const moment = /^\d{4}-\d{2}-\d{2}/.test(text)
    ? Date.parse(isDay ? text + time : text.replace(' ', 'T'))
    : Number.NaN;
  if (Number.isNaN(moment)) {
    throw new WfError('usage', `${option} "${text}" is not a time`, { help: 'such as 2026-03-01 or 2026-03-01T10:30' });
  }
  if (isCalendarDay(text.slice(0, 10))) return moment;
  throw new WfError('usage', `${option} "${text}" is not a time`, { help: 'that month has fewer days' });
}
