import fc from 'fast-check';
import { expect, test } from 'vitest';
import { drawnLines, lastTop, MAX_HEIGHT, scrollHeight, scrollTopOf, topAt } from '#page/log/scroll-map.ts';

const room = (lines: number, height = 540) => ({ lines, height, isWrapped: false });

test('a short log scrolls pixel by pixel, a long one in proportion', () => {
  expect([scrollHeight(1000), scrollHeight(2_300_000)]).toEqual([18_000, MAX_HEIGHT]);
  expect([topAt(180, room(1000)), topAt(MAX_HEIGHT - 540, room(2_300_000))]).toEqual([10, 2_299_970]);
  expect([topAt(0, room(10)), lastTop(room(10))]).toEqual([0, 0]);
});

test('each line of a log has a position of the scroll bar that leads back to it', () => {
  fc.assert(
    fc.property(fc.integer({ min: 31, max: 5_000_000 }), fc.double({ min: 0, max: 1, noNaN: true }), (lines, part) => {
      const top = part * lastTop(room(lines));
      const scrollTop = scrollTopOf(top, room(lines));
      expect(scrollTop).toBeGreaterThanOrEqual(0);
      expect(scrollTop).toBeLessThanOrEqual(scrollHeight(lines) - 540);
      expect(Math.abs(topAt(scrollTop, room(lines)) - top)).toBeLessThan(0.001);
    }),
  );
});

test('few lines are drawn, and they change in steps', () => {
  expect(drawnLines(0, room(2_300_000), 16)).toEqual({ first: 0, last: 64 });
  expect(drawnLines(1_000_000.5, room(2_300_000), 16)).toEqual({ first: 999_984, last: 1_000_064 });
  expect(drawnLines(1_000_010, room(2_300_000), 16)).toEqual({ first: 999_984, last: 1_000_080 });
  expect(drawnLines(20, room(40), 16)).toEqual({ first: 0, last: 40 });
});
