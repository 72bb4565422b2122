import { keepColors, stripControls } from '../text/sanitize.ts';
import { isolateColors, type SgrState } from '../text/sgr.ts';
import type { OutputLine } from './step-lines.ts';

/** Lines of output made fit to stand between ours: nothing but text and colours, and these end with the line. */
export type OutputColors = {
  /** What a stream has left switched on is on again in its next line. */
  readonly isolate: (line: OutputLine) => string;
  /** The attempt is over; what it left switched on is forgotten. */
  readonly end: (step: string) => void;
};

/** See `OutputColors`; without `keepsColors` text is all that is left. Holds something only for streams that have a colour on. */
export function createOutputColors(keepsColors = true): OutputColors {
  const open = new Map<string, SgrState>();
  return {
    isolate: ({ step, stream, text }) => {
      if (!keepsColors) return stripControls(text);
      const key = `${stream} ${step}`;
      const state = open.get(key) ?? new Map<string, string>();
      const line = isolateColors(keepColors(text), state);
      if (state.size > 0) open.set(key, state);
      else open.delete(key);
      return line;
    },
    end: (step) => {
      open.delete(`stdout ${step}`);
      open.delete(`stderr ${step}`);
    },
  };
}
