import { execFileSync } from 'node:child_process';
import { readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { FileStore } from '#store/files/file-store.ts';
import { buildProgram, type Running, start } from './program.ts';
import { events, fileStore, snapshot, temporaryDirectory } from './world.ts';

const contenders = 20;

/** Starts the processes, releases all of them at once and returns their answers. They run until the test ends. */
async function contend(action: 'create' | 'recover', runsDir: string): Promise<readonly string[]> {
  const file = buildProgram('contend');
  const running = Array.from({ length: contenders }, () => start(file, [action, runsDir, 'r1']));
  for (const { lines } of running) expect(await lines.next()).toEqual({ done: false, value: 'ready' });
  for (const { child } of running) child.stdin?.write('go\n');
  const answers = await Promise.all(running.map(({ lines }) => lines.next()));
  for (const { child } of running) child.stdin?.end();
  await Promise.all(running.map(({ ended }) => ended));
  return answers.map(({ value }) => value).sort();
}

test('of twenty processes that create the same run at once one succeeds, and its run is complete', async () => {
  const { store, runsDir } = fileStore();
  const answers = await contend('create', runsDir);
  const winner = Number(answers.at(-1)?.replace('won ', ''));
  expect(answers).toEqual([...Array(contenders - 1).fill('run-exists'), `won ${winner}`]);
  expect(store.read('r1')).toMatchObject({
    workflow: { name: String(winner) },
    events: [{ type: 'run.started', at: winner, seq: 1 }],
    damage: [],
  });
  expect(readdirSync(join(runsDir, '.new'))).toEqual([]);
  expect(store.list()).toEqual(['r1']);
});

test('of twenty processes that take over the same run at once one succeeds', async () => {
  const { store, runsDir } = fileStore();
  await store.create(snapshot('r1'), { logDir: null }).close();
  const answers = await contend('recover', runsDir);
  const winner = Number(answers.at(-1)?.replace('won ', ''));
  expect(answers).toEqual([...Array(contenders - 1).fill('run-active'), `won ${winner}`]);
  expect(store.read('r1')).toMatchObject({ events: [{ type: 'run.started', at: winner, seq: 1 }], damage: [] });
});

/** Reads acknowledgements and the store in turns, then kills the writer in the middle of its work. */
async function killAfter(acknowledgements: number, { child, lines, ended }: Running, store: FileStore) {
  let isKilled = false;
  const acknowledged = new Map<string, number>();
  for (let count = 0; ; count++) {
    if (count === acknowledgements) isKilled = child.kill('SIGKILL');
    const { value, done } = await lines.next();
    if (done) break;
    const [runId = '', seq] = String(value).split(' ');
    acknowledged.set(runId, Number(seq));
    if (!isKilled) expect(store.read(runId)?.damage).toEqual([]);
  }
  await ended;
  return acknowledged;
}

test('a writer killed at any moment keeps all acknowledged events, complete journals and no leftovers', async () => {
  const { store, runsDir } = fileStore();
  const file = buildProgram('write-runs');
  for (let round = 0; round < 12; round++) {
    const acknowledged = await killAfter(1 + Math.floor(Math.random() * 120), start(file, [runsDir]), store);
    expect(acknowledged.size).toBeGreaterThan(0);
    for (const [runId, seq] of acknowledged) {
      const read = store.read(runId);
      // A kill between the creation of a run and its first event leaves an empty run, which is reported.
      const blank = read?.events.length === 0 ? [expect.stringContaining('its events are unknown')] : [];
      expect(read?.damage).toEqual(blank);
      expect(read?.events.length).toBeGreaterThanOrEqual(seq);
      expect(read?.events.map((event) => event.seq)).toEqual(read?.events.map((_, index) => index + 1));
    }
  }
  for (const runId of store.list()) {
    const before = store.read(runId)?.events ?? [];
    const recovered = store.openForRecovery(runId);
    recovered.append(events(1));
    await recovered.close();
    expect(store.read(runId)).toMatchObject({ events: [...before, { seq: before.length + 1 }], damage: [] });
  }
  const staging = join(runsDir, '.new');
  for (const name of readdirSync(staging)) utimesSync(join(staging, name), 0, 0);
  await store.create(snapshot('last'), { logDir: null }).close();
  expect(readdirSync(staging)).toEqual([]);
});

test('a journal at the size limit of the system is reported and stays complete', () => {
  const runsDir = join(temporaryDirectory(), 'runs');
  const command = `ulimit -f 64 && exec "$0" "$@"`;
  const output = execFileSync('sh', ['-c', command, process.execPath, buildProgram('fill-file'), runsDir], {
    encoding: 'utf8',
  });
  const { taken, ...told } = JSON.parse(output);
  expect(taken).toBeGreaterThan(10);
  expect(told).toEqual({
    code: 'storage',
    message: `cannot write "${join(runsDir, 'r1', 'journal.jsonl')}": the file would grow beyond the size limit`,
    read: taken,
    damage: [],
  });
});

test.each(['000', '022', '077', '277', '777'])(
  'under the umask %s files and directories are accessible only to their owner',
  (umask) => {
    const output = execFileSync(process.execPath, [buildProgram('make-files'), temporaryDirectory(), umask], {
      encoding: 'utf8',
    });
    expect(JSON.parse(output)).toEqual({
      modes: ['directory 700', 'file 600'],
      childUmask: `0${umask}`,
    });
  },
);

test('following a log does not keep a process running', () => {
  expect(execFileSync(process.execPath, [buildProgram('follow'), import.meta.filename], { encoding: 'utf8' })).toBe('');
});
