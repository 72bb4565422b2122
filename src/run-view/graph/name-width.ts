import { escapeControls } from '#render/text/sanitize.ts';
import { clusters } from '#render/text/width.ts';

/**
 * Widths of names in a proportional font of 13 pixels, without a browser that could measure them: the server lays graphs out
 * too. They are those of DejaVu Sans, the widest of the usual fonts, so that names are rather cut than clipped.
 */

const plain = 8.3;
const wide = 15;
/** Characters of a similar width, in pixels. */
const classes: readonly (readonly [RegExp, number])[] = [
  [/[ijlfrtI.,:;'|!()[\]/ -]/, 5.4],
  [/[mMW%@]/, 13],
  [/[w&DGHNOQU+=<>~#]/, 10.8],
  [/[A-Z\u0370-\u04ff]/, 9.3],
];

/** The estimated width of a name in pixels. */
export function nameWidth(name: string): number {
  let width = 0;
  for (const cluster of clusters(escapeControls(name))) width += widthOf(cluster);
  return width;
}

/** Cuts a name to a width in pixels, with an ellipsis if anything was cut. */
export function fitName(name: string, pixels: number): string {
  const text = escapeControls(name);
  let width = 0;
  let whole = 0;
  let fitting = 0;
  for (const cluster of clusters(text)) {
    width += widthOf(cluster);
    if (width > pixels) return `${text.slice(0, fitting)}…`;
    whole += cluster.text.length;
    if (width <= pixels - wide) fitting = whole;
  }
  return text;
}

function widthOf({ text, width }: { readonly text: string; readonly width: number }): number {
  if (width !== 1) return (width * wide) / 2;
  return classes.find(([pattern]) => pattern.test(text))?.[1] ?? plain;
}
