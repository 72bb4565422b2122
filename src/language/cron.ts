import { didYouMean, nearNames } from '#system/near-names.ts';

/** Why a cron expression is invalid, with the field named, and the word of the text at fault. */
export type CronProblem = {
  readonly message: string;
  readonly word: { readonly at: number; readonly text: string };
  /** A short label for the marked word; a function is called only if the problem is shown. */
  readonly label: string | (() => string);
};

/** One field of a cron expression. */
export type CronField = {
  /** Ascending and distinct; Sunday is 0. */
  readonly values: readonly number[];
  /** Whether it is `*` (or `?`, or `*` with the step 1): it restricts nothing. */
  readonly isAny: boolean;
  /** Whether it contains `*`, with or without a step: then it describes an interval, not a time of day. */
  readonly isWild: boolean;
};

/** A parsed cron expression: five fields, possibly from a nickname. */
export type Cron = {
  /** The time zone given in the expression; null if it has none. */
  readonly timeZone: string | null;
  readonly minute: CronField;
  readonly hour: CronField;
  readonly dayOfMonth: CronField;
  readonly month: CronField;
  readonly dayOfWeek: CronField;
};

type FieldKind = {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  readonly words: readonly string[];
};

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const DAYS = 'sun mon tue wed thu fri sat'.split(' ');
const FIELDS: readonly FieldKind[] = [
  { name: 'minute', least: 0, most: 59, words: [] },
  { name: 'hour', least: 0, most: 23, words: [] },
  { name: 'day of month', least: 1, most: 31, words: [] },
  { name: 'month', least: 1, most: 12, words: ['', ...MONTHS] },
  { name: 'day of week', least: 0, most: 7, words: DAYS },
];
const NICKNAMES: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
]);

/** Parses a valid expression; null for any other. */
export function parseCron(expression: string): Cron | null {
  const read = readCron(expression);
  return 'message' in read ? null : read;
}

/** Whether no existing day matches the expression, as with `0 0 31 2 *`. */
export function isNeverDue({ dayOfMonth, month, dayOfWeek }: Cron): boolean {
  // If both are restricted, either may match: then the day of the week decides.
  if (dayOfMonth.isAny || !dayOfWeek.isAny) return false;
  const first = dayOfMonth.values[0] ?? 1;
  return month.values.every((number) => first > longestMonth(number));
}

function longestMonth(month: number): number {
  if (month === 2) return 29;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

/** Reads five fields, or a nickname such as `@daily`, after an optional `CRON_TZ=<zone>` (or `TZ=`). */
export function readCron(expression: string): Cron | CronProblem {
  const words = [...expression.matchAll(/\S+/g)].map((match) => ({ text: match[0], start: match.index }));
  const zone = /^(?:CRON_)?TZ=(.*)$/.exec(words[0]?.text ?? '')?.[1] ?? null;
  if (zone !== null) {
    const first = words.shift();
    if (!isTimeZone(zone)) return mark(first, `unknown time zone "${zone}"`, () => nearTimeZones(zone));
  }
  const [first] = words;
  if (first?.text.startsWith('@') === true) {
    const fields = words.length === 1 ? NICKNAMES.get(first.text.toLowerCase()) : undefined;
    const written = words.map((word) => word.text).join(' ');
    if (fields === undefined) return mark(first, `"${written}" is not one of ${[...NICKNAMES.keys()].join(', ')}`);
    words.splice(0, 1, ...fields.split(' ').map((text) => ({ text, start: 0 })));
  }
  if (words.length !== FIELDS.length) {
    const message = `a cron expression has 5 fields (${FIELDS.map((field) => field.name).join(', ')}), this one has ${words.length}`;
    return mark({ text: expression, start: 0 }, message);
  }
  const fields: CronField[] = [];
  for (const [index, kind] of FIELDS.entries()) {
    const word = words[index];
    const field = readField(word?.text ?? '', kind);
    if (typeof field === 'string') return mark(word, `${kind.name} "${word?.text}": ${field}`);
    fields.push(field);
  }
  type Five = [CronField, CronField, CronField, CronField, CronField];
  const [minute, hour, dayOfMonth, month, dayOfWeek] = fields as Five;
  return { timeZone: zone, minute, hour, dayOfMonth, month, dayOfWeek };
}

/** The field, or why it is invalid. */
function readField(text: string, kind: FieldKind): CronField | string {
  const values = new Set<number>();
  for (const part of text.split(',')) {
    const read = readPart(part, kind);
    if (typeof read === 'string') return read;
    // Sunday has two numbers.
    for (const value of read) values.add(kind.most === 7 ? value % 7 : value);
  }
  const sorted = [...values].sort((a, b) => a - b);
  return { values: sorted, isAny: /^[*?](\/1)?$/.test(text), isWild: /[*?]/.test(text) };
}

/** `*`, `?`, `5`, `mon`, `1-5`, each with an optional step: `*` + `/15`. */
function readPart(part: string, kind: FieldKind): readonly number[] | string {
  const [range = '', step, ...more] = part.split('/');
  if (more.length > 0) return `"${part}" has more than one "/"`;
  if (step !== undefined && !/^[1-9]\d{0,3}$/.test(step)) return `the step must be a number from 1, not "${step}"`;
  const every = Number(step ?? 1);
  // A week has one Sunday, although Sunday has two numbers.
  if (range === '*' || range === '?') return sequence(kind.least, kind.most === 7 ? 6 : kind.most, every);
  const [from = '', to, ...rest] = range.split('-');
  if (rest.length > 0) return `"${range}" is not a range`;
  const start = numberOf(from, kind);
  // In a range that ends with Sunday (`fri-sun`), Sunday is 7.
  const last = to?.toLowerCase() === 'sun' && kind.most === 7 ? 7 : numberOf(to ?? '', kind);
  const withoutEnd = step === undefined ? start : kind.most;
  const end = to === undefined ? withoutEnd : last;
  if (start === null || end === null) return outOfRange(start === null ? from : (to ?? ''), kind);
  return start > end ? `the range "${range}" ends before it starts` : sequence(start, end, every);
}

function sequence(from: number, to: number, step: number): readonly number[] {
  return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step);
}

function numberOf(text: string, kind: FieldKind): number | null {
  const named = text === '' ? -1 : kind.words.indexOf(text.toLowerCase());
  if (named !== -1) return named;
  const value = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  return value >= kind.least && value <= kind.most ? value : null;
}

function outOfRange(text: string, { least, most, words }: FieldKind): string {
  const names = words.filter((word) => word !== '');
  const allowed = `${least} to ${most}${names.length === 0 ? '' : ` or ${names[0]} to ${names.at(-1)}`}`;
  return text === '' ? `a value is missing (${allowed})` : `"${text}" is not in the range ${allowed}`;
}

type Word = { readonly text: string; readonly start: number };

function mark(word: Word | undefined, message: string, label: CronProblem['label'] = ''): CronProblem {
  return { message, word: { at: word?.start ?? 0, text: word?.text ?? '' }, label };
}

/** Known zones in lower case: a lookup costs as much as reading a step. */
const known = new Set<string>();

/** Whether a text names a time zone of the IANA database, such as `Europe/Berlin` or `UTC`. */
export function isTimeZone(zone: string): boolean {
  // Later versions of Node also accept offsets such as `+01:00`; a file must mean the same everywhere.
  if (!/^[A-Za-z]/.test(zone)) return false;
  if (known.has(zone.toLowerCase())) return true;
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    known.add(zone.toLowerCase());
    return true;
  } catch {
    return false;
  }
}

/** `did you mean "Europe/Berlin"?` for an unknown zone; empty if none is similar. */
export function nearTimeZones(zone: string): string {
  const zones = Intl.supportedValuesOf('timeZone');
  // Most people know the city but not the continent.
  const city = zone.slice(zone.lastIndexOf('/') + 1).toLowerCase();
  const ofCity = zones.filter((name) => name.toLowerCase().endsWith(`/${city}`));
  return didYouMean(ofCity.length > 0 ? ofCity.slice(0, 3) : nearNames(zone, zones));
}
