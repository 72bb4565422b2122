import { stripControls } from '../../text/sanitize.ts';

/** The end of a step's output, to show what it is at. */
export type LastLine = {
  readonly push: (bytes: Uint8Array) => void;
  /** The last line with something in it, without colours; empty before there is one. */
  readonly text: () => string;
  /** The same, but empty unless that line is still being written, as a progress bar is. */
  readonly unfinished: () => string;
};

const keptBytes = 1024;
const newline = 10;

/** Keeps a copy of the last kilobyte and reads it only when asked, so that a torrent of output costs next to nothing. */
export function createLastLine(): LastLine {
  let kept = Buffer.alloc(0);
  return {
    push: (bytes) => {
      kept = Buffer.concat([kept.subarray(-Math.max(1, keptBytes - bytes.length)), bytes.subarray(-keptBytes)]);
    },
    text: () => lastText(kept.toString('utf8')),
    unfinished: () => (kept.at(-1) === newline ? '' : lastText(kept.toString('utf8'))),
  };
}

function lastText(text: string): string {
  const lines = text.split(/[\r\n]+/).map((line) => stripControls(line).trim());
  // Cutting at a byte can leave the rest of a character at the start.
  return (lines.findLast((line) => line !== '') ?? '').replace(/^\ufffd+/, '');
}
