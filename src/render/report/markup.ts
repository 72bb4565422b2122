import type { VNode } from 'preact';
import { renderToStaticMarkup } from 'preact-render-to-string';
import { escapeControl } from '../text/sanitize.ts';

/**
 * Renders a part of the page. Text is escaped, and its control characters are made visible, so that none can change the
 * text direction of a line.
 */
export function markup(part: VNode | null): string {
  if (part === null) return '';
  // Created lazily, so that it is not compiled before the first text that needs it.
  const unsafe =
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what has to go
    /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb]|\p{Cs}/gu;
  return `${renderToStaticMarkup(part).replace(unsafe, visible)}\n`;
}

/** `<U+202E>` contains angle brackets itself. */
function visible(character: string): string {
  return escapeControl(character).replace('<', '&lt;').replace('>', '&gt;');
}
