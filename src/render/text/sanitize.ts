/**
 * Text of users (names, messages, lines of files, output of steps) beside our own. None of it may move the cursor,
 * clear the screen, set the window's title or turn the direction of writing.
 */

/** Most names and messages; told apart much faster than by looking for what is unsafe. */
export const harmless = /^[\x20-\x7e]*$/;

/** Every character that must not reach a terminal. Made for each call: most processes need it never, and it has a state. */
export function controlCharacters(): RegExp {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this file is about
  return /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb]|\p{Cs}/gu;
}

/**
 * Makes every control character visible and harmless: `^[` for ESC (as `cat -v` shows it), `<U+202E>` for those beyond
 * ASCII, one space for tabs and line ends. The result is one line.
 */
export function escapeControls(text: string): string {
  return harmless.test(text) ? text : text.replace(controlCharacters(), escapeControl);
}

/** As `escapeControls`, but line ends stay: for a message of several lines that has nothing but its names from users. */
export function escapeLines(text: string): string {
  return text.includes('\n') ? text.split('\n').map(escapeControls).join('\n') : escapeControls(text);
}

/** The visible form of one control character; see `escapeControls`. */
export function escapeControl(character: string): string {
  if (character === '\t' || character === '\n' || character === '\r') return ' ';
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80) return `^${String.fromCharCode(code ^ 0x40)}`;
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd';
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: see above
const anyControl = /[\x00-\x08\x0a-\x1f\x7f-\x9f]/;
const sequences = new RegExp(
  [
    '\\u001b\\[[0-9;:]*m', // colours and other attributes: the only ones that may stay
    '\\u001b\\[[0-?]*[ -/]*[@-~]?', // every other control sequence
    '\\u001b[\\]PX^_][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)?', // titles, links, device strings
    '\\u001b[ -/]*[0-~]?', // the rest of the escapes, also a torn one
    '[\\u0000-\\u0008\\u000a-\\u001a\\u001c-\\u001f\\u007f-\\u009f]', // single controls except the tab
  ].join('|'),
  'g',
);

/** Takes every control character and sequence out of a line of output but tabs and colours (SGR). */
export function keepColors(line: string): string {
  if (!anyControl.test(line)) return line;
  return line.replace(sequences, (found) => (found.startsWith('\u001b[') && found.endsWith('m') ? keepSgr(found) : ''));
}

/** As `keepColors`, but without the colours too, and with tabs as spaces: text that can be measured and cut. */
export function stripControls(line: string): string {
  const text = anyControl.test(line) ? line.replace(sequences, '') : line;
  return text.includes('\t') ? text.replaceAll('\t', '  ') : text;
}

/** Private sequences that end in `m` (`ESC [ > 4 m`) are no colours. */
function keepSgr(sequence: string): string {
  return /^[0-9;:]*$/.test(sequence.slice(2, -1)) ? sequence : '';
}
