import { escapeControls } from './sanitize.ts';

/**
 * The width of text in cells of a terminal. A user-perceived character (a letter with its accents, a flag, a family of emoji) is
 * one cluster and is never cut.
 */

/** A user-perceived character and its width in cells: 0, 1 or 2. */
export type Cluster = { readonly text: string; readonly width: number };

/**
 * Matches text in which each code unit is one character of one cell: ASCII, Latin, Greek, Cyrillic, punctuation, arrows, lines
 * and blocks, Braille, our own symbols. Most text is, and creating an `Intl.Segmenter` takes ten milliseconds.
 */
const NARROW =
  /^[\x20-\x7e\xa1-\xac\xae-\u02ff\u0370-\u03ff\u0400-\u0482\u048a-\u04ff\u2010-\u2027\u2190-\u21ff\u2298\u2500-\u259f\u25a0\u25b6\u25cb\u25cf\u2713-\u2718\u2800-\u28ff]*$/;

/** Blocks of wide and full-width characters (East Asian Width W and F of Unicode 16) other than emoji: first, last. */
const wideBlocks: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f], // Hangul initials
  [0x2329, 0x232a], // angle brackets
  [0x2630, 0x2637], // trigrams
  [0x268a, 0x268f], // monograms and digrams
  [0x2e80, 0x303e], // CJK radicals and punctuation
  [0x3041, 0x3247], // kana, bopomofo, Hangul compatibility, enclosed
  [0x3250, 0xa4cf], // CJK ideographs, Yi
  [0xa960, 0xa97f], // Hangul initials, extended
  [0xac00, 0xd7a3], // Hangul syllables
  [0xf900, 0xfaff], // CJK compatibility
  [0xfe10, 0xfe19], // vertical forms
  [0xfe30, 0xfe6f], // CJK compatibility and small forms
  [0xff01, 0xff60], // full-width forms
  [0xffe0, 0xffe6], // full-width signs
  [0x16fe0, 0x18df2], // Tangut, Khitan
  [0x1aff0, 0x1b2ff], // kana supplements, Nushu
  [0x1d300, 0x1d376], // Tai Xuan Jing symbols, counting rods
  [0x1f200, 0x1f2ff], // enclosed ideographs
  [0x20000, 0x3fffd], // further ideographs
];

/** Returns the width of `text` in cells. The text must not contain control characters. */
export function textWidth(text: string): number {
  if (NARROW.test(text)) return text.length;
  let width = 0;
  for (const cluster of clusters(text)) width += cluster.width;
  return width;
}

let segmenter: Intl.Segmenter | undefined;

/** Splits text into user-perceived characters. */
export function* clusters(text: string): Generator<Cluster> {
  if (NARROW.test(text)) {
    for (const character of text) yield { text: character, width: 1 };
    return;
  }
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  for (const { segment } of segmenter.segment(text)) yield { text: segment, width: clusterWidth(segment) };
}

function clusterWidth(cluster: string): number {
  const first = cluster.codePointAt(0) ?? 0;
  if (first < 0x300 && cluster.length === 1) return 1;
  // V8 compiles a regular expression at its first use; these take half a millisecond, so they are not at the top level.
  const isLoneRegionalIndicator = first >= 0x1f1e6 && first <= 0x1f1ff && cluster.length === 2;
  if (/^\p{Emoji_Presentation}/u.test(cluster)) return isLoneRegionalIndicator ? 1 : 2;
  // Two regional indicators form a flag; U+FE0F requests an emoji.
  if (/^[\u{1f1e6}-\u{1f1ff}]{2}|^\p{Emoji}\ufe0f/u.test(cluster)) return 2;
  const isMarkOrFormat = /^[\p{Mn}\p{Me}\p{Cf}\p{Default_Ignorable_Code_Point}\u1160-\u11ff\ud7b0-\ud7ff]/u.test(
    cluster,
  );
  if (isMarkOrFormat) return 0;
  return wideBlocks.some(([from, to]) => first >= from && first <= to) ? 2 : 1;
}

/** Cuts text without control characters to at most `cells`, with `ellipsis` at the end if anything was cut. */
export function cut(text: string, cells: number, ellipsis: string): string {
  // Only the start of the text is measured, however long it is; long runs of accents on one letter are cut too.
  const start = text.slice(0, Math.max(0, cells) * 16);
  if (fitting(start, cells).length === text.length) return text;
  const room = cells - textWidth(ellipsis);
  return room < 0 ? ellipsis.slice(0, Math.max(0, cells)) : fitting(start, room) + ellipsis;
}

/** Breaks text without control characters into lines of at most `cells`: behind the last blank, if there is one. */
export function wrapped(text: string, cells: number): string[] {
  const lines: string[] = [];
  const room = Math.max(8, cells);
  let rest = text;
  while (Number.isFinite(room) && textWidth(rest) > room) {
    const start = fitting(rest, room);
    const leading = start.length - start.trimStart().length;
    const blank = rest[start.length] === ' ' ? start.length : start.lastIndexOf(' ');
    const end = blank > leading ? blank : start.length;
    lines.push(rest.slice(0, end).trimEnd());
    rest = rest.slice(end).trimStart();
  }
  return [...lines, rest];
}

/** Pads text with spaces on the right to `cells`; a wider text is unchanged. */
export function padEnd(text: string, cells: number): string {
  return text + ' '.repeat(Math.max(0, cells - textWidth(text)));
}

/** Returns the longest prefix of at most `cells`. */
function fitting(text: string, cells: number): string {
  let length = 0;
  let width = 0;
  for (const cluster of clusters(text)) {
    width += cluster.width;
    if (width > cells) break;
    length += cluster.text.length;
  }
  return text.slice(0, length);
}

/** The longest name in cells: enough to search for, and short enough to leave room for the rest of the line. */
const WIDEST_NAME = 100;

/** Returns the name of a workflow, step or handler for a line: escaped, and cut if it is too long. */
export function nameText(name: string, ellipsis = '...'): string {
  return name.length <= WIDEST_NAME ? escapeControls(name) : cut(escapeControls(name), WIDEST_NAME, ellipsis);
}
