/** As in the style sheet, in pixels. */
export const LINE_HEIGHT = 18;
/** Browsers limit the height of an element, Chromium to 33 million pixels. Longer logs scroll in proportion. */
export const MAX_HEIGHT = 8_000_000;

/** The number of lines, the height of the visible area in pixels, and whether line heights can differ. */
export type Room = { readonly lines: number; readonly height: number; readonly isWrapped: boolean };

/** The height of the scrolled content, in pixels. */
export function scrollHeight(lines: number): number {
  return Math.min(lines * LINE_HEIGHT, MAX_HEIGHT);
}

/** Whether a pixel of the scroll bar is more than a pixel of the lines. */
export function isScaled(lines: number): boolean {
  return lines * LINE_HEIGHT > MAX_HEIGHT;
}

/** The highest possible first visible line, with its hidden fraction; a wrapped line can fill the area alone. */
export function lastTop({ lines, height, isWrapped }: Room): number {
  return Math.max(0, lines - (isWrapped ? 1 : height / LINE_HEIGHT));
}

/** The first visible line at a scroll position, with its hidden fraction. */
export function topAt(scrollTop: number, room: Room): number {
  const range = scrollHeight(room.lines) - room.height;
  return range <= 0 ? 0 : Math.min(1, Math.max(0, scrollTop / range)) * lastTop(room);
}

/** The scroll position at which a line is the first visible one. */
export function scrollTopOf(top: number, room: Room): number {
  const most = lastTop(room);
  return most === 0 ? 0 : (top / most) * (scrollHeight(room.lines) - room.height);
}

/** The lines to draw, with `last` exclusive; the range changes in steps, so that most movements redraw nothing. */
export function drawnLines(
  top: number,
  { lines, height }: Omit<Room, 'isWrapped'>,
  spare: number,
): { first: number; last: number } {
  const step = 16;
  const first = Math.max(0, Math.floor((Math.floor(top) - spare) / step) * step);
  const end = Math.ceil((Math.floor(top) + height / LINE_HEIGHT + spare) / step + 1) * step;
  return { first, last: Math.min(lines, end) };
}
