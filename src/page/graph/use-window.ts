import { type ReadonlySignal, useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Box } from '#run-view/graph.ts';
import type { Zoom } from './zoom.ts';

/** In pixels of the screen: the area moves in whole steps, so that most scrolling redraws nothing. */
const STEP = 400;

/** The visible area of a drawing, in its pixels, with a margin. */
type SeenPart = Box & { readonly scale: number };

/** Tracks the visible area of a drawing. */
export function useWindow(
  area: RefObject<HTMLElement | null>,
  zoom: RefObject<Zoom | null>,
  drawn: unknown,
): { readonly window: ReadonlySignal<SeenPart>; readonly measure: () => void; readonly measureSoon: () => void } {
  const window = useSignal<SeenPart>({ x: 0, y: 0, width: 0, height: 0, scale: 1 });
  const frame = useRef(0);
  const measure = () => {
    if (area.current === null || zoom.current === null) return;
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = area.current;
    const scale = zoom.current.scale();
    const [left, top] = [Math.floor(scrollLeft / STEP) * STEP, Math.floor(scrollTop / STEP) * STEP];
    const part = {
      x: (left - STEP) / scale,
      y: (top - STEP) / scale,
      width: (clientWidth + 3 * STEP) / scale,
      height: (clientHeight + 3 * STEP) / scale,
      scale,
    };
    const shown = window.peek();
    if (part.x !== shown.x || part.y !== shown.y || part.width !== shown.width || part.scale !== shown.scale)
      window.value = part;
  };
  const measureSoon = () => {
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(measure);
  };
  useEffect(() => {
    addEventListener('resize', measureSoon);
    return () => {
      removeEventListener('resize', measureSoon);
      cancelAnimationFrame(frame.current);
    };
  }, [drawn]);
  return { window, measure, measureSoon };
}
