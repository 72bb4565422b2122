import type { JSX, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Shorter lists are drawn whole. */
const MAX_WHOLE_ROWS = 200;
/** Rows drawn above and below what can be seen. */
const SPARE_ROWS = 20;

/** The rows to draw, up to before `last`, and the pixels of those before and after them. */
export type DrawnRows = {
  readonly first: number;
  readonly last: number;
  readonly before: number;
  readonly after: number;
};

/**
 * Which rows of a long list are drawn, while the list, a part of the page around it or the page scrolls. Rows have one
 * height in pixels; null: that of an element with the attribute `data-row`.
 */
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
      // In steps, so that most movements draw nothing.
      const first = Math.max(0, Math.floor(above / height / 10) * 10 - SPARE_ROWS);
      const visible = Math.ceil(Math.min(innerHeight, element.clientHeight) / height) + 10;
      setView((known) =>
        known.first === first && known.visible === visible && known.height === height
          ? known
          : { first, visible, height },
      );
    };
    look();
    // Scroll events do not bubble, so they are caught on their way down.
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

/** What the element of a row gets: its number for screen readers, which do not see the rows that are not drawn. */
export type RowAttributes = {
  readonly 'data-row': number;
  readonly 'aria-posinset': number;
  /** -1: not known. */
  readonly 'aria-setsize': number;
};

type ListProps = {
  readonly count: number;
  /** Whether rows can follow that are not known. */
  readonly hasMore?: boolean;
  readonly label: string;
  readonly class: string;
  readonly row: (index: number, attributes: RowAttributes) => JSX.Element;
  /** Called when the last rows are about to be seen. */
  readonly onEnd?: () => void;
};

/** A list of any length, of which the rows that can be seen are in the document. */
export function VirtualList({ count, hasMore = false, label, row, onEnd, ...props }: ListProps): JSX.Element {
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

/** The end of what is known of a list; another part is read when it is less than a screen away. */
function ListEnd({ count, onEnd }: { count: number; onEnd: () => void }): JSX.Element {
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
