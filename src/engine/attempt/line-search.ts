import { searchFor } from '#environment/environment.ts';
import type { LogFile } from '#store/logs.ts';

/** A longer line of output is searched in pieces. */
const MAX_LINE_BYTES = 1024 * 1024;

/** Tests a line of output. */
export type LineTest = (line: string) => boolean;

/** Tests lines for a text, or for the pattern after `re:`. Throws an `EvaluationProblem` for an invalid pattern. */
export function lineTest(text: string): LineTest {
  return text.startsWith('re:') ? searchFor(text) : (line) => line.includes(text);
}

/**
 * Searches a log from a byte on, the unfinished last line included, in memory that does not depend on its size. Resolves
 * to null if a line matches, else to the byte from which the next search has to start. Ends soon after the signal.
 */
export async function searchLines(
  log: LogFile,
  { from, test, signal }: { readonly from: number; readonly test: LineTest; readonly signal?: AbortSignal },
): Promise<number | null> {
  let offset = from;
  let rest: Uint8Array = new Uint8Array();
  for await (const bytes of log.read(from)) {
    const text = Buffer.concat([rest, bytes]);
    const length = searchable(text);
    if (linesOf(text.subarray(0, length)).some(test)) return null;
    offset += length;
    rest = text.subarray(length);
    if (signal?.aborted) return offset;
  }
  return linesOf(rest).some(test) ? null : offset;
}

/** The length of the whole lines, or of everything if the line after them is too long to wait for its end. */
function searchable(text: Buffer): number {
  const length = text.lastIndexOf('\n') + 1;
  return text.length - length > MAX_LINE_BYTES ? text.length : length;
}

function linesOf(bytes: Uint8Array): readonly string[] {
  const lines = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString().split('\n');
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}
