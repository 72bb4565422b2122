import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { FileStore } from '#store/files/file-store.ts';
import type { RunLabel } from '#store/store.ts';
import fc from '../support/fast-check.ts';
import { workflow } from '../support/workflow.ts';
import { buildProgram, start } from './program.ts';
import { fileStore } from './world.ts';

/** Creates a closed run of a workflow, with the usual first event. */
async function makeRun(store: FileStore, runId: string, name: string): Promise<void> {
  const made = workflow({ name, group: 'g', file: `/dags/g/${name}.yaml` });
  const run = store.create({ runId, workflow: made, sources: [] }, { logDir: null });
  const { group, file } = made;
  run.append([
    { type: 'run.created', at: 1, runId, workflow: name, group, file, trigger: 'cli', retryOf: null, params: [] },
  ]);
  await run.close();
}

function label(name: string): RunLabel {
  return { workflow: name, group: 'g', file: `/dags/g/${name}.yaml` };
}

function labels(store: FileStore): Record<string, string | undefined> {
  const ids = store.list();
  const labelOf = store.labels(ids);
  return Object.fromEntries(ids.map((id) => [id, labelOf(id)?.workflow]));
}

/** The labels read without an index. */
function truth(store: FileStore, runsDir: string): Record<string, string | undefined> {
  const index = join(runsDir, '.index');
  const aside = `${index}-aside`;
  const isThere = existsSync(index);
  if (isThere) renameSync(index, aside);
  const found = labels(store);
  rmSync(index, { force: true });
  if (isThere) renameSync(aside, index);
  return found;
}

const uuid = (number: number) => `01997c3e-1a2b-7000-8000-${String(number).padStart(12, '0')}`;

test('runs are listed newest first, by the times of their ids and files, whatever the index contains', async () => {
  const { store, runsDir } = fileStore();
  const given = Array.from({ length: 30 }, (_, number) => `run-${number}`);
  for (const [index, id] of given.entries()) {
    await makeRun(store, id, 'w');
    utimesSync(join(runsDir, id, 'snapshot.json'), 1_000_000 + index, 1_000_000 + index);
  }
  rmSync(join(runsDir, '.index'));
  await makeRun(store, uuid(1), 'w');
  await makeRun(store, uuid(2), 'w');
  const newestFirst = [uuid(2), uuid(1), ...given.toReversed()];
  expect(store.list()).toEqual(newestFirst);
  expect(store.list()).toEqual(newestFirst);
});

test('a run is found in the index as soon as it is created, without opening its files', async () => {
  const { store, runsDir } = fileStore();
  await makeRun(store, uuid(1), 'etl');
  await makeRun(store, 'given', 'other');
  const ids = store.list();
  for (const id of ids) rmSync(join(runsDir, id, 'journal.jsonl'));
  for (const id of ids) rmSync(join(runsDir, id, 'snapshot.json'));
  const labelOf = store.labels(ids);
  expect([labelOf(uuid(1)), labelOf('given'), labelOf('gone')]).toEqual([label('etl'), label('other'), null]);
});

describe('the index', () => {
  test.each([
    ['is missing', (path: string) => rmSync(path)],
    ['is empty', (path: string) => writeFileSync(path, '')],
    ['holds garbage', (path: string) => writeFileSync(path, Buffer.alloc(10_000, 0x9f))],
    ['is of another format', (path: string) => appendFileSync(path, 'cbf43926 123456789\n')],
    [
      'cannot be read',
      (path: string) => {
        rmSync(path);
        symlinkSync(path, path);
      },
    ],
    [
      'is a directory',
      (path: string) => {
        rmSync(path);
        mkdirSync(path);
      },
    ],
  ])('is rebuilt if it %s', async (_, damage) => {
    const { store, runsDir } = fileStore();
    for (let number = 0; number < 5; number++) await makeRun(store, uuid(number), `w${number % 2}`);
    damage(join(runsDir, '.index'));
    await makeRun(store, 'given', 'w1');
    const expected = { given: 'w1', ...Object.fromEntries([4, 3, 2, 1, 0].map((n) => [uuid(n), `w${n % 2}`])) };
    expect(labels(store)).toEqual(expected);
    expect(labels(store)).toEqual(expected);
  });

  test('is never trusted over the directory, whatever bytes of it change', async () => {
    const { store, runsDir } = fileStore();
    const path = join(runsDir, '.index');
    for (let number = 0; number < 6; number++) await makeRun(store, uuid(number), `w${number % 3}`);
    await makeRun(store, 'given', 'w1');
    const whole = readFileSync(path);
    const expected = labels(store);
    fc.assert(
      fc.property(fc.nat({ max: whole.length - 1 }), fc.nat({ max: 255 }), fc.nat({ max: 50 }), (at, byte, cut) => {
        const bytes = Buffer.from(whole);
        bytes[at] = byte;
        writeFileSync(path, cut === 0 ? bytes : bytes.subarray(0, bytes.length - cut));
        expect(labels(store)).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });

  test('forgets removed runs, and updates a reused id', async () => {
    const { store, runsDir } = fileStore();
    await makeRun(store, 'one', 'before');
    await makeRun(store, 'two', 'w');
    rmSync(join(runsDir, 'one'), { recursive: true });
    expect(labels(store)).toEqual({ two: 'w' });
    const [line] = readFileSync(join(runsDir, '.index'), 'utf8').split('\n');
    await makeRun(store, 'one', 'after');
    // Written by a slow process that has read the removed run.
    appendFileSync(join(runsDir, '.index'), `${line}\n`);
    expect(labels(store)).toEqual({ one: 'after', two: 'w' });
    expect(labels(store)).toEqual(truth(store, runsDir));
  });

  test('grows by one line per run and is compacted when it is large', async () => {
    const { store, runsDir } = fileStore();
    await makeRun(store, uuid(1), 'w');
    const path = join(runsDir, '.index');
    const line = readFileSync(path, 'utf8');
    expect(line).toMatch(/^[0-9a-f]{8} \["w","g","\/dags\/g\/w.yaml"\]\t01997c3e-1a2b-7000-8000-000000000001\n$/);
    writeFileSync(path, line.repeat(2000));
    expect(labels(store)).toEqual({ [uuid(1)]: 'w' });
    expect(readFileSync(path, 'utf8')).toBe(line);
  });

  test('can fail to be written without losing a run', async () => {
    const { store, runsDir } = fileStore();
    await makeRun(store, uuid(1), 'w');
    rmSync(join(runsDir, '.index'));
    mkdirSync(join(runsDir, '.index'));
    await makeRun(store, uuid(2), 'w');
    expect(labels(store)).toEqual({ [uuid(2)]: 'w', [uuid(1)]: 'w' });
  });

  test('is readable only by its owner', async () => {
    const { store, runsDir } = fileStore();
    await makeRun(store, uuid(1), 'w');
    const mode = () => (statSync(join(runsDir, '.index')).mode & 0o777).toString(8);
    expect(mode()).toBe('600');
    rmSync(join(runsDir, '.index'));
    labels(store);
    expect(mode()).toBe('600');
    chmodSync(join(runsDir, '.index'), 0o600);
  });
});

test('many processes that create and look up runs at once leave a complete index', async () => {
  const { store, runsDir } = fileStore();
  const file = buildProgram('index-runs');
  const count = 60;
  const running = [0, 1, 2, 3].map((number) => start(file, [runsDir, String(number), String(count)]));
  await Promise.all(running.map(({ ended }) => ended));
  const known = labels(store);
  expect(Object.keys(known)).toHaveLength(4 * count);
  expect(known).toEqual(truth(store, runsDir));
  expect(readdirSync(join(runsDir, '.new'))).toEqual([]);
});
