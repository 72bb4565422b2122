import { parseSpan } from '#core/time-text.ts';
import { fixedNumber } from '../build/build-policies.ts';
import { type Path, type Problem, problem } from '../diagnostic.ts';
import { type ActionEntry, type SpecFile, spotIn } from '../read/spec-file.ts';

const TIME_OF_DAY = /^(?:[01]\d|2[0-3]):[0-5]\d$/;

/** Checks `late` of the workflow. `settings`: the base and the root file, whose keys take precedence. */
export function latenessProblems(settings: readonly SpecFile[]): Problem[] {
  const file = settings.findLast(({ raw }) => raw.late !== undefined);
  const late = file?.raw.late;
  if (file === undefined || late === undefined) return [];
  const { after, by } = typeof late === 'string' ? { after: late, by: undefined } : late;
  const at = typeof late === 'string' ? ['late'] : ['late', 'after'];
  const isEmpty = after === undefined && by === undefined && !file.damaged.has(late);
  const limit = settings.findLast(({ raw }) => raw.timeoutSec !== undefined)?.raw.timeoutSec;
  return [
    ...(isEmpty ? [missingTime(file)] : []),
    ...(after === undefined ? [] : spanProblems(file, at, after)),
    ...(after === undefined ? [] : limitProblems(file, at, { after, limitSec: fixedNumber(limit), what: 'the run' })),
    ...(by === undefined ? [] : timeOfDayProblems(file, by, settings)),
  ];
}

/** Checks `late` of a step or handler. */
export function lateStepProblems({ file, path, raw }: ActionEntry): Problem[] {
  const { late, timeoutSec, retryPolicy, repeatPolicy } = raw;
  if (late === undefined) return [];
  const at = [...path, 'late'];
  // The limit is that of one attempt.
  const limitSec = retryPolicy === undefined && repeatPolicy === undefined ? fixedNumber(timeoutSec) : undefined;
  return [...spanProblems(file, at, late), ...limitProblems(file, at, { after: late, limitSec, what: 'the step' })];
}

function missingTime(file: SpecFile): Problem {
  const help = 'For example: late: {after: 30m}.';
  return problem('missing-key', spotIn(file, ['late'], 'key'), '"late" needs "after" or "by"', { help });
}

function spanProblems(file: SpecFile, at: Path, text: string): Problem[] {
  if ((parseSpan(text) ?? 0) > 0) return [];
  const help = 'For example "90s", "30m" or "2h"; a plain number is seconds.';
  return [problem('wrong-value', spotIn(file, at), `"${text}" is not a length of time`, { help })];
}

function limitProblems(
  file: SpecFile,
  at: Path,
  { after, limitSec = 0, what }: { after: string; limitSec: number | undefined; what: string },
): Problem[] {
  const lateMs = parseSpan(after);
  if (limitSec === 0 || lateMs === null || lateMs < limitSec * 1000) return [];
  const message = `"late" has no effect: ${what} ends after ${limitSec}s by "timeoutSec"`;
  const help = 'Write a shorter time.';
  return [problem('ignored-key', spotIn(file, at), message, { severity: 'warning', help })];
}

function timeOfDayProblems(file: SpecFile, by: string, settings: readonly SpecFile[]): Problem[] {
  const spot = spotIn(file, ['late', 'by']);
  if (!TIME_OF_DAY.test(by)) {
    const help = 'Write hours and minutes in quotes: "06:30".';
    return [problem('wrong-value', spot, `"${by}" is not a time of day`, { help })];
  }
  if (settings.some(({ raw, lost }) => raw.schedule !== undefined || lost.has('schedule'))) return [];
  const message = '"late.by" needs a "schedule": it is a time after the moment of a scheduled run';
  return [problem('missing-key', spot, message, { help: 'Add "schedule", or write "late: {after: 30m}".' })];
}
