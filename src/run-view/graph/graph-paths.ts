import type { GraphLayout } from './graph-layout.ts';

type Pieces = Pick<GraphLayout, 'bends' | 'straights' | 'isVertical'>;

/** Edges as one SVG path: they leave and enter boxes in the direction of the drawing. */
export function edgePath({ bends, straights, isVertical }: Pieces): string {
  const curves = bends.map(({ x1, y1, x2, y2 }) => {
    const [a, b] = isVertical
      ? [`${x1} ${(y1 + y2) / 2}`, `${x2} ${(y1 + y2) / 2}`]
      : [`${(x1 + x2) / 2} ${y1}`, `${(x1 + x2) / 2} ${y2}`];
    return `M${x1} ${y1}C${a} ${b} ${x2} ${y2}`;
  });
  return [...curves, ...straights.map(({ x1, y1, x2, y2 }) => `M${x1} ${y1}L${x2} ${y2}`)].join('');
}

/** The arrowheads of all edges as one SVG path. */
export function arrowPath({ ends, isVertical }: GraphLayout): string {
  const arrows = ends.map(({ x, y }) => `M${x} ${y}${isVertical ? 'l-4 -7h8z' : 'l-7 -4v8z'}`);
  return [...new Set(arrows)].join('');
}

/** Returns the pieces of the edges between boxes for which `isWanted` holds. */
export function edgesBetween(layout: GraphLayout, isWanted: (from: number, to: number) => boolean): Pieces {
  const { links, starts, boxes } = layout;
  const arriving = new Map(links.flatMap(([from, to], index) => (to < boxes.length ? [] : [[to, { from, index }]])));
  const bends = new Set<number>();
  const passed = new Set<number>();
  links.forEach(([start, to], link) => {
    if (to >= boxes.length) return;
    // Points form a chain from the box where their edges begin.
    const chain = [{ from: start, index: link }];
    for (let at = arriving.get(start); at !== undefined; at = arriving.get(at.from)) chain.push(at);
    if (!isWanted(chain.at(-1)?.from ?? start, to)) return;
    for (const { from, index } of chain) {
      bends.add(index);
      passed.add(from);
    }
  });
  return {
    isVertical: layout.isVertical,
    bends: layout.bends.filter((_, index) => bends.has(index)),
    straights: layout.straights.filter((_, index) => passed.has(starts[index] ?? -1)),
  };
}
