import { createOutputColors } from '../reporters/output-colors.ts';
import type { OutputChunk } from '../reporters/reporter.ts';
import { createStepLines, type OutputLine } from '../reporters/step-lines.ts';

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
  /** Whether a line tells where the output of a second or later attempt at a step begins; only in `text`. */
  readonly marksAttempts: boolean;
  readonly write: (text: string | Uint8Array) => void;
  /** False where not even the colours of the steps are wanted. */
  readonly keepsColors?: boolean;
};

/** The line before the output of an attempt that is not the first. */
export function attemptMark(attempt: number): string {
  return `--- attempt ${attempt} ---`;
}

/**
 * Lines of output, `text` without control sequences other than colours, `raw` as they are, `json` as one object for each:
 * `{step, attempt, stream, text}`, with `continues: true` where the line goes on in the next object. What is raw and not
 * counted in lines passes as bytes. A line that comes in pieces is written whole, unless another stream prints meanwhile.
 */
export function createLogLines(options: LogLinesOptions): LogLines {
  const { form, prefix, tail, marksAttempts, write, keepsColors = true } = options;
  const lines = createStepLines(form === 'text' ? 'overwrite' : 'keep');
  const colors = createOutputColors(keepsColors);
  const marked = new Map<string, number>();
  const markBefore = ({ step, attempt }: OutputLine): string => {
    if (!marksAttempts || form !== 'text' || attempt === (marked.get(step) ?? 1)) return '';
    marked.set(step, attempt);
    return `${prefix(step)}${attemptMark(attempt)}\n`;
  };
  const toText = (line: OutputLine, isRest: boolean): string => {
    if (form === 'json') return JSON.stringify(line);
    if (form === 'raw') return line.text;
    return `${isRest ? '' : markBefore(line) + prefix(line.step)}${colors.isolate(line)}`;
  };
  const out = createWholeLines(form === 'json', tail, write);
  return {
    push: (chunk) => {
      if (form === 'raw' && tail === null) write(chunk.bytes);
      else out.put(lines.push(chunk), toText);
    },
    end: (step) => {
      out.put(lines.end(step), toText);
      colors.end(step);
    },
    release: out.release,
  };
}

type WholeLines = {
  /** `toText` is told whether the line is the rest of the one before. */
  readonly put: (lines: readonly OutputLine[], toText: (line: OutputLine, isRest: boolean) => string) => void;
  readonly release: () => void;
};

/** Joins the pieces of a line, unless each is to stay a line of its own, and holds the last lines back until `release`. */
function createWholeLines(isPiecemeal: boolean, tail: number | null, write: LogLinesOptions['write']): WholeLines {
  let held: string[] | null = tail === null ? null : [];
  let open: OutputLine | null = null;
  const texts = (found: readonly OutputLine[], toText: Parameters<WholeLines['put']>[1]): string[] => {
    const result: string[] = [];
    for (const line of found) {
      const isRest: boolean = open !== null && isSameStream(open, line);
      const text = `${open !== null && !isRest ? '\n' : ''}${toText(line, isRest)}${line.continues && !isPiecemeal ? '' : '\n'}`;
      if (isRest) result.push((result.pop() ?? held?.pop() ?? '') + text);
      else result.push(text);
      open = line.continues && !isPiecemeal ? line : null;
    }
    return result;
  };
  return {
    put: (found, toText) => {
      if (found.length === 0) return;
      const added = texts(found, toText);
      if (held === null) write(added.join(''));
      else held = keepLast([...held, ...added], tail ?? 0);
    },
    release: () => {
      if (held !== null && held.length > 0) write(held.join(''));
      held = null;
    },
  };
}

function isSameStream(one: OutputLine, other: OutputLine): boolean {
  return one.step === other.step && one.stream === other.stream && one.attempt === other.attempt;
}

function keepLast(texts: string[], count: number): string[] {
  return count === 0 ? [] : texts.slice(-count);
}
