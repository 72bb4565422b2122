import type { JSX } from 'preact';
import { createAnsiSpans } from '../../render/report/log/ansi-spans.ts';
import { Spans } from './spans.tsx';

/** A few lines of output, all of them shown. */
export function LastLines({ lines, label }: { lines: readonly string[]; label: string }): JSX.Element | null {
  if (lines.length === 0) return null;
  const spansOf = createAnsiSpans();
  return (
    <section class="log last-lines" tabIndex={0} aria-label={label}>
      {lines.map((line, index) => (
        <div class="log-line" key={`${index + 1}`}>
          <Spans spans={spansOf(line.slice(0, 2000))} />
        </div>
      ))}
    </section>
  );
}
