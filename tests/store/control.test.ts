import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { AnswerRequest, StopRequest } from '#store/store.ts';
import { eventually } from '../support/background-runs.ts';
import { fileStore, refusal, snapshot, temporaryDirectory } from './world.ts';

const ann = { at: 1, by: 'ann', force: false };
const bob = { at: 2, by: 'bob', force: true };

/** A run of this process, and the requests that it receives. */
function listeningRun(runsDir = join(temporaryDirectory(), 'runs')) {
  const { store } = fileStore({ runsDir });
  const journal = store.create(snapshot('r1'), { logDir: null });
  onTestFinished(async () => void (await journal.close()));
  const heard: StopRequest[] = [];
  const answers: AnswerRequest[] = [];
  const removals: string[] = [];
  const next = () => eventually(() => heard.length > 0 && heard);
  return {
    store,
    journal,
    heard,
    next,
    directory: join(runsDir, 'r1'),
    answers,
    removals,
    listen: () =>
      journal.listen({
        stop: (request) => heard.push(request),
        answer: (request) => answers.push(request),
        gone: ({ message }) => removals.push(message),
      }),
  };
}

test('an earlier request is reported at once, and a later one after a knock', async () => {
  const { store, listen, heard } = listeningRun();
  store.requestStop('r1', ann);
  await listen();
  expect(heard).toEqual([ann]);
  store.requestStop('r1', bob);
  (await store.knock('r1'))?.leave();
  await eventually(() => heard.length === 2);
  expect([heard, store.readStop('r1')]).toEqual([[ann, bob], bob]);
});

test('a request is reported once, whatever the number of knocks', async () => {
  const { store, listen, heard } = listeningRun();
  await listen();
  store.requestStop('r1', ann);
  for (let knocks = 0; knocks < 3; knocks++) (await store.knock('r1'))?.leave();
  store.requestStop('r1', bob);
  (await store.knock('r1'))?.leave();
  await eventually(() => heard.length === 2);
  expect(heard).toEqual([ann, bob]);
});

test('a knock reports when the owner releases the run', async () => {
  const { store, listen, journal, directory } = listeningRun();
  expect(await store.knock('r1')).toBe(null);
  await listen();
  const socket = join(directory, 'owner.sock');
  expect(statSync(socket).mode & 0o777).toBe(0o600);
  const door = await store.knock('r1');
  await journal.close();
  await door?.closed;
  expect([existsSync(socket), await store.knock('r1')]).toEqual([false, null]);
});

test('the owner of a run whose directory is removed is notified once', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const { listen, journal, removals, directory } = listeningRun();
  await journal.flush();
  await listen();
  vi.advanceTimersByTime(60_000);
  expect(removals).toEqual([]);
  renameSync(directory, `${directory}-moved`);
  vi.advanceTimersByTime(60_000);
  expect(removals).toEqual([]);
  rmSync(`${directory}-moved`, { recursive: true });
  vi.advanceTimersByTime(60_000);
  expect(removals).toEqual([
    `cannot write "${directory}/journal.jsonl": it was removed, or another process has taken the run over`,
  ]);
});

test('the owner of a closed run is not notified of its removal', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const { listen, journal, removals, directory } = listeningRun();
  await listen();
  await journal.close();
  rmSync(directory, { recursive: true });
  vi.advanceTimersByTime(60_000);
  expect([removals, vi.getTimerCount()]).toEqual([[], 0]);
});

test('a run that is closed while its socket is created has no socket', async () => {
  const { journal, listen, directory } = listeningRun();
  const opening = listen();
  await journal.close();
  await opening;
  expect(existsSync(join(directory, 'owner.sock'))).toBe(false);
});

test('without a socket, requests are still found', async () => {
  const { store, listen, next, directory } = listeningRun();
  mkdirSync(join(directory, 'owner.sock'));
  await listen();
  store.requestStop('r1', ann);
  expect(await store.knock('r1')).toBe(null);
  expect(await next()).toEqual([ann]);
});

test('a request that cannot be read at first is found later', async () => {
  const { listen, heard, answers, next, directory } = listeningRun();
  await listen();
  const elsewhere = join(directory, '../../elsewhere');
  mkdirSync(elsewhere);
  renameSync(directory, join(elsewhere, 'r1'));
  const { store } = fileStore({ runsDir: elsewhere });
  const answer = { step: 's', decision: 'approved', by: 'ann', comment: '', inputs: {} } as const;
  store.requestAnswer('r1', answer);
  store.requestStop('r1', ann);
  const door = await store.knock('r1');
  // The owner looks in the turn in which it accepts the connection, before it accepts the next.
  (await store.knock('r1'))?.leave();
  door?.leave();
  expect([heard, answers]).toEqual([[], []]);
  renameSync(join(elsewhere, 'r1'), directory);
  expect([await next(), answers]).toEqual([[ann], [answer]]);
});

test('a socket with too long a path can be reached, and leaves no temporary files', async () => {
  const temporary = temporaryDirectory();
  const { store, listen, journal, next, directory } = listeningRun(join(temporaryDirectory(), 'd'.repeat(100), 'runs'));
  vi.stubEnv('TMPDIR', temporary);
  onTestFinished(() => void vi.unstubAllEnvs());
  await listen();
  expect(existsSync(join(directory, 'owner.sock'))).toBe(true);
  store.requestStop('r1', ann);
  (await store.knock('r1'))?.leave();
  expect(await next()).toEqual([ann]);
  await journal.close();
  expect([readdirSync(temporary), existsSync(join(directory, 'owner.sock'))]).toEqual([[], false]);
});

test('the socket of a dead owner is replaced', async () => {
  const { store, listen, directory } = listeningRun();
  writeFileSync(join(directory, 'owner.sock'), '');
  expect(await store.knock('r1')).toBe(null);
  await listen();
  expect(await store.knock('r1')).not.toBe(null);
});

test('requests to an unknown run are rejected', async () => {
  const { store } = listeningRun();
  expect(refusal(() => store.requestStop('r9', ann)).code).toBe('not-found');
  expect(refusal(() => store.requestStop('../r1', ann)).code).toBe('not-found');
});
