import type { StoredEvent } from '#core/run/run.ts';
import { attemptMark, stepMark } from '#render/views/log-lines.ts';
import { attemptsOf } from '#service/history/attempts.ts';
import type { PastRun } from '#service/history/past-run.ts';
import { type LogExcerpt, readExcerpt } from '#store/log-ends.ts';
import { WfError } from '#system/errors.ts';
import { nodeViews } from './status-view.ts';
import { shownName } from './step-view.ts';
import type { ShownRun } from './v1-parts.ts';

/** The bytes shown of the beginning and end of a longer output. */
const size = { head: 256 * 1024, tail: 256 * 1024 };
/** The maximum number and total length of the shown attempts; earlier attempts are left out. */
const mostAttempts = 100;
const mostCharacters = 1024 * 1024;

/**
 * Returns the output of all attempts at a step of a run, in order; a handler may have its v1 name. Throws a `WfError`
 * `not-found` for an unknown step.
 */
export async function stepOutput(run: ShownRun, wanted: string): Promise<object> {
  const { past, summary } = run;
  const all = [...summary.steps, ...summary.handlers];
  const step = all.find(({ name }) => name === wanted) ?? all.find(({ name }) => shownName(name) === wanted);
  if (step === undefined) {
    const help = `its steps: ${all.map(({ name }) => shownName(name)).join(', ')}`;
    throw new WfError('not-found', `the run ${past.runId} has no step "${wanted}"`, { help });
  }
  return { Step: nodeViews(run)(step), LogFile: past.runId, Content: await contentOf(past, step.name) };
}

/** Returns the output of the attempts with lines between them. Reads the newest first, since older ones may be left out. */
async function contentOf(past: PastRun, step: string): Promise<string> {
  const { stored } = past;
  if (stored === null) return '';
  const attempts = attemptsOf(past, { step, attempt: null });
  const texts: string[] = [];
  let characters = 0;
  for (const { step: own, attempt } of [...attempts].reverse()) {
    if (texts.length === mostAttempts || characters > mostCharacters) break;
    let output = '';
    for (const stream of await stored.logs.streams(own, attempt)) {
      output += text(await readExcerpt(stored.logs.file(own, attempt, stream), size));
    }
    const marks = [...(own === step ? [] : [stepMark(own)]), ...(attempt > 1 ? [attemptMark(attempt)] : [])];
    texts.unshift(output === '' ? '' : [...marks, output].join('\n'));
    characters += output.length;
  }
  const leftOut = attempts.length - texts.length;
  if (leftOut > 0) texts.unshift(`[${leftOut} earlier attempts are left out here]`);
  return texts.reduce(
    (all, each) => (all === '' || all.endsWith('\n') || each === '' ? all + each : `${all}\n${each}`),
    '',
  );
}

/** Returns the events of a run, one line each. */
export function eventLog({ past }: ShownRun): object {
  const lines = [...(past.stored?.events ?? []).map(eventLine), ...past.damage];
  return { LogFile: past.runId, Content: lines.map((line) => `${line}\n`).join('') };
}

function text({ size: bytes, head, tail }: LogExcerpt): string {
  const [start, end] = [head, tail].map((part) => Buffer.from(part).toString());
  if (tail.length === 0) return start ?? '';
  return `${start}\n[${bytes - head.length - tail.length} bytes are left out here]\n${end}`;
}

/** Formats an event as a line: its time, type, step, attempt, status and message. */
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
