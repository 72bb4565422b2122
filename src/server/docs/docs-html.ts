import { escapeHtml } from '#render/text/sanitize.ts';

/** Formats code within a sentence. */
export function code(text: string): string {
  return `<code>${escapeHtml(text)}</code>`;
}

/** Formats a block of code, which scrolls and so can be focused with the keyboard. */
export function codeBlock(text: string): string {
  return `<pre tabindex="0">${escapeHtml(text)}</pre>`;
}

/** Formats sentences in which backticks mark code. */
export function prose(text: string): string {
  return text
    .split('`')
    .map((part, index) => (index % 2 === 0 ? escapeHtml(part) : code(part)))
    .join('');
}
