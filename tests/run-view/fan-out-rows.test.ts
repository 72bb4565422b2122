import { expect, it } from 'vitest';
import type { StepView } from '#run-view/api/types.ts';
import { graphItems } from '#run-view/graph/graph-items.ts';
import { countedName, type Instance, progressText, shownInstance, unfolded } from '#run-view/texts.ts';
import { timelineRows } from '#run-view/timeline.tsx';

function step(name: string, rest: Partial<StepView> = {}): StepView {
  const times = { startedAt: null, finishedAt: null, durationMs: null };
  const state = { status: 'pending', reason: null, error: null, exitCode: null, signal: null, log: null } as const;
  return { name, ...state, ...times, attempts: 0, outputs: {}, maskedOutputs: [], kept: false, history: [], ...rest };
}

function instance(key: string, index: number, rest: Partial<Instance> = {}): Instance {
  const { maskedOutputs: _, kept: __, history: ___, ...own } = step(`ship[${key}]`);
  return { ...own, key, index, item: key, ...rest } as Instance;
}

const ran = (from: number, to: number) => ({
  startedAt: new Date(from).toISOString(),
  finishedAt: new Date(to).toISOString(),
  attempts: 1,
});
const items = [
  instance('eu', 0, { status: 'succeeded', ...ran(1000, 2000) }),
  instance('us', 1, { status: 'failed', ...ran(1000, 3000) }),
  instance('asia', 2),
];
const ship = step('ship', { status: 'running', items, startedAt: new Date(1000).toISOString() });

it('a fan-out is one step with a count and its progress', () => {
  expect([countedName(ship), progressText(items), countedName(step('one'))]).toEqual(['ship x3', '2/3', 'one']);
});

it('the instances of an unfolded fan-out follow it', () => {
  const names = (of: readonly string[]) =>
    unfolded([step('a'), ship, step('b')], new Set(of)).map((row) => row.step.name);
  expect(names([])).toEqual(['a', 'ship', 'b']);
  expect(names(['ship'])).toEqual(['a', 'ship', 'ship[eu]', 'ship[us]', 'ship[asia]', 'b']);
});

it('the first failed instance is shown unless another is selected', () => {
  expect(shownInstance(items, undefined)?.key).toBe('us');
  expect(shownInstance(items, 'asia')?.key).toBe('asia');
  expect(shownInstance(items, 'gone')?.key).toBe('us');
});

it('a timeline has a bar for a fan-out and rows for its started instances', () => {
  const run = { startedAt: new Date(0).toISOString() };
  const rows = timelineRows({ run, steps: [ship, step('b')], handlers: [], graph: null }, new Set(['ship']));
  expect(rows.map((row) => [row.step.name, row.of])).toEqual([
    ['ship', null],
    ['ship[eu]', 'ship'],
    ['ship[us]', 'ship'],
  ]);
});

it('a graph keeps a fan-out out of blocks and makes room for its instances', () => {
  const count = 9;
  const none = Array.from({ length: count }, () => []);
  const labels = Array.from({ length: count }, (_, at) => ({ name: `s${at}`, detail: '' }));
  const fanOut = { name: 'ship x3', detail: '', room: 28 };
  const draw = (instances: object) =>
    graphItems({ stepCount: count, dependencies: none, dependents: none }, [
      { ...fanOut, ...instances },
      ...labels.slice(1),
    ]).items;
  const [folded, block] = draw({});
  expect([folded?.nodes, folded?.instances, block?.nodes.length]).toEqual([[0], undefined, 8]);
  const [open] = draw({ instances: items.map(({ key }) => ({ name: key, detail: '' })) });
  expect(open?.instances).toMatchObject({ isNamed: true, columns: 1 });
  expect(open?.height).toBeGreaterThan((folded?.height ?? 0) + 3 * 26);
});
