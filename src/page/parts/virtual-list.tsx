import type { JSX, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Shorter lists are drawn as a whole. */
const MAX_WHOLE_ROWS = 200;
/** Rows drawn above and below the visible ones. */
const SPARE_ROWS = 20;

/** The rows to draw, with `last` exclusive, and the height of those before and after them, in pixels. */
export type DrawnRows = {
  readonly first: number;
  readonly last: number;
  readonly before: number;
  readonly after: number;
};

/** The rows of a long list to draw. Their height in pixels is `rowHeight`, or that of an element with `data-row`. */
export function useDrawnRows(
  list: RefObject<HTMLElement | null>,
  count: number,
  rowHeight: number | null = null,
): DrawnRows {
  const [view, setView] = useState({ first: 0, visible: 40, height: 0 });
  const isWhole = count <= MAX_WHOLE_ROWS;
  useLayoutEffect(() => {
    if (isWhole) return;
    const look = () => {
      const element = list.current;
      const height = rowHeight ?? element?.querySelector<HTMLElement>('[data-row]')?.offsetHeight ?? 0;
      if (element === null || height === 0) return;
      const above = element.scrollTop + Math.max(0, -element.getBoundingClientRect().top);
      // Changes in steps, so that most movements redraw nothing.
      const first = Math.max(0, Math.floor(above / height / 10) * 10 - SPARE_ROWS);
      const visible = Math.ceil(Math.min(innerHeight, element.clientHeight) / height) + 10;
      setView((known) =>
        known.first === first && known.visible === visible && known.height === height
          ? known
          : { first, visible, height },
      );
    };
    look();
    // Scroll events do not bubble, so they are caught in the capture phase.
    document.addEventListener('scroll', look, { capture: true, passive: true });
    addEventListener('resize', look);
    return () => {
      document.removeEventListener('scroll', look, { capture: true });
      removeEventListener('resize', look);
    };
  }, [isWhole, list, rowHeight]);
  if (isWhole) return { first: 0, last: count, before: 0, after: 0 };
  const first = Math.min(view.first, Math.max(0, count - 1));
  const last = Math.min(count, view.first + view.visible + 2 * SPARE_ROWS);
  return { first, last, before: first * view.height, after: (count - last) * view.height };
}

/** Attributes of a row element: its number for screen readers, since not all rows are in the document. */
export type RowAttributes = {
  readonly 'data-row': number;
  readonly 'aria-posinset': number;
  /** -1: unknown. */
  readonly 'aria-setsize': number;
};

type ListProps = {
  readonly count: number;
  readonly hasMore?: boolean;
  readonly label: string;
  readonly class: string;
  readonly row: (index: number, attributes: RowAttributes) => JSX.Element;
  /** Called before the last rows become visible. */
  readonly onEnd?: () => void;
};

/** A list of any length; only visible rows are in the document. */
export function VirtualList({ count, hasMore = false, label, row, onEnd, ...props }: ListProps) {
  const list = useRef<HTMLUListElement>(null);
  const { first, last, before, after } = useDrawnRows(list, count);
  return (
    <>
      <ul
        ref={list}
        class={props.class}
        aria-label={label}
        style={{ paddingTop: `${before}px`, paddingBottom: `${after}px` }}
      >
        {Array.from({ length: Math.max(0, last - first) }, (_, index) =>
          row(first + index, {
            'data-row': first + index,
            'aria-posinset': first + index + 1,
            'aria-setsize': hasMore ? -1 : count,
          }),
        )}
      </ul>
      {hasMore && onEnd && <ListEnd count={count} onEnd={onEnd} />}
    </>
  );
}

/** The end of the loaded rows; the next page is loaded when it is less than a screen away. */
function ListEnd({ count, onEnd }: { count: number; onEnd: () => void }) {
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && onEnd(), {
      rootMargin: '0px 0px 100% 0px',
    });
    if (end.current !== null) observer.observe(end.current);
    return () => observer.disconnect();
  }, [count, onEnd]);
  return <div ref={end} />;
}
