import { stripControls } from '../text/sanitize.ts';
import { createHeldLines } from './held-lines.ts';
import type { outputModes } from './output-modes.ts';

/** One of `outputModes`; null: all of it while it is short, else its last lines. */
export type OutputMode = (typeof outputModes)[number] | null;

/** The output of one attempt, as far as it may be shown when the attempt has ended. Its memory is bounded. */
export type LeftOutput = {
  readonly add: (line: string) => void;
  /** The lines to show, and how many before them are left out. */
  readonly take: () => { readonly lines: readonly string[]; readonly leftOut: number };
};

/** An output of so many lines is shown whole. */
const mostWhole = 20;
/** Of a longer one these last lines are. */
const lastLines = 10;
/** In UTF-16 code units; the log has longer lines whole. */
const longestLine = 2000;

/** See `LeftOutput`. */
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
