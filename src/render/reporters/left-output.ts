import { stripControls } from '../text/sanitize.ts';
import { createHeldLines } from './held-lines.ts';
import type { outputModes } from './reporter.ts';

/** One of `outputModes`; null: all of a short output, else its last lines. */
export type OutputMode = (typeof outputModes)[number] | null;

/** The output of one attempt that is shown when the attempt has ended, in bounded memory. */
export type LeftOutput = {
  readonly add: (line: string) => void;
  /** Returns the lines to show and the count of lines left out before them. */
  readonly take: () => { readonly lines: readonly string[]; readonly leftOut: number };
};

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

function createLastOutput(whole: number): LeftOutput {
  let lines: string[] = [];
  let count = 0;
  return {
    add: (line) => {
      count++;
      lines.push(line.length > longestLine ? `${stripControls(line).slice(0, longestLine)}...` : line);
      if (lines.length > 2 * mostWhole) lines = lines.slice(-mostWhole);
    },
    take: () => {
      const shown = count <= whole ? lines : lines.slice(-lastLines);
      return { lines: shown, leftOut: count - shown.length };
    },
  };
}
