import type { YamlPlace } from './place.ts';

/** An unclosed map or list in flow style. */
type Frame = {
  readonly isMap: boolean;
  /** The keys of the map with the texts of their values. */
  readonly keys: Map<string, string>;
  /** The key whose value is being read. */
  key: string | null;
  /** The key or the value read so far, and its start. */
  word: string;
  from: number;
  /** Whether the position is in this key or value, which then does not count as present. */
  isWritten: boolean;
};

/**
 * Finds the location of a position in a value in flow style, such as `{limit: 2, intervalSec: 5}`. Its path begins in
 * the value. Null outside of its brackets and in quoted texts.
 */
export function flowPlaceAt(text: string, position: number): YamlPlace | null {
  const stack: Frame[] = [];
  let found: readonly Frame[] | null = null;
  let place: YamlPlace | null = null;
  for (let at = 0; at <= text.length; at++) {
    if (at === position) {
      found = [...stack];
      place = placeIn(found, position);
      const last = stack.at(-1);
      if (last !== undefined) last.isWritten = true;
    }
    const end = quoteEnd(text, at, stack.at(-1));
    const comment = /\s/.test(text[at - 1] ?? '') ? /^#.*/.exec(text.slice(at))?.[0] : undefined;
    if (comment !== undefined) at += comment.length - 1;
    else if (end !== null) {
      if (at < position && position < end) return null;
      append(stack.at(-1), text.slice(at, end), at);
      at = end - 1;
    } else read(stack, text, at);
    // Keys after the position count as well.
    if (stack.length === 0 && at > 0) break;
    if (found !== null && stack.length < found.length) break;
  }
  return place;
}

function placeIn(stack: readonly Frame[], position: number): YamlPlace | null {
  const last = stack.at(-1);
  if (last === undefined) return null;
  const steps = stack.map(({ isMap, key, keys }) => ({ key: isMap ? key : null, beside: keys }));
  const isKey = last.isMap && last.key === null;
  return {
    kind: last.isMap && last.key !== null ? 'value' : 'key',
    path: isKey ? steps.slice(0, -1) : steps,
    present: isKey ? last.keys : new Map(),
    from: last.word === '' ? position : last.from,
    isFlow: true,
  };
}

/** Reads one character. */
function read(stack: Frame[], text: string, at: number): void {
  const char = text[at] ?? '';
  const frame = stack.at(-1);
  if ((char === '{' || char === '[') && (frame === undefined || frame.word === '')) {
    stack.push({ isMap: char === '{', keys: new Map(), key: null, word: '', from: at + 1, isWritten: false });
  } else if (frame === undefined) return;
  else if (char === '\n' && frame.word === '') frame.isWritten = false;
  else if (char === '}' || char === ']') {
    finish(frame);
    stack.pop();
    append(stack.at(-1), '{}', at);
  } else if (char === ',') finish(frame);
  else if (char === ':' && frame.isMap && frame.key === null && /^(?:[\s,{}[\]"']|$)/.test(text.slice(at + 1))) {
    frame.key = frame.word.trim().replace(/^(["'])(.*)\1$/, '$2');
    frame.word = '';
  } else if (!/\s/.test(char) || frame.word !== '') append(frame, char, at);
}

function append(frame: Frame | undefined, text: string, at: number): void {
  if (frame === undefined) return;
  if (frame.word === '') frame.from = at;
  frame.word += text;
}

function finish(frame: Frame): void {
  const name = (frame.key ?? frame.word).trim();
  if (frame.isMap && name !== '' && !frame.isWritten) frame.keys.set(name, frame.word.trim());
  frame.key = null;
  frame.word = '';
  frame.isWritten = false;
}

/** The end of a quoted text that begins here; null if there is none. */
function quoteEnd(text: string, at: number, frame: Frame | undefined): number | null {
  const quote = text[at];
  if (frame === undefined || frame.word !== '' || (quote !== '"' && quote !== "'")) return null;
  const end = /^"(?:[^"\\]|\\.)*"|^'(?:[^']|'')*'/.exec(text.slice(at));
  return end === null ? text.length + 1 : at + end[0].length;
}
