import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { Owner, RunEvent } from '#core/run/run.ts';
import { identify } from '#processes/process-identity.ts';
import { keepingReader, readPastRun } from '#service/history/past-run.ts';
import { createFileStore } from '#store/files/file-store.ts';
import { temporaryDirectory } from '../../store/world.ts';
import { step, workflow } from '../../support/workflow.ts';

const owner: Owner = { pid: process.pid, startTime: 7, boot: null, host: 'here' };
const steps = ['a', 'b', 'c'];

function created(runId: string): RunEvent {
  const name = { workflow: 'w', group: '', file: '/w.yaml' };
  return { type: 'run.created', at: 1, runId, ...name, trigger: 'cli', retryOf: null, params: [] };
}

function attempt(name: string): readonly RunEvent[] {
  const end = { reason: null, message: '', exitCode: 0, signal: null, outputs: {} };
  return [
    { type: 'step.scheduled', at: 3, step: name, attempt: 1 },
    { type: 'step.started', at: 4, step: name, attempt: 1, process: null },
    { type: 'step.finished', at: 5, step: name, attempt: 1, status: 'succeeded', ...end },
  ];
}

function world(maxEvents?: number) {
  const runsDir = join(temporaryDirectory(), 'runs');
  const store = createFileStore({ runsDir, identify, isAlive: () => true });
  const create = (runId: string) => {
    const snapshot = { runId, workflow: workflow({ name: 'w', file: '/w.yaml', steps: steps.map((s) => step(s)) }) };
    const journal = store.create({ ...snapshot, sources: [] }, { logDir: null });
    journal.append([created(runId), { type: 'run.owned', at: 2, owner }, { type: 'run.started', at: 2 }]);
    return journal;
  };
  const read = keepingReader(store, maxEvents);
  /** Expects the same of both readers, without their functions. */
  const compare = (runId: string) => {
    const plain = readPastRun(store, runId);
    expect(JSON.stringify(read(runId))).toBe(JSON.stringify(plain));
    return plain;
  };
  return { store, create, read, compare, path: (runId: string) => join(runsDir, runId, 'journal.jsonl') };
}

test('each read has the events since the one before, and an unchanged run is the same object', () => {
  const { create, read, compare } = world();
  const journal = create('r1');
  compare('r1');
  for (const name of steps) {
    journal.append(attempt(name));
    expect(compare('r1')?.state.counts.succeeded).toBe(steps.indexOf(name) + 1);
  }
  expect(read('r1')).toBe(read('r1'));
});

test('only new lines are decoded', () => {
  const { create, read } = world();
  const journal = create('r1');
  read('r1');
  journal.append(attempt('a'));
  const parse = vi.spyOn(JSON, 'parse');
  read('r1');
  expect(parse).toHaveBeenCalledTimes(3);
  read('r1');
  expect(parse).toHaveBeenCalledTimes(3);
});

test('a partial line is left for the next read', () => {
  const { create, read, compare, path } = world();
  const journal = create('r1');
  journal.append(attempt('a'));
  const whole = readFileSync(path('r1'));
  truncateSync(path('r1'), whole.length - 10);
  expect(compare('r1')?.state.counts.succeeded).toBe(0);
  appendFileSync(path('r1'), whole.subarray(-10));
  expect(compare('r1')?.state.counts.succeeded).toBe(1);
  expect(read('r1')?.damage).toEqual([]);
});

test('a journal whose last lines were replaced is read as a whole', () => {
  const { create, compare, path } = world();
  const journal = create('r1');
  const before = readFileSync(path('r1'));
  journal.append(attempt('a'));
  compare('r1');
  const other = create('r2');
  other.append([...attempt('b'), ...attempt('c')]);
  const lines = readFileSync(path('r2')).subarray(readFileSync(path('r2')).indexOf('{"crc"', before.length - 4));
  writeFileSync(path('r1'), Buffer.concat([before, lines]));
  expect(
    compare('r1')
      ?.state.nodes.chunks.flat()
      .map(({ status }) => status),
  ).toEqual(['pending', 'succeeded', 'succeeded']);
});

test('damage is reported when it comes', () => {
  const { create, read, compare, path } = world();
  create('r1');
  compare('r1');
  appendFileSync(path('r1'), 'nothing\nof this\n');
  expect(compare('r1')?.damage).toEqual([expect.stringContaining('Line 4 of')]);
  expect(read('r1')?.damage).toHaveLength(1);
});

test('a run that was removed is gone', async () => {
  const { store, create, read } = world();
  const journal = create('r1');
  journal.append([{ type: 'run.finished', at: 9, status: 'succeeded', reason: null, message: '' }]);
  await journal.close();
  expect(read('r1')?.state.status).toBe('succeeded');
  await store.remove('r1', () => true);
  expect(read('r1')).toBeNull();
});

test('the runs read last are kept up to a total number of events', () => {
  const { create, read } = world(207);
  for (const runId of ['r1', 'r2', 'r3']) create(runId);
  const first = read('r1');
  const second = read('r2');
  expect(read('r1')).toBe(first);
  const third = read('r3');
  expect([read('r1') === first, read('r3') === third]).toEqual([true, true]);
  expect(read('r2')).not.toBe(second);
  const { create: createOther, read: readOther } = world(105);
  createOther('r4').append(attempt('a'));
  expect(readOther('r4')).not.toBe(readOther('r4'));
});
