import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';

/** Lets a scrolled area be dragged with the mouse. Fingers scroll it by themselves. */
export function usePan(area: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const start = (event: PointerEvent) => {
      const element = area.current;
      if (element === null || !(event.target instanceof Node) || !element.contains(event.target)) return;
      if (event.pointerType !== 'mouse' || event.button !== 0 || isLink(event.target)) return;
      const from = { x: event.clientX + element.scrollLeft, y: event.clientY + element.scrollTop };
      const move = (moved: PointerEvent) => element.scrollTo(from.x - moved.clientX, from.y - moved.clientY);
      const end = () => {
        removeEventListener('pointermove', move);
        removeEventListener('pointerup', end);
      };
      addEventListener('pointermove', move);
      addEventListener('pointerup', end);
    };
    addEventListener('pointerdown', start);
    return () => removeEventListener('pointerdown', start);
  }, [area]);
}

function isLink(target: Node): boolean {
  return target instanceof Element && target.closest('a') !== null;
}
