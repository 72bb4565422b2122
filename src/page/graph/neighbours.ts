import type { Box, DrawnGraph } from '#run-view/graph.ts';

/** The keys that move from one step to another. */
export type Arrow = 'ArrowRight' | 'ArrowLeft' | 'ArrowUp' | 'ArrowDown';

/** The step that an arrow key moves to: along the edges, or across them in the same layer; null: none. */
export function neighbourOf(
  { graph, layout }: DrawnGraph,
  boxes: readonly Box[],
  from: number,
  arrow: Arrow,
): number | null {
  const [after, before] = layout.isVertical ? ['ArrowDown', 'ArrowUp'] : ['ArrowRight', 'ArrowLeft'];
  if (arrow === after) return nearest(boxes, from, graph.dependents[from] ?? []);
  if (arrow === before) return nearest(boxes, from, graph.dependencies[from] ?? []);
  const isForward = arrow === 'ArrowDown' || arrow === 'ArrowRight';
  const [along, across] = layout.isVertical ? (['y', 'x'] as const) : (['x', 'y'] as const);
  const own = boxes[from];
  if (own === undefined) return null;
  const beside = boxes.flatMap((box, step) => {
    const isBeyond = isForward ? box[across] > own[across] : box[across] < own[across];
    return box[along] === own[along] && isBeyond ? [step] : [];
  });
  return nearest(boxes, from, beside);
}

function nearest(boxes: readonly Box[], from: number, steps: readonly number[]): number | null {
  const own = boxes[from];
  let found: number | null = null;
  let shortest = Number.POSITIVE_INFINITY;
  for (const step of steps) {
    const box = boxes[step];
    if (own === undefined || box === undefined) continue;
    const distance = Math.hypot(box.x - own.x, box.y - own.y);
    if (distance < shortest) [found, shortest] = [step, distance];
  }
  return found;
}
