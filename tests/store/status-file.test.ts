import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { FinishedStatus } from '#core/run/run.ts';
import { openStatuses } from '#store/files/listing/status-file.ts';
import { fileStore, snapshot, temporaryDirectory } from './world.ts';

/** Runs with journals, and their statuses as a reader remembers them. */
function world(statuses: Readonly<Record<string, FinishedStatus>>) {
  const runsDir = temporaryDirectory();
  const path = join(runsDir, '.statuses');
  const ids = Object.keys(statuses);
  for (const runId of ids) {
    mkdirSync(join(runsDir, runId));
    writeFileSync(join(runsDir, runId, 'journal.jsonl'), runId);
  }
  const read = (order = ids) => {
    const known = openStatuses(runsDir, ids);
    return Object.fromEntries(order.map((runId) => [runId, known.of(runId)]));
  };
  const keep = (runId: string, status: FinishedStatus) => {
    const known = openStatuses(runsDir, ids);
    known.of(runId);
    known.keep(runId, status, status === 'failed' ? null : 12.5);
    known.save();
  };
  for (const runId of ids) keep(runId, statuses[runId] ?? 'succeeded');
  return { runsDir, ids, path, read, keep };
}

const mixed = { c: 'failed', b: 'succeeded', a: 'failed' } as const;

test('statuses are found in any order', () => {
  const { read } = world(mixed);
  expect(read()).toEqual(mixed);
  expect(read(['a', 'c', 'b'])).toEqual(mixed);
  expect(read(['b', 'none', 'c'])).toEqual({ b: 'succeeded', none: null, c: 'failed' });
});

test('a duration is found with its status, and is unknown in lines without one', () => {
  const { runsDir, ids, path, read } = world(mixed);
  const durations = () => {
    const known = openStatuses(runsDir, ids);
    return ids.map((runId) => known.of(runId) && known.durationOf(runId));
  };
  expect(durations()).toEqual([null, 12.5, null]);
  const known = openStatuses(runsDir, ids);
  known.of('c');
  expect(known.durationOf('b')).toBeNull();
  utimesSync(join(runsDir, 'b', 'journal.jsonl'), 5, 5);
  expect(durations()).toEqual([null, null, null]);
  expect(readFileSync(path, 'utf8')).toContain('~12.5');
  expect(read()).toEqual({ ...mixed, b: null });
});

test('the last line of a run counts, even if an earlier one fits the journal', () => {
  const { runsDir, path, read, keep } = world(mixed);
  const journal = join(runsDir, 'b', 'journal.jsonl');
  utimesSync(journal, 5, 5);
  expect(read()).toEqual({ ...mixed, b: null });
  keep('b', 'failed');
  expect(read()).toEqual({ ...mixed, b: 'failed' });
  writeFileSync(path, readFileSync(path, 'utf8').split('\n').toReversed().join('\n').trimStart().concat('\n'));
  expect(read()).toEqual({ ...mixed, b: null });
});

test('a status is kept only for the run that was asked for last', () => {
  const { runsDir, ids, path, read } = world(mixed);
  writeFileSync(path, '');
  const known = openStatuses(runsDir, ids);
  known.keep('c', 'failed', null);
  known.of('c');
  known.of('b');
  known.keep('c', 'failed', null);
  known.keep('b', 'succeeded', 1);
  known.save();
  expect(read()).toEqual({ c: null, b: 'succeeded', a: null });
});

test('neither of two lines is believed if one was written into the other', () => {
  const { path, read } = world(mixed);
  const [one = '', other = ''] = readFileSync(path, 'utf8').split(/(?<=\n)/);
  for (let at = 1; at < one.length - 1; at += 1) {
    writeFileSync(path, one.slice(0, at) + other + one.slice(at));
    expect(read()).toEqual({ c: null, b: null, a: null });
  }
});

test('the duration of a run leaves out that the clock was set while it ran', async () => {
  const { store } = fileStore();
  const journal = store.create(snapshot('a'), { logDir: null });
  const warned = { type: 'run.warned', step: null, message: 'the clock was set' } as const;
  journal.append([
    { type: 'run.started', at: 10_000 },
    { ...warned, at: 2000, clockSetMs: -9000 },
    { type: 'run.finished', at: 5000, status: 'succeeded', reason: null, message: '' },
    { ...warned, at: 9000, clockSetMs: 4000 },
  ]);
  await journal.close();
  const statuses = store.statuses(['a']);
  expect([statuses.of('a'), statuses.durationOf('a')]).toEqual(['succeeded', 4000]);
});
