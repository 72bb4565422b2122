import { stripControls } from '../text/sanitize.ts';
import { createHeldLines } from './held-lines.ts';
import type { outputModes } from './reporter.ts';

/** One of `outputModes`; null: all of a short output, else its last lines. */
export type OutputMode = (typeof outputModes)[number] | null;

/** The output of one attempt that is shown when the attempt has ended, in bounded memory. */
export type LeftOutput = ReturnType<typeof createLastOutput>;

const mostWhole = 20;
const lastLines = 10;
/** The longest shown line in UTF-16 code units; the log contains it completely. */
const longestLine = 2000;

/** Creates the buffer of one attempt. */
export function createLeftOutput(mode: OutputMode): LeftOutput {
  return mode === 'full' ? createFullOutput() : createLastOutput(mode === 'last' ? lastLines : mostWhole);
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
      lines.push(line.length > longestLine ? `${stripControls(line).slice(0, longestLine)}...` : line);
      if (lines.length > 2 * mostWhole) lines = lines.slice(-mostWhole);
    },
    /** Returns the lines to show and the count of lines left out before them. */
    take: () => {
      const shown = count <= whole ? lines : lines.slice(-lastLines);
      return { lines: shown, leftOut: count - shown.length };
    },
  };
}
