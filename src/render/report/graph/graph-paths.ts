import type { GraphLayout } from './graph-layout.ts';

/** All edges as one SVG path: they leave a box and arrive at one in the direction of the drawing. */
export function edgePath({ bends, straights, isVertical }: GraphLayout): string {
  const curves = bends.map(({ x1, y1, x2, y2 }) => {
    const [a, b] = isVertical
      ? [`${x1} ${(y1 + y2) / 2}`, `${x2} ${(y1 + y2) / 2}`]
      : [`${(x1 + x2) / 2} ${y1}`, `${(x1 + x2) / 2} ${y2}`];
    return `M${x1} ${y1}C${a} ${b} ${x2} ${y2}`;
  });
  return [...curves, ...straights.map(({ x1, y1, x2, y2 }) => `M${x1} ${y1}L${x2} ${y2}`)].join('');
}

/** The heads of all edges as one SVG path. */
export function arrowPath({ ends, isVertical }: GraphLayout): string {
  const arrows = ends.map(({ x, y }) => `M${x} ${y}${isVertical ? 'l-4 -7h8z' : 'l-7 -4v8z'}`);
  return [...new Set(arrows)].join('');
}
