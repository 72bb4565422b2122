import { parseSpan } from '#core/time-text.ts';
import { isNeverDue, isTimeZone, nearTimeZones, readCron } from './cron.ts';
import { IGNORED, type Path, type Problem, problem, type Source, type Spot } from './diagnostic.ts';
import { entriesAt, type RawSchedule, type RawScheduleEntry, textsIn } from './raw.ts';
import type { FoundImport } from './read/imports.ts';
import { type SpecFile, spotIn } from './read/spec-file.ts';

/** An entry of `schedule`, for what it is and where it is in the file. */
type ScheduleEntry = {
  readonly action: 'start' | 'stop' | 'restart';
  readonly path: Path;
  readonly entry: RawScheduleEntry;
};

const actions = ['start', 'stop', 'restart'] as const;

/** Returns the entries of a schedule, whichever of its forms it has. */
export function scheduleEntries(schedule: RawSchedule | undefined): readonly ScheduleEntry[] {
  if (schedule === undefined) return [];
  const entries = (
    action: ScheduleEntry['action'],
    path: Path,
    value: RawScheduleEntry | readonly RawScheduleEntry[],
  ) => entriesAt<RawScheduleEntry>(value, path).map((entry) => ({ action, ...entry }));
  if (!isMapOfActions(schedule)) return entries('start', ['schedule'], schedule);
  return actions.flatMap((action) => entries(action, ['schedule', action], schedule[action] ?? []));
}

function isMapOfActions(schedule: RawSchedule): schedule is Extract<RawSchedule, { readonly start?: unknown }> {
  return typeof schedule === 'object' && !Array.isArray(schedule) && !('kind' in schedule);
}

/** A date and time with an offset from UTC, by RFC 3339. */
const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:\d\d)$/;

/** Reads a moment; null if it is invalid. */
export function parseMoment(text: string): Date | null {
  const moment = RFC_3339.test(text) && isDay(text.slice(0, 10)) ? new Date(text.replace(' ', 'T')) : null;
  return moment === null || Number.isNaN(moment.getTime()) ? null : moment;
}

/** The forms of a day of `notOn`. */
const DAYS_HELP = 'Write a day as "2026-12-25", or as "12-25" for every year.';

/** Whether a text is a day that exists: `2026-12-25`, or `12-25` for one of every year. */
function isDay(text: string): boolean {
  // A leap year: 02-29 is a day of some years.
  const day = /^\d\d-\d\d$/.test(text) ? `2024-${text}` : text;
  return /^\d{4}-\d\d-\d\d$/.test(day) && new Date(`${day}T00:00:00Z`).toJSON()?.slice(0, 10) === day;
}

/** The days of `notOn`, and the files that have them. */
export type Days = {
  readonly days: readonly string[];
  readonly sources: readonly Source[];
  readonly problems: readonly Problem[];
};

/** Reads the days on which a workflow does not start, and those of files, in which `#` begins a comment. */
export function readDays(file: SpecFile, open: (path: string) => FoundImport): Days {
  const days: string[] = [];
  const sources: Source[] = [];
  const problems: Problem[] = [];
  for (const { path, text: entry } of textsIn(file.raw.notOn, ['notOn'])) {
    if (isLikeDay(entry)) {
      days.push(entry);
      continue;
    }
    const found = open(entry);
    if (found.kind !== 'file') {
      const message = `the file "${entry}" of "notOn" ${whyNot(found)}`;
      problems.push(problem('unreadable', spotIn(file, path), message, { help: DAYS_HELP }));
      continue;
    }
    const { source } = found;
    sources.push(source);
    problems.push(...found.problems);
    // One day a line, without comments and empty lines.
    for (const match of source.text.matchAll(/^[^\S\n]*([^#\s][^#\n]*)/gm)) {
      const [line, written = ''] = match;
      const [text, at] = [written.trimEnd(), match.index + line.length - written.length];
      days.push(text);
      if (!isDay(text)) problems.push(notADay(text, { source, range: [at, at + text.length] }));
    }
  }
  return { days, sources, problems };
}

/** Whether a text is, or was meant to be, a day. */
function isLikeDay(text: string): boolean {
  return /^[\d\s./-]*$/.test(text);
}

function notADay(text: string, spot: Spot): Problem {
  return problem('wrong-value', spot, `"${text}" is not a day`, { help: DAYS_HELP });
}

function whyNot(found: Exclude<FoundImport, { readonly kind: 'file' }>): string {
  switch (found.kind) {
    case 'missing':
      return 'does not exist';
    case 'outside':
      return 'is outside the directory of the workflow file';
    case 'unreadable':
      return `cannot be read: ${found.why}`;
  }
}

/** Checks the schedule of a file. */
export function scheduleProblems(file: SpecFile): Problem[] {
  return [
    ...expressionProblems(file),
    ...notOnProblems(file),
    ...timeZoneProblems(file),
    ...windowProblems(file),
    ...retentionProblems(file),
  ];
}

function expressionProblems(file: SpecFile): Problem[] {
  const { schedule } = file.raw;
  const isEntry = typeof schedule === 'object' && 'kind' in schedule;
  const mixed = isEntry ? actions.filter((key) => key in schedule) : [];
  const conflicts = mixed.map((key) => {
    const help = `Write the entry with "kind" below "${key}".`;
    const spot = spotIn(file, ['schedule', key], 'key');
    return problem('conflicting-keys', spot, `"kind" and "${key}" exclude each other`, { help });
  });
  return [...conflicts, ...scheduleEntries(schedule).flatMap((entry) => entryProblems(file, entry))];
}

function entryProblems(file: SpecFile, { action, path, entry }: ScheduleEntry): Problem[] {
  if (typeof entry === 'string') return cronProblems(file, path, entry);
  const { kind, expression, at } = entry;
  // A wrong kind was reported already.
  if (kind === undefined) return [];
  const surplus = kind === 'at' ? expression : at;
  const [own, other] = kind === 'at' ? ['at', 'expression'] : ['expression', 'at'];
  if (surplus !== undefined) {
    const message = `"${other}" is not a key of "kind: ${kind}"`;
    return [problem('ignored-key', spotIn(file, [...path, other], 'key'), message, { help: `Write "${own}".` })];
  }
  if (kind === 'at') return momentProblems(file, path, action, at);
  if (expression !== undefined) return cronProblems(file, [...path, 'expression'], expression);
  if (file.damaged.has(file.raw.schedule)) return [];
  const help = 'For example {kind: cron, expression: "0 5 * * *"}.';
  return [problem('missing-key', spotIn(file, path), '"kind: cron" needs an "expression"', { help })];
}

function momentProblems(
  file: SpecFile,
  path: Path,
  action: ScheduleEntry['action'],
  at: string | undefined,
): Problem[] {
  const help = 'For example {kind: at, at: "2026-12-24T18:00:00+01:00"}.';
  if (action !== 'start') {
    const message = `"kind: at" is only for "start", not for "${action}"`;
    return [problem('wrong-value', spotIn(file, [...path, 'kind']), message)];
  }
  if (at === undefined) return [problem('missing-key', spotIn(file, path), '"kind: at" needs "at"', { help })];
  if (parseMoment(at) !== null) return [];
  const message = `"${at}" is not a date and time with an offset from UTC`;
  return [problem('wrong-value', spotIn(file, [...path, 'at']), message, { help })];
}

function cronProblems(file: SpecFile, path: Path, expression: string): Problem[] {
  const read = readCron(expression);
  if ('message' in read) {
    const help =
      cronOfOthers(expression) ??
      'A cron expression is "minute hour day-of-month month day-of-week", such as "0 5 * * 1-5".';
    const spot = { source: file.source, path, part: 'value', word: read.word } as const;
    const message = `invalid cron expression "${expression}": ${read.message}`;
    return [problem('invalid-cron', spot, message, { label: read.label, help })];
  }
  if (!isNeverDue(read)) return [];
  const message = `the cron expression "${expression}" is never due: its months have no such day`;
  return [problem('never-due', spotIn(file, path), message, { severity: 'warning', label: 'never' })];
}

/** Checks the days of the key; those of files are checked where they are read. */
function notOnProblems(file: SpecFile): Problem[] {
  const { notOn, schedule } = file.raw;
  if (notOn === undefined) return [];
  const wrong = textsIn(notOn, ['notOn']).flatMap(({ path, text }) =>
    isDay(text) || !isLikeDay(text) ? [] : [notADay(text, spotIn(file, path))],
  );
  if (schedule !== undefined || wrong.length > 0) return wrong;
  const message = '"notOn" has no effect without a "schedule"';
  return [problem('ignored-key', spotIn(file, ['notOn'], 'key'), message, IGNORED)];
}

/** How to write an expression of another scheduler; null if that is not known. */
function cronOfOthers(expression: string): string | null {
  const text = expression.trim().replace(/^(?:CRON_)?TZ=\S+\s+/, '');
  if (/^@reboot$/i.test(text)) return 'Start it with the machine: a service of the system runs "wf run".';
  const [, count, unit = ''] = /^@?every\s+(\d+)\s*(m|h)(?:in(?:ute)?s?|(?:ou)?rs?)?$/i.exec(text) ?? [];
  if (count !== undefined) return evenly(Number(count), unit.toLowerCase());
  const words = text.split(/\s+/);
  if (words.length < 6 || words.length > 7) return null;
  return `Remove the field of seconds${words.length === 7 ? ' and that of years' : ''}: "${words.slice(1, 6).join(' ')}".`;
}

/** An interval that cron can express: one that divides the hour or the day. */
function evenly(count: number, unit: string): string | null {
  const whole = unit === 'h' ? 24 : 60;
  if (count < 1 || count >= whole || whole % count !== 0) return null;
  return unit === 'h' ? `Write "0 */${count} * * *".` : `Write "*/${count} * * * *".`;
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
  return [problem('ignored-key', spot, message, IGNORED)];
}

function retentionProblems(file: SpecFile): Problem[] {
  const { histRetentionDays, histRetentionRuns } = file.raw;
  if (histRetentionDays === undefined || histRetentionRuns === undefined) return [];
  const message = '"histRetentionRuns" and "histRetentionDays" exclude each other';
  const spot = spotIn(file, ['histRetentionRuns'], 'key');
  return [problem('conflicting-keys', spot, message, { help: 'Remove one of them.' })];
}
