import { expect, test } from 'vitest';
import { drawing, fitName, graphItems, nameWidth } from '#run-view/graph/graph-items.ts';

/** The width of the box of a step with this name. */
function boxWidth(name: string): number | undefined {
  const graph = { stepCount: 1, dependencies: [[]], dependents: [[]] };
  return graphItems(graph, [{ name, detail: '' }]).items[0]?.width;
}

test('a box is as wide as its name needs, up to a limit', () => {
  const widths = ['extract_orders', 'IIIIIIIIIIIIII', 'EXTRACT_ORDERS', 'WWWWWWWWWWWWWW', '抽出抽出抽出抽'].map(
    boxWidth,
  );
  expect(widths).toEqual([149, 149, 177, 226, 149]);
  expect(boxWidth('M'.repeat(100))).toBe(drawing.icon + 195 + 10);
  for (const name of ['extract_orders', 'EXTRACT_ORDERS', 'WWWWWWWWWWWWWW', '抽出抽出抽出抽', '🚀🚀🚀']) {
    expect(fitName(name, (boxWidth(name) ?? 0) - drawing.icon)).toBe(name);
  }
});

test('a name is cut between characters to the width that it has', () => {
  expect(fitName('M'.repeat(100), 195)).toBe(`${'M'.repeat(13)}…`);
  expect(fitName('i'.repeat(30), 195)).toBe('i'.repeat(30));
  expect(fitName('👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧', 40)).toBe('👩‍👩‍👧…');
  expect(fitName('name', 4)).toBe('…');
  expect(fitName('a\u0007b', 100)).not.toContain('\u0007');
  expect(nameWidth('')).toBe(0);
});
