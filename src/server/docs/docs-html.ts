/** A text as it may stand in HTML, also in an attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Code within a sentence. */
export function code(text: string): string {
  return `<code>${escapeHtml(text)}</code>`;
}

/** A block of code. It can be scrolled, so it can be reached with the keyboard. */
export function codeBlock(text: string): string {
  return `<pre tabindex="0">${escapeHtml(text)}</pre>`;
}

/** Sentences in which backticks mark code. */
export function prose(text: string): string {
  return text
    .split('`')
    .map((part, index) => (index % 2 === 0 ? escapeHtml(part) : code(part)))
    .join('');
}
