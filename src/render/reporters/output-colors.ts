import { keepColors, stripControls } from '../text/sanitize.ts';
import { isolateColors, type SgrState } from '../text/sgr.ts';
import type { OutputLine } from './step-lines.ts';

/** Prepares lines of output for display: only text and colours, which end with the line. */
export type OutputColors = {
  /** Active colours of a stream continue in its next line. */
  readonly isolate: (line: OutputLine) => string;
  /** Forgets the active colours of an attempt that has ended. */
  readonly end: (step: string) => void;
};

/** Creates an `OutputColors`; without `keepsColors` only the text remains. Uses memory only for streams with an active colour. */
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
      for (const stream of ['output', 'stdout', 'stderr']) open.delete(`${stream} ${step}`);
    },
  };
}
