import { expect, test } from 'vitest';
import { RunList } from '#daemon/run-list.ts';
import type { RunLabel } from '#store/store.ts';

test('runs are grouped by file, newest first, whatever the order in which they are found', () => {
  const { list, runs, look } = world({ '05': '/a', '03': '/b', '01': '/a' });
  look();
  runs.set('06', '/a').set('04', '/a').set('02', '/b');
  expect(look()).toEqual({ fresh: ['06', '04', '02'], removed: [] });
  expect(groups(list)).toEqual({ '/a': ['06', '05', '04', '01'], '/b': ['03', '02'] });

  runs.set('07', '/b');
  expect(look()).toEqual({ fresh: ['07'], removed: [] });
  expect(groups(list)).toEqual({ '/a': ['06', '05', '04', '01'], '/b': ['07', '03', '02'] });
  expect(list.lastIds()).toEqual(['06', '07']);
});

test('removed runs leave their workflow, and a workflow without runs is forgotten', () => {
  const { list, runs, look } = world({ '04': '/a', '03': '/b', '02': '/a', '01': null });
  look();
  for (const runId of ['04', '03', '01']) runs.delete(runId);
  runs.set('05', '/a');
  const before = list.idsOf('/a', 100);

  expect(look()).toEqual({ fresh: ['05'], removed: ['04', '03', '01'] });

  expect(groups(list)).toEqual({ '/a': ['05', '02'] });
  expect(['05', '04', '01'].map((runId) => list.has(runId))).toEqual([true, false, false]);
  expect(before).toEqual(['04', '02']);
});

test('a run without its first event is read again for 5 s, and then belongs to no workflow', () => {
  const { list, runs, look, times } = world({ '01': '/a' });
  look();
  runs.set('02', 'unknown').set('03', 'unknown');
  times.set('02', 1000).set('03', 1000);
  expect(look(2000)).toEqual({ fresh: ['03', '02'], removed: [] });
  expect([list.has('02'), list.has('03')]).toEqual([false, false]);

  runs.set('02', '/a').set('04', '/a');
  expect(look(3000)).toEqual({ fresh: ['04', '03', '02'], removed: [] });
  expect(groups(list)).toEqual({ '/a': ['04', '02', '01'] });

  expect(look(6000)).toEqual({ fresh: ['03'], removed: [] });
  expect([list.has('03'), list.fileOf('03')]).toEqual([true, null]);
  expect(look(6000)).toBeNull();
});

test('all runs are listed and their labels read at the start, and later only those of new runs', () => {
  const many = Array.from({ length: 1000 }, (_, at): [string, string] => [`run-${1000 + at}`, '/a']);
  const { runs, look, calls } = world(Object.fromEntries(many));
  look();
  expect(calls.splice(0)).toEqual(['list', 'labels of 1000']);

  runs.set('run-2000', '/a').set('run-2001', '/b');
  look();

  expect(calls).toEqual(['label of run-2001', 'label of run-2000']);
});

function groups(list: RunList): Record<string, readonly string[]> {
  return Object.fromEntries(list.files().map((file) => [file, list.idsOf(file, 100)]));
}

/** Runs by id with the file of their workflow, sorted by id; `unknown`: the first event is missing. */
function world(initial: Readonly<Record<string, string | null>>) {
  const runs = new Map(Object.entries(initial));
  const times = new Map<string, number>();
  const calls: string[] = [];
  let now = 0;
  const labelOf = (runId: string): RunLabel | null => {
    const file = runs.get(runId);
    return file === undefined || file === 'unknown' ? null : { workflow: 'w', group: '', file };
  };
  const list = () => [...runs.keys()].toSorted().reverse();
  const runList = new RunList({
    archive: {
      list: () => {
        calls.push('list');
        return list();
      },
      listNew: (isKnown) => {
        const fresh = list().filter((runId) => !isKnown(runId));
        return { fresh, known: runs.size - fresh.length };
      },
      labels: (runIds) => {
        calls.push(`labels of ${runIds.length}`);
        return labelOf;
      },
      readLabel: (runId) => {
        calls.push(`label of ${runId}`);
        return labelOf(runId);
      },
      listStamp: () => null,
      timeOf: (runId) => times.get(runId) ?? Number.NEGATIVE_INFINITY,
    },
    clock: { now: () => now },
  });
  const look = (at = now) => {
    now = at;
    const listed = runList.read();
    if (listed === null) return null;
    runList.take(listed);
    const { fresh, removed } = listed;
    return { fresh, removed };
  };
  return { list: runList, runs, times, calls, look };
}
