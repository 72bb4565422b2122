import type { JSX } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type AnsiSpan, createAnsiSpans } from '../../render/report/log/ansi-spans.ts';
import { Spans } from './spans.tsx';

/** As the style sheet has it, in pixels. */
const LINE_HEIGHT = 18;
/** Lines drawn above and below what can be seen. */
const SPARE_LINES = 60;
/** Longer lines are cut. */
const MAX_LINE_LENGTH = 10_000;

type LogLinesProps = {
  readonly lines: readonly string[];
  readonly label: string;
  /** Stay at the end when lines are added. */
  readonly isFollowing: boolean;
  readonly onScrolledUp: () => void;
  readonly isWrapped: boolean;
};

/** Lines of a log with their colours, of which only those that can be seen are in the document. */
export function LogLines({ lines, label, isFollowing, onScrolledUp, isWrapped }: LogLinesProps): JSX.Element {
  const area = useRef<HTMLDivElement>(null);
  const [window, setWindow] = useState({ top: 0, height: 600 });
  const spansOf = useSpans(lines);
  const first = isWrapped
    ? Math.max(0, lines.length - 2000)
    : Math.max(0, Math.floor(window.top / LINE_HEIGHT) - SPARE_LINES);
  const last = isWrapped
    ? lines.length
    : Math.min(lines.length, Math.ceil((window.top + window.height) / LINE_HEIGHT) + SPARE_LINES);
  useLayoutEffect(() => {
    const element = area.current;
    if (element === null) return;
    if (isFollowing) element.scrollTop = element.scrollHeight;
    if (element.scrollTop !== window.top || element.clientHeight !== window.height) measure();
  });
  const measure = () => {
    const element = area.current;
    if (element !== null) setWindow({ top: element.scrollTop, height: element.clientHeight });
  };
  const onScroll = () => {
    const element = area.current;
    if (element === null) return;
    if (element.scrollTop < window.top && !isAtEnd(element)) onScrolledUp();
    measure();
  };
  return (
    <section class={`log ${isWrapped ? 'wrap' : ''}`} ref={area} onScroll={onScroll} tabIndex={0} aria-label={label}>
      <div style={isWrapped ? {} : { height: lines.length * LINE_HEIGHT, paddingTop: first * LINE_HEIGHT }}>
        {lines.slice(first, last).map((_, index) => (
          <div class="log-line" key={first + index}>
            <Spans spans={spansOf(first + index)} />
          </div>
        ))}
      </div>
    </section>
  );
}

function isAtEnd({ scrollTop, clientHeight, scrollHeight }: HTMLElement): boolean {
  return scrollTop + clientHeight >= scrollHeight - LINE_HEIGHT;
}

/** Colours continue from line to line, so the lines are parsed in order, each once. */
function useSpans(lines: readonly string[]): (index: number) => readonly AnsiSpan[] {
  const memory = useMemo(() => ({ spans: [] as (readonly AnsiSpan[])[], read: createAnsiSpans(), of: '' }), [lines[0]]);
  return (index) => {
    // The last line can still grow, so it is read again.
    while (memory.spans.length < Math.min(index + 1, lines.length - 1)) {
      memory.spans.push(memory.read(shortened(lines[memory.spans.length] ?? '')));
    }
    return memory.spans[index] ?? createAnsiSpans()(shortened(lines[index] ?? ''));
  };
}

function shortened(line: string): string {
  if (line.length <= MAX_LINE_LENGTH) return line;
  return `${line.slice(0, MAX_LINE_LENGTH)}… (${(line.length - MAX_LINE_LENGTH).toLocaleString('en')} more characters)`;
}
