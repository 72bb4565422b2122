import { appendFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ProcessIdentity } from '#core/run/run.ts';
import { hasOwner } from '#store/files/control/owner.ts';
import { events, fileStore, refusal, snapshot, stored, temporaryDirectory } from './world.ts';

const dead: ProcessIdentity = { pid: 4_194_305, startTime: 1, boot: 'another boot' };

/** A run of three events whose owner died. */
function abandonedRun() {
  const { store, runsDir } = fileStore();
  const run = fileStore({ runsDir, identify: () => dead }).store.create(snapshot('r1'), { logDir: null });
  run.append(events(3));
  return { store, runsDir, directory: join(runsDir, 'r1'), run };
}

test('a run whose owner died continues after its last event', async () => {
  const { store } = abandonedRun();
  const recovered = store.openForRecovery('r1');
  expect(recovered.append(events(2, 4))).toEqual(stored(events(2, 4), 4));
  await recovered.close();
  expect(store.read('r1')).toMatchObject({ events: stored(events(5)), damage: [] });
});

test('a torn end is set aside before the run continues', async () => {
  const { store, directory } = abandonedRun();
  appendFileSync(join(directory, 'journal.jsonl'), '{"crc":"half');
  const recovered = store.openForRecovery('r1');
  recovered.append(events(1, 4));
  await recovered.close();
  expect(store.read('r1')).toMatchObject({ events: stored(events(4)), damage: [] });
  expect(readFileSync(join(directory, 'journal.damaged-1'), 'utf8')).toBe('{"crc":"half');
});

test('a damaged end is set aside each time, and none is lost', async () => {
  const { store, directory } = abandonedRun();
  const path = join(directory, 'journal.jsonl');
  for (const [index, garbage] of ['one\ntwo\n', 'three\nfour\n'].entries()) {
    appendFileSync(path, garbage);
    expect(store.read('r1')?.damage.length).toBe(1);
    await store.openForRecovery('r1').close();
    expect(readFileSync(join(directory, `journal.damaged-${index + 1}`), 'utf8')).toBe(garbage);
    expect(store.read('r1')).toMatchObject({ events: stored(events(3)), damage: [] });
  }
});

test('an owner that was wrongly declared dead can neither write nor release the run', async () => {
  const { store, run } = abandonedRun();
  const recovered = store.openForRecovery('r1');
  expect(refusal(() => run.append(events(1, 4))).message).toMatch(/another process has taken the run over$/);
  recovered.append(events(1, 4));
  await run.close();
  expect(refusal(() => store.openForRecovery('r1')).code).toBe('run-active');
  await recovered.close();
  expect(store.read('r1')).toMatchObject({ events: stored(events(4)), damage: [] });
});

test('a run with a living owner is not taken over', async () => {
  const { store, runsDir } = fileStore();
  const run = store.create(snapshot('r1'), { logDir: null });
  expect(refusal(() => store.openForRecovery('r1'))).toEqual({
    code: 'run-active',
    message: expect.stringMatching(`^the run is still running: process ${process.pid} on ".+" owns it$`),
  });
  expect(readdirSync(join(runsDir, 'r1'))).not.toContain('owner.2');
  run.append(events(1));
  await run.close();
});

test('a closed run can be taken over again and again', async () => {
  const { store } = fileStore();
  await store.create(snapshot('r1'), { logDir: null }).close();
  for (const seq of [1, 2, 3]) {
    const recovered = store.openForRecovery('r1');
    expect(refusal(() => store.openForRecovery('r1')).code).toBe('run-active');
    recovered.append(events(1, seq));
    await recovered.close();
  }
  expect(store.read('r1')).toMatchObject({ events: stored(events(3)), damage: [] });
});

test('a torn owner file means no owner, because the machine has crashed', async () => {
  const { store, runsDir } = fileStore();
  store.create(snapshot('r1'), { logDir: null });
  const path = join(runsDir, 'r1', 'owner');
  writeFileSync(path, readFileSync(path).subarray(0, 20));
  await store.openForRecovery('r1').close();
});

test('the scratch directory of a dead owner is removed with the run', async () => {
  const { store, directory, run } = abandonedRun();
  writeFileSync(join(run.scratch(), 'script'), 'true');
  await store.openForRecovery('r1').close();
  expect(readdirSync(directory)).not.toContain('scratch');
});

test('a failed recovery changes nothing, and another one succeeds', async () => {
  const { store, directory } = abandonedRun();
  const path = join(directory, 'journal.jsonl');
  const before = readdirSync(directory);
  renameSync(path, `${directory}/hidden`);
  mkdirSync(path);
  expect(refusal(() => store.openForRecovery('r1')).code).toBe('storage');
  rmdirSync(path);
  renameSync(`${directory}/hidden`, path);
  expect(readdirSync(directory)).toEqual(before);
  expect(store.mayGoOn('r1')).toBe(true);
  await store.openForRecovery('r1').close();
  expect(store.read('r1')).toMatchObject({ events: stored(events(3)), damage: [] });
});

test('a refused recovery leaves no file', () => {
  const { store, runsDir } = fileStore();
  store.create(snapshot('r1'), { logDir: null }).append(events(1));
  const directory = join(runsDir, 'r1');
  appendFileSync(join(directory, 'journal.jsonl'), 'garbage\nmore\n');
  const before = readdirSync(directory);
  expect(refusal(() => store.openForRecovery('r1')).code).toBe('run-active');
  expect(readdirSync(directory)).toEqual(before);
});

test('a recovery keeps the events that another process writes just before it', async () => {
  const { directory, runsDir, run } = abandonedRun();
  const path = join(directory, 'journal.jsonl');
  const whole = readFileSync(path);
  appendFileSync(path, '{"crc":"half');
  // The recovery checks the owner after it has read the journal.
  const writeLate = () => {
    writeFileSync(path, whole);
    run.append(events(1, 4));
    return false;
  };
  const recovered = fileStore({ runsDir, isAlive: writeLate }).store.openForRecovery('r1');
  recovered.append(events(1, 5));
  await recovered.close();
  expect(fileStore({ runsDir }).store.read('r1')).toMatchObject({ events: stored(events(5)), damage: [] });
  expect(readdirSync(directory).filter((name) => name.includes('journal'))).toEqual(['journal.jsonl']);
});

test('an unknown run cannot be taken over', () => {
  expect(refusal(() => fileStore().store.openForRecovery('r1'))).toEqual({
    code: 'not-found',
    message: 'there is no run "r1"',
  });
});

test('a run that is removed while its directory is read has no owner', () => {
  expect(hasOwner(temporaryDirectory(), ['owner', 'owner.2'])).toBe(false);
});
