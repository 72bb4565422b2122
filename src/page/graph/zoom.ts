/** A drawing in a scrollable area. */
export type Zoom = {
  readonly scale: () => number;
  /** Changes the scale; the given point of the window, by default its centre, stays in place. */
  readonly zoomTo: (scale: number, at?: Point) => void;
  /** Shows the whole drawing. */
  readonly fit: () => void;
};

type Point = { readonly x: number; readonly y: number };
type Size = { readonly width: number; readonly height: number };

const SMALLEST = 0.005;
const LARGEST = 3;
/** The smallest scale at which names are legible. */
const READABLE = 0.6;

/**
 * Supports dragging the drawing, panning it with two fingers, and zooming by pinch or by Ctrl and the wheel, until the
 * signal is aborted. The wheel and the arrow keys scroll it as usual; one finger scrolls the page.
 */
export function zoomable(area: HTMLElement, svg: SVGSVGElement, size: Size, signal: AbortSignal): Zoom {
  let scale = 1;
  const zoomTo = (wanted: number, { x, y } = middleOf(area)) => {
    const before = svg.getBoundingClientRect();
    const [left, top] = [(x - before.left) / scale, (y - before.top) / scale];
    scale = Math.min(LARGEST, Math.max(SMALLEST, wanted));
    Object.assign(svg.style, {
      minWidth: 0,
      maxWidth: 'none',
      width: `${size.width * scale}px`,
      height: `${size.height * scale}px`,
    });
    const after = svg.getBoundingClientRect();
    area.scrollBy(after.left + left * scale - x, after.top + top * scale - y);
  };
  const listen = <Name extends keyof HTMLElementEventMap>(
    name: Name,
    handle: (event: HTMLElementEventMap[Name]) => void,
  ) => area.addEventListener(name, handle, { signal, passive: false });
  listen('pointerdown', (event) => {
    const isLink = (event.target as Element).closest('a') !== null;
    if (event.pointerType !== 'mouse' || event.button !== 0 || isLink) return;
    const [x, y] = [event.clientX + area.scrollLeft, event.clientY + area.scrollTop];
    const drag = new AbortController();
    const move = (moved: PointerEvent) => area.scrollTo(x - moved.clientX, y - moved.clientY);
    addEventListener('pointermove', move, drag);
    addEventListener('pointerup', () => drag.abort(), drag);
  });
  listen('wheel', (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoomTo(scale * Math.exp(-event.deltaY / 300), { x: event.clientX, y: event.clientY });
  });
  let last: (Point & { readonly apart: number }) | null = null;
  listen('touchmove', (event) => {
    const now = fingers(event);
    if (now !== null) event.preventDefault();
    if (now !== null && last !== null) {
      area.scrollBy(last.x - now.x, last.y - now.y);
      zoomTo((scale * now.apart) / last.apart, now);
    }
    last = now;
  });
  listen('touchend', () => {
    last = null;
  });
  return { scale: () => scale, zoomTo, fit: () => zoomTo(fittingScale(area, size)) };
}

/** The scale at which a drawing fits into its area, at most 1. */
export function fittingScale(area: HTMLElement, { width, height }: Size): number {
  const room = Number.parseFloat(getComputedStyle(area).maxHeight) || area.clientHeight;
  return Math.min(1, (area.clientWidth - 16) / width, (room - 16) / height);
}

/** Like `fittingScale`, but not below the scale at which names are legible. */
export function readableScale(area: HTMLElement, size: Size): number {
  return Math.max(READABLE, fittingScale(area, size));
}

/** Scrolls to an area of a drawing. */
export function showPart(area: HTMLElement, svg: SVGSVGElement, part: Point & Size, scale: number): void {
  const [frame, shown] = [svg.getBoundingClientRect(), area.getBoundingClientRect()];
  const [left, top] = [frame.left - shown.left + part.x * scale, frame.top - shown.top + part.y * scale];
  const [width, height] = [part.width * scale, part.height * scale];
  const isOutside = (start: number, size: number, room: number) => start < 0 || start + size > room;
  area.scrollBy(
    isOutside(left, width, shown.width) ? left - (shown.width - width) / 2 : 0,
    isOutside(top, height, shown.height) ? top - (shown.height - height) / 2 : 0,
  );
}

function middleOf(area: HTMLElement): Point {
  const { left, top } = area.getBoundingClientRect();
  return { x: left + area.clientWidth / 2, y: top + area.clientHeight / 2 };
}

/** The centre and the distance of two fingers. */
function fingers({ touches: [a, b] }: TouchEvent): (Point & { readonly apart: number }) | null {
  if (a === undefined || b === undefined) return null;
  const apart = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
  return { x: (a.clientX + b.clientX) / 2, y: (a.clientY + b.clientY) / 2, apart: Math.max(1, apart) };
}
