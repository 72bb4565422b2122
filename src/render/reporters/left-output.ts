import { stripControls } from '../text/sanitize.ts';
import { createHeldLines } from './held-lines.ts';
import type { outputModes } from './reporter.ts';

/** One of `outputModes`; null: all of a short output, else its last lines. */
export type OutputMode = (typeof outputModes)[number] | null;

/** The output of one attempt that is shown when the attempt has ended, in bounded memory. */
export type LeftOutput = ReturnType<typeof createLastOutput>;

const MOST_WHOLE = 20;
const LAST_LINES = 10;
/** The longest shown line in UTF-16 code units; the log contains it completely. */
const LONGEST_LINE = 2000;

/** Creates the buffer of one attempt. */
export function createLeftOutput(mode: OutputMode): LeftOutput {
  return mode === 'full' ? createFullOutput() : createLastOutput(mode === 'last' ? LAST_LINES : MOST_WHOLE);
}

function createFullOutput(): LeftOutput {
  const held = createHeldLines();
  return {
    add: held.add,
    take: () => ({ lines: held.text().split('\n').slice(0, -1), leftOut: 0 }),
  };
}

function createLastOutput(whole: number) {
  let lines: string[] = [];
  let count = 0;
  return {
    add: (line: string) => {
      count++;
      lines.push(line.length > LONGEST_LINE ? `${stripControls(line).slice(0, LONGEST_LINE)}...` : line);
      if (lines.length > 2 * MOST_WHOLE) lines = lines.slice(-MOST_WHOLE);
    },
    /** Returns the lines to show and the count of lines left out before them. */
    take: () => {
      const shown = count <= whole ? lines : lines.slice(-LAST_LINES);
      return { lines: shown, leftOut: count - shown.length };
    },
  };
}
