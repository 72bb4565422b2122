import { describe, expect, it } from 'vitest';
import { type Edge, type GraphLayout, layOutGraph } from '#run-view/graph/graph-layout.ts';
import fc from '../../support/fast-check.ts';

const size = { width: 100, height: 40 };

function layOut(count: number, edges: readonly Edge[]): GraphLayout {
  const layout = layOutGraph({ sizes: Array.from({ length: count }, () => size), edges });
  if (layout === null) throw new Error('it is not drawn');
  return layout;
}

describe('the layout of a graph', () => {
  it('puts a chain into one straight line', () => {
    const { boxes, isVertical } = layOut(3, [
      [0, 1],
      [1, 2],
    ]);

    expect(isVertical).toBe(false);
    expect(new Set(boxes.map(({ y }) => y)).size).toBe(1);
    expect(boxes.map(({ x }) => x)).toEqual([12, 168, 324]);
  });

  it('puts parallel steps in one column, with their common neighbours at half their height', () => {
    const { boxes } = layOut(4, [
      [0, 1],
      [0, 2],
      [1, 3],
      [2, 3],
    ]);

    expect(boxes.map(({ x }) => x)).toEqual([12, 168, 168, 324]);
    expect(boxes[0]?.y).toBe(boxes[3]?.y);
    expect((boxes[0]?.y ?? 0) * 2).toBe((boxes[1]?.y ?? 0) + (boxes[2]?.y ?? 0));
  });

  it('untangles edges that would cross', () => {
    const { bends } = layOut(4, [
      [0, 3],
      [1, 2],
    ]);

    expect(bends.every(({ y1, y2 }) => y1 === y2)).toBe(true);
  });

  it('turns a long chain downwards', () => {
    const { isVertical, boxes } = layOut(
      20,
      Array.from({ length: 19 }, (_, at): Edge => [at, at + 1]),
    );

    expect(isVertical).toBe(true);
    expect(new Set(boxes.map(({ x }) => x)).size).toBe(1);
  });

  it('of one step is one box', () => {
    expect(layOut(1, [])).toMatchObject({ boxes: [{ x: 12, y: 12 }], width: 124, height: 64, bends: [], ends: [] });
  });

  it('is null if the graph is too large to be readable', () => {
    const edges = Array.from({ length: 4000 }, (_, at): Edge[] => [
      [at, at + 1],
      [Math.max(0, at - 2000), at + 1],
    ]).flat();

    expect(layOutGraph({ sizes: Array.from({ length: 4001 }, () => size), edges })).toBeNull();
  });

  it('keeps boxes apart, within the picture, and after their dependencies', () => {
    fc.assert(
      fc.property(someEdges(), (edges) => {
        const { boxes, width, height, isVertical } = layOut(12, edges);
        for (const [index, box] of boxes.entries()) {
          expect(box.x >= 0 && box.y >= 0 && box.x + size.width <= width && box.y + size.height <= height).toBe(true);
          expect(boxes.slice(index + 1).some((other) => overlap(box, other))).toBe(false);
        }
        const along = (item: number) => (isVertical ? boxes[item]?.y : boxes[item]?.x) ?? 0;
        for (const [from, to] of edges) expect(along(from)).toBeLessThan(along(to));
      }),
    );
  });
});

function someEdges(): fc.Arbitrary<readonly Edge[]> {
  const edge = fc
    .tuple(fc.nat(10), fc.integer({ min: 1, max: 11 }))
    .map(([a, b]): Edge => (a < b ? [a, b] : [b, a + 1]));
  return fc
    .uniqueArray(edge, { selector: String, maxLength: 30 })
    .map((edges) => edges.filter(([from, to]) => from < to));
}

function overlap(a: { x: number; y: number }, b: { x: number; y: number }): boolean {
  return Math.abs(a.x - b.x) < size.width && Math.abs(a.y - b.y) < size.height;
}
