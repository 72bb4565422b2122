import { parseSpan } from '../../core/span.ts';
import { type CronProblem, cronProblem, isNeverDue, isTimeZone, nearTimeZones, parseCron } from '../cron.ts';
import { type Path, type Problem, problem } from '../problem.ts';
import type { TextOrList } from '../raw.ts';
import { type SpecFile, spotIn } from '../read/spec-file.ts';

/** Checks the schedule of a file. */
export function scheduleProblems(file: SpecFile): Problem[] {
  return [...expressionProblems(file), ...timeZoneProblems(file), ...windowProblems(file), ...retentionProblems(file)];
}

function expressionProblems(file: SpecFile): Problem[] {
  const { schedule } = file.raw;
  if (schedule === undefined) return [];
  if (typeof schedule === 'string' || isList(schedule)) return cronProblems(file, ['schedule'], schedule);
  return (['start', 'stop', 'restart'] as const).flatMap((key) =>
    cronProblems(file, ['schedule', key], schedule[key] ?? []),
  );
}

function cronProblems(file: SpecFile, path: Path, value: TextOrList): Problem[] {
  const list = typeof value === 'string' ? [value] : value;
  return list.flatMap((expression, index) => {
    const place = typeof value === 'string' ? path : [...path, index];
    const found = cronProblem(expression);
    return found === null ? neverDue(file, place, expression) : [invalidCron(file, place, { expression, found })];
  });
}

type Invalid = { readonly expression: string; readonly found: CronProblem };

function invalidCron(file: SpecFile, path: Path, { expression, found }: Invalid): Problem {
  const help = 'A cron expression is "minute hour day-of-month month day-of-week", such as "0 5 * * 1-5".';
  const spot = { source: file.source, path, part: 'value', word: found.word } as const;
  const message = `invalid cron expression "${expression}": ${found.message}`;
  return problem('invalid-cron', spot, message, { label: found.label ?? '', help });
}

function neverDue(file: SpecFile, path: Path, expression: string): Problem[] {
  const cron = parseCron(expression);
  if (cron === null || !isNeverDue(cron)) return [];
  const message = `the cron expression "${expression}" is never due: its months have no such day`;
  return [problem('never-due', spotIn(file, path), message, { severity: 'warning', label: 'never' })];
}

function timeZoneProblems(file: SpecFile): Problem[] {
  const { timezone } = file.raw;
  if (timezone === undefined || isTimeZone(timezone)) return [];
  const help = 'Use a name from the IANA time zone database, such as "Europe/Berlin" or "UTC".';
  const options = { label: () => nearTimeZones(timezone), help };
  return [problem('invalid-time-zone', spotIn(file, ['timezone']), `unknown time zone "${timezone}"`, options)];
}

function windowProblems(file: SpecFile): Problem[] {
  const { catchup, catchupWindow } = file.raw;
  if (catchupWindow === undefined) return [];
  const spot = spotIn(file, ['catchupWindow']);
  if (parseSpan(catchupWindow) === null) {
    const help = 'For example "90m", "6h" or "2d12h"; a plain number is seconds.';
    return [problem('wrong-value', spot, `"${catchupWindow}" is not a valid "catchupWindow"`, { help })];
  }
  if (catchup !== 'none') return [];
  const message = '"catchupWindow" has no effect: "catchup" is "none"';
  return [problem('ignored-key', spot, message, { severity: 'warning', label: 'ignored' })];
}

function retentionProblems(file: SpecFile): Problem[] {
  const { histRetentionDays, histRetentionRuns } = file.raw;
  if (histRetentionDays === undefined || histRetentionRuns === undefined) return [];
  const message = '"histRetentionRuns" and "histRetentionDays" exclude each other';
  return [
    problem('conflicting-keys', spotIn(file, ['histRetentionRuns'], 'key'), message, { help: 'Remove one of them.' }),
  ];
}

function isList<T, U>(value: readonly T[] | U): value is readonly T[] {
  return Array.isArray(value);
}
