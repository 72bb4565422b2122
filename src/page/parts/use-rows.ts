import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/** More rows than these are drawn only where they can be seen. */
const MAX_ROWS = 200;
const SPARE_ROWS = 20;

/** The rows of a long list that are drawn, by their positions. */
type Rows<Area> = {
  readonly area: RefObject<Area | null>;
  readonly first: number;
  /** The position after the last row. */
  readonly end: number;
  readonly onScroll: () => void;
};

/** Finds the rows that can be seen in an area that scrolls. All rows have the same height in pixels. */
export function useRows<Area extends HTMLElement>(count: number, rowHeight: number): Rows<Area> {
  const area = useRef<Area>(null);
  const seen = useSignal({ first: 0, end: MAX_ROWS });
  const onScroll = () => {
    if (area.current === null || count <= MAX_ROWS) return;
    const { scrollTop, clientHeight } = area.current;
    const first = Math.max(0, Math.floor(scrollTop / rowHeight / SPARE_ROWS) * SPARE_ROWS - SPARE_ROWS);
    const end = first + Math.ceil(clientHeight / rowHeight) + 3 * SPARE_ROWS;
    if (first !== seen.peek().first || end !== seen.peek().end) seen.value = { first, end };
  };
  useLayoutEffect(onScroll, [count]);
  if (count <= MAX_ROWS) return { area, first: 0, end: count, onScroll };
  return { area, first: Math.min(seen.value.first, count), end: Math.min(seen.value.end, count), onScroll };
}
