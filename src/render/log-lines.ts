import { isoTime } from './data-views.ts';
import type { OutputChunk } from './reporters/reporter.ts';
import { createShownLines, createStepLines, type OutputLine } from './reporters/step-lines.ts';
import { nameText } from './text/width.ts';

/** The form of stored output. */
export type LogForm = 'text' | 'raw' | 'json';

export type LogLinesOptions = {
  readonly form: LogForm;
  readonly prefix: (step: string) => string;
  /** The number of last lines to keep before `release`; null: all. */
  readonly tail: number | null;
  /** Whether a line marks the start of each further attempt; only in `text`. */
  readonly marksAttempts: boolean;
  /** The step whose lines need no header, when one step was asked for: an instance of it has one; only in `text`. */
  readonly step?: string | null;
  readonly write: (text: string | Uint8Array) => void;
  readonly keepsColors?: boolean;
  /** Formats the time of a line of `text`, always in the same width. */
  readonly timeText?: (at: number) => string;
};

/** Returns the line before the output of a second or later attempt. */
export function attemptMark(attempt: number): string {
  return `--- attempt ${attempt} ---`;
}

/** Returns the line before the output of an instance among those of its fan-out. */
export function stepMark(step: string): string {
  return `--- ${nameText(step)} ---`;
}

/**
 * Formats output: `text` with colours only, `raw` unchanged, `json` as an object per line. A line in pieces is written as a whole,
 * unless another stream prints in between; `json` marks its pieces by `continues`.
 */
export function createLogLines(options: LogLinesOptions) {
  const { form, prefix, tail, marksAttempts, step: asked = null, write } = options;
  const { keepsColors = true, timeText = isoTime } = options;
  const lines = form === 'text' ? createShownLines(keepsColors) : createStepLines();
  const marked = new Map<string, number>();
  let headed = asked;
  const headerBefore = ({ step }: OutputLine): string => {
    if (asked === null || step === headed) return '';
    headed = step;
    return `${stepMark(step)}\n`;
  };
  const markBefore = ({ step, attempt }: OutputLine): string => {
    if (!marksAttempts || form !== 'text' || attempt === (marked.get(step) ?? 1)) return '';
    marked.set(step, attempt);
    return `${prefix(step)}${attemptMark(attempt)}\n`;
  };
  const time = (at: number | null) => {
    const text = timeText(at ?? 0);
    return `${at === null ? text.replace(/./g, ' ') : text} `;
  };
  const toText = (line: OutputLine, isRest: boolean): string => {
    const { at } = line;
    if (form === 'json') return JSON.stringify(typeof at === 'number' ? { ...line, at: isoTime(at) } : line);
    if (form === 'raw') return line.text;
    const start = isRest ? '' : headerBefore(line) + markBefore(line);
    const ahead = isRest ? '' : `${at === undefined ? '' : time(at)}${prefix(line.step)}`;
    return `${start}${ahead}${line.text}`;
  };
  const out = createWholeLines(form === 'json', tail, write);
  return {
    push: (chunk: OutputChunk) => {
      if (form === 'raw' && tail === null) write(chunk.bytes);
      else out.put(lines.push(chunk), toText);
    },
    /** Ends an attempt: its unfinished text becomes a line. */
    end: (step: string) => out.put(lines.end(step), toText),
    /** Writes the lines that `tail` has kept; later lines are written at once. */
    release: out.release,
  };
}

/** Formats a line; `isRest`: it continues the previous one. */
type ToText = (line: OutputLine, isRest: boolean) => string;

/** Joins the pieces of a line, unless each stays a line of its own, and keeps the last lines until `release`. */
function createWholeLines(isPiecemeal: boolean, tail: number | null, write: LogLinesOptions['write']) {
  let held: string[] | null = tail === null ? null : [];
  let open: OutputLine | null = null;
  const texts = (found: readonly OutputLine[], toText: ToText): string[] => {
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
    put: (found: readonly OutputLine[], toText: ToText) => {
      if (found.length === 0) return;
      const added = texts(found, toText);
      if (held === null) write(added.join(''));
      else held = tail === 0 ? [] : [...held, ...added].slice(-(tail ?? 0));
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
