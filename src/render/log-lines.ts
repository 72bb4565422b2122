import { createOutputColors } from './output-colors.ts';
import type { OutputChunk } from './reporter.ts';
import { createStepLines, type OutputLine } from './step-lines.ts';

/** How stored output is shown. */
export type LogForm = 'text' | 'raw' | 'json';

/** Stored output of steps on its way to a person or a program. */
export type LogLines = {
  readonly push: (chunk: OutputChunk) => void;
  /** The attempt at the step is over: what it did not end with a line end is a line too. */
  readonly end: (step: string) => void;
  /** Writes what `tail` has held back; from here on every line is written at once. */
  readonly release: () => void;
};

export type LogLinesOptions = {
  readonly form: LogForm;
  /** What stands before a line of a step. */
  readonly prefix: (step: string) => string;
  /** Only the last so many lines of what comes before `release`; null: all. */
  readonly tail: number | null;
  readonly write: (text: string | Uint8Array) => void;
  /** False where not even the colours of the steps are wanted. */
  readonly keepsColors?: boolean;
};

/**
 * Lines of output, `text` without control sequences other than colours, `raw` as they are, `json` as one object for each:
 * `{step, attempt, stream, text}`. What is raw and not counted in lines passes as bytes.
 */
export function createLogLines({ form, prefix, tail, write, keepsColors = true }: LogLinesOptions): LogLines {
  const lines = createStepLines(form === 'text' ? 'overwrite' : 'keep');
  const colors = createOutputColors(keepsColors);
  let held: string[] | null = tail === null ? null : [];
  const toText = (line: OutputLine): string => {
    const { step, attempt, stream, text } = line;
    if (form === 'json') return JSON.stringify({ step, attempt, stream, text });
    return form === 'raw' ? text : `${prefix(step)}${colors.isolate(line)}`;
  };
  const put = (found: readonly OutputLine[]): void => {
    if (found.length === 0) return;
    const texts = found.map((line) => `${toText(line)}\n`);
    if (held === null) write(texts.join(''));
    else held = keepLast([...held, ...texts], tail ?? 0);
  };
  return {
    push: (chunk) => {
      if (form === 'raw' && held === null && tail === null) write(chunk.bytes);
      else put(lines.push(chunk));
    },
    end: (step) => {
      put(lines.end(step));
      colors.end(step);
    },
    release: () => {
      if (held !== null && held.length > 0) write(held.join(''));
      held = null;
    },
  };
}

function keepLast(texts: string[], count: number): string[] {
  return count === 0 ? [] : texts.slice(-count);
}
