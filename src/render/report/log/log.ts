import { createLineSplitter } from '../../text/lines.ts';
import { stripControls } from '../../text/sanitize.ts';
import { escapeHtml, type Html, html, trusted } from '../html.ts';
import { byteText } from '../text.ts';
import { createAnsiLines } from './ansi.ts';

/** The beginning and the end of what one stream of an attempt has; one that is shown whole is all in `head`. */
export type ShownLog = { readonly size: number; readonly head: Uint8Array; readonly tail: Uint8Array };

const newline = 0x0a;
/** Markup that is this much longer than its bytes is not worth it: then the text is shown without colours. */
const mostGrowth = 4;
const alwaysAllowed = 4096;

/** The lines of a log with their colours. `command` is how to get what was left out. */
export function logHtml(log: ShownLog, command: string): Html {
  if (log.tail.length === 0 && log.head.length === log.size) return linesHtml(log.head);
  const head = upToLineEnd(log.head);
  const tail = fromLineStart(log.tail);
  const missing = byteText(log.size - head.length - tail.length);
  return html`${linesHtml(head)}<span class="cut" role="note">${missing} left out here. All of it: ${command}</span>
${linesHtml(tail)}`;
}

function linesHtml(bytes: Uint8Array): Html {
  const splitter = createLineSplitter('overwrite');
  const lines = [...splitter.push(bytes), ...splitter.flush()];
  const toMarkup = createAnsiLines();
  const room = bytes.length * mostGrowth + alwaysAllowed;
  let markup = '';
  for (const line of lines) {
    markup += `${toMarkup(line)}\n`;
    if (markup.length > room) return trusted(lines.map((each) => `${escapeHtml(stripControls(each))}\n`).join(''));
  }
  return trusted(markup);
}

/** A line that the cut goes through is left out; of a single long one what is left of its last character is. */
function upToLineEnd(bytes: Uint8Array): Uint8Array {
  const end = bytes.lastIndexOf(newline);
  if (end !== -1) return bytes.subarray(0, end + 1);
  const start = bytes.findLastIndex((byte) => !isContinuation(byte));
  return start !== -1 && (bytes[start] ?? 0) >= 0xc0 ? bytes.subarray(0, start) : bytes;
}

function fromLineStart(bytes: Uint8Array): Uint8Array {
  const end = bytes.indexOf(newline);
  if (end !== -1 && end < bytes.length - 1) return bytes.subarray(end + 1);
  return bytes.subarray(
    Math.max(
      0,
      bytes.findIndex((byte) => !isContinuation(byte)),
    ),
  );
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}
