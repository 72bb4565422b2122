import { escapeHtml } from '../html.ts';
import { type AnsiSpan, createAnsiSpans } from './ansi-spans.ts';

/** Lines of output to markup, one after another: what one leaves switched on is on in the next. */
export type AnsiLines = (line: string) => string;

/**
 * Makes lines of output fit for a page: colours and other attributes (SGR) become spans, every other control sequence is
 * taken out, and text is escaped. A span never reaches over a line end.
 */
export function createAnsiLines(): AnsiLines {
  const spansOf = createAnsiSpans();
  return (line) => spansOf(line).map(markup).join('');
}

function markup({ text, classes, color, background }: AnsiSpan): string {
  const styles = [
    ...(color === null ? [] : [`color:${color}`]),
    ...(background === null ? [] : [`background:${background}`]),
  ];
  if (classes.length === 0 && styles.length === 0) return escapeHtml(text);
  const className = classes.length === 0 ? '' : ` class="${classes.join(' ')}"`;
  const style = styles.length === 0 ? '' : ` style="${styles.join(';')}"`;
  return `<span${className}${style}>${escapeHtml(text)}</span>`;
}
