import type { JSX } from 'preact';
import { Spans } from '#run-view/spans.tsx';
import { momentText } from '../parts/time.tsx';
import { markMatches } from './matches.ts';
import { MAX_WHOLE_BYTES, type ShownLine } from './shown-log.ts';

type RowProps = {
  /** From 1. */
  readonly number: number;
  /** Null: not read yet. */
  readonly line: ShownLine | null;
  readonly href: string;
  readonly mark: 'selected' | 'current' | 'hit' | null;
  readonly matcher: RegExp | null;
  readonly onShowAll: () => void;
  /** In milliseconds since 1970; null: unknown, undefined: not shown. */
  readonly time: number | null | undefined;
};

/** A log line with its number, which links to it, and its time. */
export function LogRow({ number, line, href, mark, matcher, onShowAll, time }: RowProps): JSX.Element {
  const spans = line?.spans ?? [];
  return (
    <div class={`log-line ${mark ?? ''}`} data-line={number}>
      <a class="log-number" href={href} tabIndex={-1}>
        {number}
      </a>
      {time !== undefined && (
        <span class="log-time" title={time === null ? '' : momentText(new Date(time))}>
          {time === null ? '' : clockText(time)}
        </span>
      )}
      <span class="log-text">
        <Spans spans={matcher === null || mark === null ? spans : markMatches(spans, matcher)} />
        {line?.cut && (
          <button type="button" class="show-all" onClick={onShowAll}>
            … show {line.cut.to - line.cut.from > MAX_WHOLE_BYTES ? 'more' : 'all'} of{' '}
            {(line.cut.to - line.cut.from).toLocaleString('en')} bytes
          </button>
        )}
      </span>
    </div>
  );
}

/** `10:31:02.4`; times of lines are known to a quarter of a second. */
function clockText(time: number): string {
  return `${momentText(new Date(time)).slice(11, 19)}.${Math.floor((time % 1000) / 100)}`;
}
