import { type Problem, problem, type Source } from '../diagnostic.ts';

/** Maximum size of a workflow file, in bytes. */
export const LARGEST_FILE = 1024 * 1024;

/** Characters that YAML does not allow: all control characters except tab and line ends. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/;

const UTF8_HELP = 'Save the file as UTF-8.';

/** Decodes a file to text, and reports why it cannot. A byte order mark is not part of the text. */
export function decode(path: string, content: string | Uint8Array): { source: Source; problems: Problem[] } {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  if (bytes.length > LARGEST_FILE) {
    const source = { path, text: '' };
    const message = 'the file is larger than 1 MiB, the limit for workflow files';
    const help = 'Move steps to imported files ("imports"), and long scripts to files of their own.';
    return { source, problems: [problem('file-too-large', { source }, message, { help })] };
  }
  const encoding = utf16(bytes);
  const text = new TextDecoder(encoding ?? 'utf-8').decode(bytes);
  if (encoding !== null) {
    const source = { path, text };
    const message = 'the file is encoded as UTF-16, not UTF-8';
    return { source, problems: [problem('not-utf8', { source }, message, { help: UTF8_HELP })] };
  }
  if (!decodes(bytes, { stream: false })) return notUtf8({ path, text }, bytes);
  // For YAML a carriage return alone ends a line too. The text has the same length afterwards, so that offsets stay.
  const source = { path, text: text.includes('\n') ? text : text.replaceAll('\r', '\n') };
  const control = source.text.search(CONTROL);
  return { source, problems: control === -1 ? [] : [controlCharacter(source, control)] };
}

function controlCharacter(source: Source, at: number): Problem {
  const code = source.text.charCodeAt(at).toString(16).toUpperCase().padStart(4, '0');
  const help =
    code === '0000' ? 'Remove it: no program accepts it.' : 'In double quotes, write it as an escape, such as "\\x1b".';
  const message = `the control character U+${code} is not allowed`;
  return problem('control-character', { source, range: [at, at + 1] }, message, { help });
}

/** Detects UTF-16 by its byte order mark, or by a first ASCII character with a zero beside it. */
function utf16(bytes: Uint8Array): string | null {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if (bytes.length < 2 || (first === 0 && second === 0)) return null;
  if (first === 0) return 'utf-16be';
  return second === 0 ? 'utf-16le' : null;
}

function notUtf8(source: Source, bytes: Uint8Array): ReturnType<typeof decode> {
  const offset = firstBadByte(bytes);
  const start = new TextDecoder('utf-8').decode(bytes.subarray(0, offset)).length;
  const byte = (bytes[offset] ?? 0).toString(16).padStart(2, '0');
  const message = `the file is not UTF-8: byte 0x${byte} at offset ${offset} is not part of a character`;
  const spot = { source, range: [start, start + 1] } as const;
  return { source, problems: [problem('not-utf8', spot, message, { help: UTF8_HELP })] };
}

/** The shortest prefix that cannot be decoded ends with the first invalid byte; found by bisection. */
function firstBadByte(bytes: Uint8Array): number {
  let good = 0;
  let bad = bytes.length + 1;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (decodes(bytes.subarray(0, middle), { stream: true })) good = middle;
    else bad = middle;
  }
  if (decodes(bytes.subarray(0, good), { stream: false })) return good;
  // The bytes before the invalid byte start an incomplete character: its start is reported.
  let start = good - 1;
  while (start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--;
  return start;
}

function decodes(bytes: Uint8Array, options: { stream: boolean }): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, options);
    return true;
  } catch {
    return false;
  }
}

/** The files of one workflow hold more bytes together than the caller allows. */
export class TooManyBytes extends Error {}

/** Counts a content, or work that takes as long as the length; throws `TooManyBytes` beyond the limit. */
export type ByteLimit = (content: Pick<string | Uint8Array, 'length'>) => void;

/** Counts the contents that belong to one workflow. The result throws `TooManyBytes` once they exceed `most` together. */
export function createByteLimit(most: number | undefined): ByteLimit {
  let taken = 0;
  return ({ length }) => {
    taken += length;
    if (most !== undefined && taken > most) throw new TooManyBytes(`more than ${most} bytes`);
  };
}
