import type { StoredEvent } from '../../core/run.ts';
import { WfError } from '../../errors.ts';
import type { LogExcerpt } from '../../store/files/logs/log-excerpt.ts';
import type { ShownRun, V1Parts } from './parts.ts';
import { nodeViews } from './run-view.ts';
import { shownName } from './step-view.ts';

/** Of a longer output both ends are told. */
const size = { head: 256 * 1024, tail: 256 * 1024 };

/**
 * What the last attempt at a step of a run printed; a handler goes by its name in the grid, too. Throws a `WfError`
 * `not-found` for a step that the run does not have.
 */
export function stepLog(run: ShownRun, wanted: string, { readLog }: Pick<V1Parts, 'readLog'>): object {
  const { past, summary } = run;
  const all = [...summary.steps, ...summary.handlers];
  const step = all.find(({ name }) => name === wanted) ?? all.find(({ name }) => shownName(name) === wanted);
  if (step === undefined) throw new WfError('not-found', `the run ${past.runId} has no step "${wanted}"`);
  const { stored } = past;
  const paths = stored === null || step.attempts === 0 ? null : stored.logPaths(step.name, step.attempts);
  const texts = paths === null ? [] : [paths.stdoutPath, paths.stderrPath].map((path) => text(readLog(path, size)));
  return { Step: nodeViews(run)(step), LogFile: past.runId, Content: texts.join('') };
}

/** What happened in a run, a line for each event. */
export function eventLog({ past }: ShownRun): object {
  const lines = [...(past.stored?.events ?? []).map(eventLine), ...past.damage];
  return { LogFile: past.runId, Content: lines.map((line) => `${line}\n`).join('') };
}

function text({ size: bytes, head, tail }: LogExcerpt): string {
  const [start, end] = [head, tail].map((part) => Buffer.from(part).toString());
  if (tail.length === 0) return start ?? '';
  return `${start}\n[${bytes - head.length - tail.length} bytes are left out here]\n${end}`;
}

/** Everything of an event that is about the run or a step and fits a line: its time, kind, step, attempt, end and message. */
function eventLine(event: StoredEvent): string {
  const parts = [
    new Date(event.at).toISOString(),
    event.type,
    'step' in event && event.step !== null ? JSON.stringify(event.step) : '',
    'attempt' in event && event.attempt > 1 ? `attempt ${event.attempt}` : '',
    'status' in event ? event.status : '',
    'message' in event ? event.message : '',
  ];
  return parts.filter((part) => part !== '').join(' ');
}
