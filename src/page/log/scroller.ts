import { isScaled, LINE_HEIGHT, lastTop, type Room, scrollTopOf, topAt } from './scroll-map.ts';

/** The drawn lines of the log; the block begins with `first`. */
export type Drawn = {
  readonly lines: number;
  readonly first: number;
  readonly isWrapped: boolean;
  readonly isFollowing: boolean;
};

/** Moves the drawn lines of a log: by the scroll bar, the wheel, keys and fingers. */
export type Scroller = {
  /** Call after each change of the drawn lines. */
  readonly drawn: (drawn: Drawn) => void;
  /** Scrolls to a line (from 0). */
  readonly show: (line: number) => void;
  readonly close: () => void;
};

/** The first visible line, the visible pixels, -1, 0 or 1 for the direction of the user, and whether the end is visible. */
export type Movement = {
  readonly top: number;
  readonly height: number;
  readonly direction: number;
  readonly isAtEnd: boolean;
};

/** A touch gesture is considered active for this time after its last movement, in milliseconds. */
const SETTLED_MS = 200;

/**
 * The position is a line and a fraction of its height, not a pixel: a long log has more pixels than a browser can
 * scroll, and wrapped lines are not measured before they are drawn. The scroll bar follows the position in proportion.
 */
export function createScroller(area: HTMLElement, block: HTMLElement, onMoved: (movement: Movement) => void): Scroller {
  let state: Drawn = { lines: 0, first: 0, isWrapped: false, isFollowing: false };
  let top = 0;
  /** The scroll position that corresponds to `top`. */
  let synced = 0;
  let isTouched = false;
  let settle: ReturnType<typeof setTimeout> | undefined;
  const room = (): Room => ({ lines: state.lines, height: area.clientHeight, isWrapped: state.isWrapped });
  /** Whether a pixel of the scroll bar differs from a pixel of the lines. */
  const isIndirect = () => state.isWrapped || isScaled(state.lines);
  const isAtEnd = () => top >= lastTop(room()) - 0.01;
  const report = (direction: number) => onMoved({ top, height: area.clientHeight, direction, isAtEnd: isAtEnd() });

  const row = (line: number) => block.children[line - state.first] as HTMLElement | undefined;
  /** The height of the block above the visible area, in pixels. */
  const hiddenPixels = () => {
    const line = Math.floor(top);
    if (!state.isWrapped) return (top - state.first) * LINE_HEIGHT;
    const isLastDrawn = state.first + block.children.length >= state.lines;
    const most = Math.max(0, block.offsetHeight - area.clientHeight);
    const element = row(line);
    const own = element === undefined ? 0 : element.offsetTop + (top - line) * element.offsetHeight;
    return isLastDrawn && (isAtEnd() || own > most) ? most : own;
  };
  const arrange = () => {
    block.style.transform = `translateY(${-Math.round(hiddenPixels())}px)`;
  };
  const sync = () => {
    area.scrollTop = scrollTopOf(top, room());
    synced = area.scrollTop;
  };
  const moveTo = (wanted: number, isByUser: boolean) => {
    const before = top;
    top = Math.min(lastTop(room()), Math.max(0, wanted));
    arrange();
    report(isByUser ? Math.sign(top - before) : 0);
  };
  /** The first visible line after the block moves by `pixels`; only drawn wrapped lines have a known height. */
  const topAfter = (pixels: number) => {
    if (!state.isWrapped) return top + pixels / LINE_HEIGHT;
    const wanted = hiddenPixels() + pixels;
    if (wanted >= block.offsetHeight - area.clientHeight && pixels > 0) {
      const end = state.first + block.children.length;
      return end >= state.lines ? lastTop(room()) : Math.max(top, end - 1);
    }
    for (let index = 0; index < block.children.length; index++) {
      const { offsetTop, offsetHeight } = block.children[index] as HTMLElement;
      if (offsetTop + offsetHeight > wanted) {
        return state.first + index + Math.max(0, (wanted - offsetTop) / offsetHeight);
      }
    }
    return top;
  };
  const moveBy = (pixels: number) => {
    moveTo(topAfter(pixels), true);
    sync();
  };

  const onScroll = () => {
    const delta = area.scrollTop - synced;
    if (delta === 0) return;
    synced = area.scrollTop;
    // A finger moves the lines themselves; the scroll bar follows afterwards.
    if (isTouched && isIndirect() && Math.abs(delta) < 2 * area.clientHeight) {
      moveTo(topAfter(delta), true);
      clearTimeout(settle);
      settle = setTimeout(sync, SETTLED_MS);
    } else {
      moveTo(topAt(area.scrollTop, room()), true);
    }
  };
  const onWheel = (event: WheelEvent) => {
    isTouched = false;
    if (!isIndirect() || event.ctrlKey || event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return;
    // At either end the surrounding page scrolls.
    if (event.deltaY < 0 ? top === 0 : isAtEnd()) return;
    event.preventDefault();
    moveBy(event.deltaY * ([1, LINE_HEIGHT, area.clientHeight][event.deltaMode] ?? 1));
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.target !== area || event.altKey || event.ctrlKey || event.metaKey) return;
    const page = area.clientHeight - LINE_HEIGHT;
    const pixels: Readonly<Record<string, number>> = {
      ArrowUp: -2 * LINE_HEIGHT,
      ArrowDown: 2 * LINE_HEIGHT,
      PageUp: -page,
      PageDown: page,
      ' ': event.shiftKey ? -page : page,
    };
    const move = pixels[event.key];
    if (move === undefined && event.key !== 'Home' && event.key !== 'End') return;
    event.preventDefault();
    if (move !== undefined) return moveBy(move);
    moveTo(event.key === 'Home' ? 0 : lastTop(room()), true);
    sync();
  };
  const resized = new ResizeObserver(() => {
    arrange();
    report(0);
  });
  const listening = new AbortController();
  const { signal } = listening;
  area.addEventListener('scroll', onScroll, { passive: true, signal });
  area.addEventListener('wheel', onWheel, { passive: false, signal });
  area.addEventListener('keydown', onKey, { signal });
  area.addEventListener('touchstart', () => (isTouched = true), { passive: true, signal });
  area.addEventListener('pointerdown', ({ pointerType }) => (isTouched = pointerType === 'touch'), { signal });
  resized.observe(area);

  return {
    drawn: (next) => {
      const isLonger = next.lines !== state.lines || next.isWrapped !== state.isWrapped;
      const begins = next.isFollowing && !state.isFollowing;
      state = next;
      top = next.isFollowing && (isLonger || begins) ? lastTop(room()) : Math.min(top, lastTop(room()));
      arrange();
      if (!isLonger && !begins) return;
      sync();
      report(0);
    },
    show: (line) => {
      const visible = area.clientHeight / LINE_HEIGHT;
      const isVisible = line >= top + 1 && line < top + visible - 2;
      if (!isVisible || state.isWrapped) moveTo(line - (state.isWrapped ? 2 : visible / 3), false);
      sync();
    },
    close: () => {
      clearTimeout(settle);
      resized.disconnect();
      listening.abort();
    },
  };
}
