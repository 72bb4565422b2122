import type { ComponentChildren, JSX } from 'preact';
import { type AnsiSpan, createAnsiSpans } from './ansi-spans.ts';
import { Spans } from './spans.tsx';

type LogProps = { readonly label: string; readonly kind?: string; readonly children: ComponentChildren };

/** Output of a program. */
export function LogText({ label, kind = '', children }: LogProps): JSX.Element {
  return (
    <pre class={`log ${kind}`} tabIndex={0} role="region" aria-label={label}>
      {children}
    </pre>
  );
}

/** Coloured lines. */
function LogSpans({ lines }: { lines: readonly string[] }): JSX.Element {
  return <Spans spans={spansOfLines(lines)} />;
}

/** The last lines of the output of a step. */
export function LastLines({ lines, label }: { lines: readonly string[]; label: string }): JSX.Element | null {
  if (lines.length === 0) return null;
  return (
    <LogText label={label} kind="last-lines">
      <LogSpans lines={lines.map((line) => line.slice(0, 2000))} />
    </LogText>
  );
}

/** The parts of all lines, line ends included; uncoloured parts are joined. `spansOf` has the colours that are active before. */
export function spansOfLines(lines: readonly string[], spansOf = createAnsiSpans()): readonly AnsiSpan[] {
  const spans: AnsiSpan[] = [];
  let plain: string[] = [];
  const add = () => {
    if (plain.length > 0) spans.push({ text: plain.join(''), classes: [], color: null, background: null });
    plain = [];
  };
  for (const line of lines) {
    for (const span of spansOf(line)) {
      if (isPlain(span)) plain.push(span.text);
      else {
        add();
        spans.push(span);
      }
    }
    plain.push('\n');
  }
  add();
  return spans;
}

function isPlain({ classes, color, background, href }: AnsiSpan): boolean {
  return classes.length === 0 && color === null && background === null && href === undefined;
}
