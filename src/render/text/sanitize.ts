/**
 * Makes text of users (names, messages, lines of files, output of steps) safe to print: it cannot move the cursor, clear the
 * screen, set the window title or change the direction of writing.
 */

/** Matches most names and messages; much faster than a search for unsafe characters. */
export const HARMLESS = /^[\x20-\x7e]*$/;

/** Matches every character that must not reach a terminal. Created per call: most processes never need it, and it has state. */
export function controlCharacters(): RegExp {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this file is about
  return /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb]|\p{Cs}/gu;
}

/** Makes control characters visible in one line: `^[` for ESC, `<U+202E>` beyond ASCII, a space for tabs and line ends. */
export function escapeControls(text: string): string {
  return HARMLESS.test(text) ? text : text.replace(controlCharacters(), escapeControl);
}

/** Like `escapeControls`, but keeps line breaks: for messages of several lines that contain names of users. */
export function escapeLines(text: string): string {
  return text.includes('\n') ? text.split('\n').map(escapeControls).join('\n') : escapeControls(text);
}

/** Returns the visible form of one control character; see `escapeControls`. */
export function escapeControl(character: string): string {
  if (character === '\t' || character === '\n' || character === '\r') return ' ';
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80) return `^${String.fromCharCode(code ^ 0x40)}`;
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd';
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: see above
const ANY_CONTROL = /[\x00-\x08\x0a-\x1f\x7f-\x9f]/;
const sequences = new RegExp(
  [
    '\\u001b\\[[0-9;:]*m', // colours and other attributes: the only ones to keep
    '\\u001b\\[[0-?]*[ -/]*[@-~]?', // every other control sequence
    '\\u001b[\\]PX^_][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)?', // titles, links, device strings
    '\\u001b[ -/]*[0-~]?', // the other escapes, also an incomplete one
    '[\\u0000-\\u0008\\u000a-\\u001a\\u001c-\\u001f\\u007f-\\u009f]', // single controls except the tab
  ].join('|'),
  'g',
);

/** Removes all control characters and sequences from a line of output except tabs and colours (SGR). */
export function keepColors(line: string): string {
  if (!ANY_CONTROL.test(line)) return line;
  // Private sequences that end in `m` (`ESC [ > 4 m`) are not colours.
  return line.replace(sequences, (found) => (/^.\[[0-9;:]*m$/.test(found) ? found : ''));
}

/** Like `keepColors`, but also removes colours and replaces tabs by spaces, so that the text can be measured and cut. */
export function stripControls(line: string): string {
  const text = ANY_CONTROL.test(line) ? line.replace(sequences, '') : line;
  return text.includes('\t') ? text.replaceAll('\t', '  ') : text;
}

/** Escapes text for HTML, attributes included. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
