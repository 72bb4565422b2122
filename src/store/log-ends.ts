import { failedAs } from '#system/errors.ts';
import type { LogFile, LogStream, RunLogs } from './logs.ts';

/** Maximum number of bytes searched for lines: the whole log of a program that prints no line ends must not be read. */
const MAX_SEARCHED_BYTES = 4 * 1024 * 1024;
/** Maximum number of bytes that the text of last lines is taken from: a longer line is cut at its start. */
export const MAX_TEXT_BYTES = 64 * 1024;
const RECAP_LINES = 10;
const LINE_END = 0x0a;

/** The stream of this name; null if there is none. */
export function logStream(name: unknown): LogStream | null {
  return name === 'output' || name === 'stdout' || name === 'stderr' ? name : null;
}

/** Whether a request for a stream (null: all) includes this log of an attempt. */
export function includesLog(wanted: LogStream | null, stream: LogStream): boolean {
  return wanted === null || (wanted === 'stderr') === (stream === 'stderr');
}

/** The start of the last lines of a log and their number; `onlyWhole`: without a line that has no end. */
export async function findTail(
  file: LogFile,
  lines: number,
  { onlyWhole = false }: { readonly onlyWhole?: boolean } = {},
): Promise<{ readonly offset: number; readonly found: number }> {
  const size = await file.size();
  if (size === 0 || (lines === 0 && !onlyWhole)) return { offset: size, found: 0 };
  const floor = Math.max(0, size - MAX_SEARCHED_BYTES);
  let ends = 0;
  // Without the end of the last line, if that counts whether it has one or not.
  let end = onlyWhole ? size : size - 1;
  const wanted = onlyWhole ? lines + 1 : lines;
  for (let length = MAX_TEXT_BYTES; end > floor; length *= 4) {
    const start = Math.max(floor, end - length);
    const bytes = await readBytes(file, start, end);
    for (let at = bytes.lastIndexOf(LINE_END); at !== -1; at = at === 0 ? -1 : bytes.lastIndexOf(LINE_END, at - 1)) {
      ends += 1;
      if (ends === wanted) return { offset: start + at + 1, found: lines };
    }
    end = start;
  }
  return { offset: floor, found: onlyWhole ? ends : ends + 1 };
}

/**
 * The last lines of an attempt's output, without line ends; those of a log that cannot be read are missing. The order of
 * two logs is not known: programs report failures on standard error, so its lines take precedence and come last; lines of
 * standard output fill the rest.
 */
export async function readTail(
  logs: RunLogs,
  { step, attempt }: { readonly step: string; readonly attempt: number },
  lines = RECAP_LINES,
): Promise<readonly string[]> {
  const endOf = async (stream: LogStream) => {
    const { head, tail } = await readExcerpt(logs.file(step, attempt, stream), { head: 0, tail: MAX_TEXT_BYTES });
    return Buffer.concat([head, tail]);
  };
  const streams = await logs.streams(step, attempt);
  const ends = new Map<LogStream, Buffer>();
  for (const stream of streams) ends.set(stream, await endOf(stream));
  return tailOf(streams, (stream) => ends.get(stream) ?? Buffer.alloc(0), lines);
}

/** Cuts the last lines, as `readTail` returns them, from the last `MAX_TEXT_BYTES` of the logs of an attempt. */
export function tailOf(
  streams: readonly LogStream[],
  endOf: (stream: LogStream) => Buffer,
  lines = RECAP_LINES,
): readonly string[] {
  let last: readonly string[] = [];
  for (const stream of [...streams].reverse()) last = [...lastLines(endOf(stream), lines - last.length), ...last];
  return last;
}

function lastLines(bytes: Buffer, lines: number): readonly string[] {
  const text = bytes.toString().replace(/\r?\n$/, '');
  return text === '' || lines === 0 ? [] : text.split(/\r?\n/).slice(-lines);
}

/** The start and the end of a log. A small log is entirely in `head`. */
export type LogExcerpt = {
  readonly size: number;
  readonly head: Uint8Array;
  readonly tail: Uint8Array;
};

const nothing: LogExcerpt = { size: 0, head: new Uint8Array(0), tail: new Uint8Array(0) };

/** Reads these numbers of bytes from the start and from the end of a log of any size; only the size of a log that cannot be read. */
export async function readExcerpt(
  file: LogFile,
  { head, tail }: { readonly head: number; readonly tail: number },
): Promise<LogExcerpt> {
  let size = 0;
  try {
    size = await file.size();
    if (size <= head + tail) return { ...nothing, size, head: await readBytes(file, 0, size) };
    return { size, head: await readBytes(file, 0, head), tail: await readBytes(file, size - tail, size) };
  } catch (error) {
    if (failedAs(error, 'storage')) return { ...nothing, size };
    throw error;
  }
}

async function readBytes(file: LogFile, from: number, to: number): Promise<Buffer> {
  if (from >= to) return Buffer.alloc(0);
  const chunks: Uint8Array[] = [];
  for await (const bytes of file.read(from, to)) chunks.push(Buffer.from(bytes));
  return Buffer.concat(chunks);
}
