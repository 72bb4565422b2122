import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { crc32OfText } from '#fast/crc32.ts';
import { fileStore, temporaryDirectory } from './world.ts';

const uuid = (number: number) => `01997c3e-1a2b-7000-8000-${String(number).padStart(12, '0')}`;

/** A store with this number of runs, which are empty directories. */
function world(count = 1000) {
  const runsDir = join(temporaryDirectory(), 'runs');
  const { store } = fileStore({ runsDir });
  for (let number = 0; number < count; number++) mkdirSync(join(runsDir, uuid(number)), { recursive: true });
  const path = join(runsDir, '.listing');
  const written = () => (existsSync(path) ? readFileSync(path, 'latin1') : '');
  /** Lists runs until the listing is cached. */
  const settle = async () => {
    for (; written() === ''; await delay(5)) store.list();
    return written();
  };
  return { store, runsDir, path, written, settle };
}

function resealed(text: string): string {
  return `${crc32OfText(text).toString(16).padStart(8, '0')} ${text}`;
}

/** Waits until the last change of a directory can be distinguished from a later one. */
async function untilSettled(directory: string): Promise<void> {
  while (Date.now() - statSync(directory).ctimeMs < 100) await delay(5);
}

test('the listing of a directory with many runs is cached until the directory changes', async () => {
  const { store, path, settle } = world();
  const text = await settle();
  expect(store.list()).toHaveLength(1000);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  // Shows that the list is read from the cache.
  writeFileSync(path, resealed(text.slice(9).replace(uuid(500), 'from-the-listing')));
  expect(store.list()).toContain('from-the-listing');
});

test('a new or removed run is noticed at once', async () => {
  const { store, runsDir, settle, path } = world();
  for (let number = 2000; number < 2020; number++) {
    await settle();
    mkdirSync(join(runsDir, uuid(number)));
    expect(store.list()[0]).toBe(uuid(number));
    rmSync(join(runsDir, uuid(number)), { recursive: true });
    expect(store.list()[0]).toBe(uuid(999));
    writeFileSync(path, '');
  }
});

test('a listing is ignored if its directory was changed without a new time', async () => {
  const { store, runsDir, settle } = world();
  await settle();
  const { atime, mtime } = statSync(runsDir);
  rmSync(join(runsDir, uuid(7)), { recursive: true });
  utimesSync(runsDir, atime, mtime);
  expect(store.list()).not.toContain(uuid(7));
});

test('a damaged listing is ignored', async () => {
  const { store, settle, path } = world();
  const expected = store.list();
  const text = await settle();
  for (const at of [0, 4, 8, 9, 20, 60, 5000, text.length - 1]) {
    writeFileSync(path, `${text.slice(0, at)}#${text.slice(at + 1)}`);
    expect(store.list()).toEqual(expected);
    writeFileSync(path, text.slice(0, at));
    expect(store.list()).toEqual(expected);
  }
});

test('a listing is not written through a link, nor for few runs', async () => {
  const { store, runsDir, path } = world();
  const precious = join(runsDir, '../precious');
  writeFileSync(precious, '');
  symlinkSync(precious, path);
  await untilSettled(runsDir);
  expect([store.list().length, store.list().length]).toEqual([1000, 1000]);
  expect(readFileSync(precious, 'utf8')).toBe('');
  const few = world(50);
  await untilSettled(few.runsDir);
  expect([few.store.list().length, few.store.list().length, few.written()]).toEqual([50, 50, '']);
  expect(existsSync(few.path)).toBe(false);
});

test('only runs that are not known are listed, newest first, and the known ones counted', () => {
  const { store, runsDir } = world(5);
  const known = new Set([uuid(0), uuid(2), uuid(9)]);
  mkdirSync(join(runsDir, 'given'));
  writeFileSync(join(runsDir, 'given/snapshot.json'), '');
  utimesSync(join(runsDir, 'given/snapshot.json'), 1, 1);
  mkdirSync(join(runsDir, '.trash'));
  writeFileSync(join(runsDir, uuid(7)), 'not a run');
  symlinkSync(join(runsDir, uuid(1)), join(runsDir, uuid(8)));
  expect(store.listNew((runId) => known.has(runId))).toEqual({
    fresh: [uuid(4), uuid(3), uuid(1), 'given'],
    known: 2,
  });
});
