import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Spans } from '#run-view/components.ts';
import { showsLogTimes } from '../data/page-settings.ts';
import { momentText } from '../parts/time.tsx';
import type { LineRange } from './line-map.ts';
import { hitFrom, markMatches } from './matches.ts';
import { drawnLines, LINE_HEIGHT, scrollHeight } from './scroll-map.ts';
import { createScroller, type Movement, type Scroller } from './scroller.ts';
import { MAX_WHOLE_BYTES, type ShownLine, type ShownLog } from './shown-log.ts';

/** A line to scroll to; a new object for each request, so that the same line can be requested again. */
export type Jump = { readonly line: number };

type AreaProps = {
  readonly log: ShownLog;
  readonly label: string;
  readonly isWrapped: boolean;
  readonly isFollowing: boolean;
  /** Called when the user scrolls away from the end, or back to it. */
  readonly onFollow: (isFollowing: boolean) => void;
  /** From 0. */
  readonly jump: Jump | null;
  readonly selected: LineRange | null;
  readonly onSelect: (line: number, isRange: boolean) => void;
  readonly hrefOf: (line: number) => string;
  /** Lines that match the search, from 0, and the current one. */
  readonly hits: readonly number[];
  readonly currentHit: number | null;
  readonly matcher: RegExp | null;
};

/** Lines of a log of any length; only visible lines are read and drawn. */
export function LogArea(props: AreaProps) {
  const { log, isWrapped, isFollowing, jump, hits, selected } = props;
  const lines = log.map.value?.lines ?? 0;
  // Redrawn when lines have arrived.
  void log.version.value;
  const area = useRef<HTMLElement>(null);
  const block = useRef<HTMLDivElement>(null);
  const scroller = useRef<Scroller | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const [view, setView] = useState({ top: 0, height: 0 });
  // Wrapped lines are measured before they become visible: one page above the end, where the last line is at the top.
  const spare = isWrapped ? 2 * Math.ceil(view.height / LINE_HEIGHT) : 16;
  const drawn = drawnLines(view.top, { lines, height: view.height }, spare);
  useLayoutEffect(() => {
    if (area.current === null || block.current === null) return;
    const onMoved = ({ top, height, direction, isAtEnd }: Movement) => {
      setView((before) => {
        const isSame = before.height === height && Math.floor(before.top) === Math.floor(top);
        return isSame ? before : { top, height };
      });
      const { isFollowing: wasFollowing, onFollow } = latest.current;
      if (direction < 0 && wasFollowing) onFollow(false);
      if (direction > 0 && !wasFollowing && isAtEnd) onFollow(true);
    };
    scroller.current = createScroller(area.current, block.current, onMoved);
    return scroller.current.close;
  }, []);
  useLayoutEffect(() => scroller.current?.drawn({ lines, first: drawn.first, isWrapped, isFollowing }));
  const revealed = useRef<Jump | null>(null);
  useLayoutEffect(() => {
    if (jump === null || lines === 0) return;
    scroller.current?.show(jump.line);
    // Skip the header of the run when a link selects lines.
    area.current?.scrollIntoView({ block: 'nearest' });
  }, [jump, lines > 0]);
  // The match of a long line can be far to the right; its position is known once the line has arrived.
  useLayoutEffect(() => {
    const match = area.current?.querySelector('.current .match');
    if (match == null || jump === null || revealed.current === jump || props.currentHit !== jump.line) return;
    revealed.current = jump;
    match.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  });
  useEffect(() => {
    if (view.height > 0) log.want(drawn.first, drawn.last);
  }, [log, drawn.first, drawn.last, view.height, lines]);
  const digits = Math.max(3, String(lines).length);
  const markOf = (line: number) => {
    if (selected !== null && line + 1 >= selected.from && line + 1 <= selected.to) return 'selected';
    if (line === props.currentHit) return 'current';
    return hits[hitFrom(hits, line)] === line ? 'hit' : null;
  };
  const onClick = (event: MouseEvent) => {
    const target = event.target instanceof Element ? event.target : null;
    const line = Number(target?.closest<HTMLElement>('.log-line')?.dataset['line']);
    const isNumber = target?.closest('.log-number') !== null;
    if (!(line > 0) || event.ctrlKey || event.metaKey || (!isNumber && !event.shiftKey)) return;
    if (target?.closest('a:not(.log-number), button') != null) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.shiftKey) getSelection()?.removeAllRanges();
    props.onSelect(line, event.shiftKey);
  };
  return (
    <div class="log-frame">
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: a line is selected by its link, too */}
      <section
        class={`log ${log.name.stream} ${isWrapped ? 'wrap' : ''}`}
        ref={area}
        tabIndex={0}
        aria-label={props.label}
        onClick={onClick}
      >
        <div class="log-space" style={{ height: `${scrollHeight(lines)}px`, '--digits': digits }}>
          <div class="log-window" style={{ height: `${Math.min(view.height, scrollHeight(lines))}px` }}>
            <div ref={block}>
              {Array.from({ length: Math.max(0, drawn.last - drawn.first) }, (_, index) => {
                const line = drawn.first + index;
                return (
                  <LogRow
                    key={line}
                    number={line + 1}
                    line={log.line(line)}
                    href={props.hrefOf(line + 1)}
                    mark={markOf(line)}
                    matcher={props.matcher}
                    onShowAll={() => void log.readWhole(line)}
                    time={showsLogTimes.value ? log.timeOf(line) : undefined}
                  />
                );
              })}
            </div>
          </div>
        </div>
      </section>
      <HitMarks hits={hits} lines={lines} />
    </div>
  );
}

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
function LogRow({ number, line, href, mark, matcher, onShowAll, time }: RowProps) {
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

/** The strip has this many rows; hits in the same row share one mark. */
const ROWS = 400;

/** The positions of the hits in the log, beside the scroll bar. */
function HitMarks({ hits, lines }: { hits: readonly number[]; lines: number }) {
  if (hits.length === 0 || lines === 0) return null;
  const rows = new Set(hits.map((line) => Math.floor((line / lines) * ROWS)));
  const path = Array.from(rows, (row) => `M0 ${row}h1v2h-1z`).join('');
  return (
    <svg class="hit-marks" viewBox={`0 0 1 ${ROWS + 2}`} preserveAspectRatio="none" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}
