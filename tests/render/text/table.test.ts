import { expect, test } from 'vitest';
import { renderTable } from '#render/text/table.ts';
import { textWidth } from '#render/text/width.ts';

const rows = [
  ['RUN', 'WORKFLOW', 'QUEUE', ''],
  ['01997c3e', 'nightly-etl-of-the-warehouse', 'big', 'load: exit 3; approve: wf approve 01997c3e ship'],
  ['01997c3f', 'etl', '', 'short'],
].map((row) => row.map((text) => ({ text, paint: String })));

const render = (columns: number) => renderTable(rows, { optional: [2], columns });

test('a table that fits is not changed', () => {
  expect(render(Number.POSITIVE_INFINITY)).toBe(render(95));
  expect(render(95)).toContain('01997c3e  nightly-etl-of-the-warehouse  big    load: exit 3; approve: wf');
});

test('a last column that does not fit stands below its row, and wide cells are cut', () => {
  expect(render(60)).toBe(`RUN       WORKFLOW                      QUEUE
01997c3e  nightly-etl-of-the-warehouse  big
    load: exit 3; approve: wf approve 01997c3e ship
01997c3f  etl                                  short
`);
  expect(render(30)).toBe(`RUN       WORKFLOW
01997c3e  nightly-etl-of-th...
    load: exit 3; approve: wf
    approve 01997c3e ship
01997c3f  etl
    short
`);
});

test('spare columns are left out if there is no room', () => {
  const cells = (row: readonly string[]) => row.map((text) => ({ text, paint: String }));
  const wide = [cells(['RUN', 'TIME', 'STATUS', '']), cells(['01997c3e', '12s', 'succeeded', ''])];
  expect(renderTable(wide, { optional: [], spare: [1], columns: 30 })).toContain('01997c3e  12s   succeeded\n');
  expect(renderTable(wide, { optional: [], spare: [1], columns: 22 })).toContain('01997c3e  succeeded\n');
});

test.each([80, 60, 40, 20, 14])('no line is wider than a terminal of %d columns', (columns) => {
  expect(Math.max(...render(columns).split('\n').map(textWidth))).toBeLessThanOrEqual(columns);
});
