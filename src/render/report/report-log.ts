import { type AnsiSpan, createAnsiSpans, spansOfLines } from '#run-view/components.ts';
import type { LogExcerpt } from '#store/log-ends.ts';
import type { LogTime } from '#store/logs.ts';
import { createPieceSplitter } from '../text/lines.ts';
import { stripControls } from '../text/sanitize.ts';
import { byteText } from '../text/value-text.ts';

const NEWLINE = 0x0a;
/** If the markup is longer than its bytes by this factor, the text is shown without colours. */
const MOST_GROWTH = 4;
const ALWAYS_ALLOWED = 4096;

/** A part of a log; `at`: it starts with lines that were written at this time, in milliseconds since 1970. */
export type LogSpan = AnsiSpan & { readonly at?: number };

/** A log as spans; `missing` describes the bytes omitted between the two parts, null for a whole log. */
type CutLog = {
  readonly head: readonly LogSpan[];
  readonly missing: string | null;
  readonly tail: readonly LogSpan[];
};

/** The coloured lines of a log that grew at these times. */
export function cutLog(log: LogExcerpt, times: readonly LogTime[] = []): CutLog {
  const spansOf = (bytes: Uint8Array, from: number) => timedSpans(bytes, lineTimes(bytes, { from, times }));
  if (log.tail.length === 0 && log.head.length === log.size)
    return { head: spansOf(log.head, 0), missing: null, tail: [] };
  const head = upToLineEnd(log.head);
  const tail = fromLineStart(log.tail);
  return {
    head: spansOf(head, 0),
    missing: byteText(log.size - head.length - tail.length),
    tail: spansOf(tail, log.size - tail.length),
  };
}

/** When each line was complete, in milliseconds since 1970; undefined: unknown. `from`: the position of the bytes in the log. */
function lineTimes(
  bytes: Uint8Array,
  { from, times }: { readonly from: number; readonly times: readonly LogTime[] },
): readonly (number | undefined)[] {
  const found: (number | undefined)[] = [];
  let index = 0;
  for (let start = 0; start < bytes.length && times.length > 0; ) {
    const lineEnd = bytes.indexOf(NEWLINE, start);
    start = lineEnd === -1 ? bytes.length : lineEnd + 1;
    while ((times[index]?.[0] ?? Number.POSITIVE_INFINITY) < from + start) index += 1;
    found.push(times[index]?.[1]);
  }
  return found;
}

type TimedLines = { readonly at: number | undefined; readonly lines: string[] };

function timedSpans(bytes: Uint8Array, times: readonly (number | undefined)[]): readonly LogSpan[] {
  const splitter = createPieceSplitter('overwrite');
  const groups: TimedLines[] = [];
  let line = 0;
  for (const { text, continues } of [...splitter.push(bytes), ...splitter.flush()]) {
    const last = groups.at(-1);
    if (last !== undefined && last.at === times[line]) last.lines.push(text);
    else groups.push({ at: times[line], lines: [text] });
    if (!continues) line += 1;
  }
  const spans = spansOfGroups(groups);
  const length = spans.reduce((sum, span) => sum + markupLength(span), 0);
  if (length <= bytes.length * MOST_GROWTH + ALWAYS_ALLOWED) return spans;
  return spansOfGroups(groups.map(({ at, lines }) => ({ at, lines: lines.map(stripControls) })));
}

/** A colour continues in the next group. */
function spansOfGroups(groups: readonly TimedLines[]): readonly LogSpan[] {
  const spansOf = createAnsiSpans();
  return groups.flatMap(({ at, lines }) => {
    const [first, ...others] = spansOfLines(lines, spansOf);
    return first === undefined ? [] : [at === undefined ? first : { ...first, at }, ...others];
  });
}

function markupLength({ text, classes, color, background, href }: AnsiSpan): number {
  const link = href === undefined ? 0 : href.length + 60;
  const names = classes.reduce((sum, name) => sum + name.length + 1, 0);
  return text.length + link + names + (names > 0 ? 30 : 0) + (color === null ? 0 : 30) + (background === null ? 0 : 30);
}

/** A line that is cut in two is omitted; of a single long line a cut character is. */
function upToLineEnd(bytes: Uint8Array): Uint8Array {
  const end = bytes.lastIndexOf(NEWLINE);
  if (end !== -1) return bytes.subarray(0, end + 1);
  const start = bytes.findLastIndex((byte) => !isContinuation(byte));
  return start !== -1 && (bytes[start] ?? 0) >= 0xc0 ? bytes.subarray(0, start) : bytes;
}

function fromLineStart(bytes: Uint8Array): Uint8Array {
  const end = bytes.indexOf(NEWLINE);
  if (end !== -1 && end < bytes.length - 1) return bytes.subarray(end + 1);
  return bytes.subarray(
    Math.max(
      0,
      bytes.findIndex((byte) => !isContinuation(byte)),
    ),
  );
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

/** One log that a report could show. */
export type LogSize = { readonly bytes: number; readonly isUrgent: boolean };

/** At most this much of one log, a quarter from its start and the rest from its end, in bytes. */
const MOST_OF_ONE = 256 * 1024;
/** At most this much of all logs together, in bytes. */
const MOST_OF_ALL = 12 * 1024 * 1024;

/** How many bytes of each log to show: long ones are cut to the same length, the less important ones first. */
export function shareLogBudget(logs: readonly LogSize[]): readonly number[] {
  const wanted = logs.map(({ bytes, isUrgent }) => ({ bytes: Math.min(bytes, MOST_OF_ONE), isUrgent }));
  const sizesOf = (urgent: boolean) => wanted.flatMap(({ bytes, isUrgent }) => (isUrgent === urgent ? [bytes] : []));
  const urgentCap = fairCap(sizesOf(true), MOST_OF_ALL);
  const used = sizesOf(true).reduce((sum, bytes) => sum + Math.min(bytes, urgentCap), 0);
  const otherCap = fairCap(sizesOf(false), MOST_OF_ALL - used);
  return wanted.map(({ bytes, isUrgent }) => Math.min(bytes, isUrgent ? urgentCap : otherCap));
}

/** The length to which the longest must be cut for all to fit. */
function fairCap(wanted: readonly number[], room: number): number {
  let left = room;
  const ascending = wanted.toSorted((a, b) => a - b);
  for (const [index, bytes] of ascending.entries()) {
    const share = Math.floor(left / (ascending.length - index));
    if (bytes > share) return share;
    left -= bytes;
  }
  return MOST_OF_ONE;
}
