import { escapeControl } from '../text/sanitize.ts';

/** Safe markup, made by `html`, which escapes all values. */
export type Html = { readonly markup: string };

/** What can be put into markup; null, and an empty list, is nothing. */
export type HtmlValue = string | number | Html | null | readonly Html[];

/**
 * Markup with values in it: html`<b title="${title}">${name}</b>`. Text is escaped for both places, and its control
 * characters are made visible, so that no name or message can leave its element or turn the direction of the line. The
 * literal parts hold ASCII alone: a bundler cannot escape anything in them, and the program is read as Latin-1.
 */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let markup = parts[0] ?? '';
  for (let index = 0; index < values.length; index++)
    markup += toMarkup(values[index] ?? null) + (parts[index + 1] ?? '');
  return { markup };
}

/** Markup from elsewhere, taken as it is: our own style sheet, and what was escaped on another way. */
export function trusted(markup: string): Html {
  return { markup };
}

/** Escapes text for an element or a quoted attribute; keeps tabs and line breaks. */
export function escapeHtml(text: string): string {
  // Here and not at the top, so that it is not read before the first text that needs it.
  const unsafe =
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what has to go
    /[&<>"'\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb]|\p{Cs}/gu;
  return text.replace(unsafe, (character) => entities[character] ?? entityText(escapeControl(character)));
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** `<U+202E>` holds angle brackets itself. */
function entityText(text: string): string {
  return text.replace(/[<>]/g, (character) => entities[character] ?? '');
}

function toMarkup(value: HtmlValue): string {
  if (value === null) return '';
  if (typeof value === 'string') return escapeHtml(value);
  if (typeof value === 'number') return String(value);
  return 'markup' in value ? value.markup : value.map(({ markup }) => markup).join('');
}
