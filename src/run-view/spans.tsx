import type { JSX } from 'preact';
import type { AnsiSpan } from './ansi-spans.ts';

/** The coloured parts of a line. */
export function Spans({ spans }: { spans: readonly AnsiSpan[] }): JSX.Element {
  return <>{spans.map(part)}</>;
}

function part({ href, ...span }: AnsiSpan, index: number): JSX.Element | string {
  if (href === undefined) return colored(span, index);
  return (
    <a key={index} href={href} target="_blank" rel="noopener noreferrer">
      {colored(span, index)}
    </a>
  );
}

function colored({ text, classes, color, background }: AnsiSpan, index: number): JSX.Element | string {
  if (classes.length === 0 && color === null && background === null) return text;
  const style = { ...(color === null ? {} : { color }), ...(background === null ? {} : { background }) };
  return (
    <span key={index} class={classes.join(' ') || undefined} style={style}>
      {text}
    </span>
  );
}
