import { stripControls } from '../text/sanitize.ts';
import type { outputModes } from './reporter.ts';

/** The size in characters that GitHub's page shows without trouble. */
const HEAD_SIZE = 256 * 1024;
const TAIL_SIZE = 768 * 1024;
const BLOCK_SIZE = 16 * 1024;

/** The buffered lines of one step, in bounded memory. */
export type HeldLines = ReturnType<typeof createHeldLines>;

/** Creates `HeldLines`. */
export function createHeldLines() {
  const blocks: string[] = [];
  let head = '';
  let isHeadFull = false;
  let block = '';
  let size = 0;
  let dropped = 0;
  return {
    add: (line: string) => {
      isHeadFull ||= head.length + line.length >= HEAD_SIZE;
      if (isHeadFull) block += `${line}\n`;
      else head += `${line}\n`;
      if (block.length < BLOCK_SIZE) return;
      blocks.push(block);
      size += block.length;
      block = '';
      const oldest = size > TAIL_SIZE ? (blocks.shift() ?? '') : '';
      size -= oldest.length;
      dropped += oldest.split('\n').length - 1;
    },
    /** Returns all lines with their line breaks; of very many the first and the last, with a line that counts the missing ones. */
    text: () => {
      const missing = dropped === 0 ? '' : `[${dropped} lines are left out here: the step's log has them]\n`;
      return head + missing + blocks.join('') + block;
    },
  };
}

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
  if (mode !== 'full') return createLastOutput(mode === 'last' ? LAST_LINES : MOST_WHOLE);
  const held = createHeldLines();
  return { add: held.add, take: () => ({ lines: held.text().split('\n').slice(0, -1), leftOut: 0 }) };
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
