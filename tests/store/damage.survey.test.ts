import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { FileStore } from '#store/files/file-store.ts';
import fc from '../support/fast-check.ts';
import { events, fileStore, snapshot, stored } from './world.ts';

const count = 6;

/** A closed run and the content of its journal. */
async function closedRun(): Promise<{ store: FileStore; path: string; whole: Buffer }> {
  const { store, runsDir } = fileStore();
  const run = store.create(snapshot('r1'), { logDir: null });
  run.append(events(count));
  await run.close();
  const path = join(runsDir, 'r1', 'journal.jsonl');
  return { store, path, whole: readFileSync(path) };
}

/** The number of complete lines that two files have in common at their start. */
function commonLines(one: Uint8Array, other: Uint8Array): number {
  let lines = 0;
  for (let index = 0; index < one.length && one[index] === other[index]; index++) if (one[index] === 0x0a) lines++;
  return lines;
}

/** Whether more than one line, complete or partial, follows the first `lines`. */
function isMoreThanOneLine(bytes: Buffer, lines: number): boolean {
  const rest = bytes.toString('latin1').split('\n').slice(lines).join('\n');
  return rest.replace(/\n$/, '').includes('\n');
}

function expectTold(store: FileStore, bytes: Buffer, whole: Buffer): void {
  const lines = commonLines(bytes, whole);
  const read = store.read('r1');
  expect(read?.events).toEqual(stored(events(lines)));
  expect(read?.damage.length).toBe(lines === 0 || isMoreThanOneLine(bytes, lines) ? 1 : 0);
}

test('a journal cut after its first line keeps every whole line, and the partial line is not damage', async () => {
  const { store, path, whole } = await closedRun();
  for (let length = whole.indexOf('\n') + 1; length <= whole.length; length++) {
    writeFileSync(path, whole.subarray(0, length));
    expect(store.read('r1')).toMatchObject({
      events: stored(events(commonLines(whole.subarray(0, length), whole))),
      damage: [],
    });
  }
});

test('a journal without a whole line is reported, unless the run was just created', async () => {
  const { store, path, whole } = await closedRun();
  const unknown = 'its events are unknown.';
  writeFileSync(path, '');
  expect(store.read('r1')).toMatchObject({ events: [], damage: [`"${path}" is empty: ${unknown}`] });
  writeFileSync(path, whole.subarray(0, 40));
  expect(store.read('r1')).toMatchObject({ events: [], damage: [`"${path}" has no whole line: ${unknown}`] });
  const made = store.create(snapshot('r2'), { logDir: null });
  expect(store.read('r2')).toMatchObject({ events: [], damage: [] });
  await made.close();
});

test('a run whose writer finishes while it is read is complete', async () => {
  let letGo = (): boolean => false;
  const { store } = fileStore({ isAlive: () => letGo() });
  const run = store.create(snapshot('r1'), { logDir: null });
  letGo = () => {
    run.append(events(2));
    return false;
  };
  expect(store.read('r1')).toMatchObject({ events: stored(events(2)), damage: [] });
  await run.close();
});

test('a journal with one changed bit keeps every line before it', async () => {
  const { store, path, whole } = await closedRun();
  fc.assert(
    fc.property(fc.nat({ max: whole.length * 8 - 1 }), (bit) => {
      const bytes = Buffer.from(whole);
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      writeFileSync(path, bytes);
      expectTold(store, bytes, whole);
    }),
    { numRuns: 2000 },
  );
});

test('a journal with removed or inserted bytes keeps every line before them', async () => {
  const { store, path, whole } = await closedRun();
  const place = fc.nat({ max: whole.length });
  const garbage = fc.oneof(
    fc.uint8Array({ maxLength: 100 }),
    fc.nat({ max: 5000 }).map((length) => new Uint8Array(length)),
    fc.tuple(place, place).map(([a, b]) => whole.subarray(Math.min(a, b), Math.max(a, b))),
  );
  fc.assert(
    fc.property(place, place, garbage, (a, b, inserted) => {
      const bytes = Buffer.concat([whole.subarray(0, Math.min(a, b)), inserted, whole.subarray(Math.max(a, b))]);
      writeFileSync(path, bytes);
      expectTold(store, bytes, whole);
    }),
    { numRuns: 2000 },
  );
});

test('the damage names the line and where it begins', async () => {
  const { store, path, whole } = await closedRun();
  const line = whole.indexOf('\n') + 1;
  const bytes = Buffer.from(whole);
  bytes.write('#', line + 40);
  writeFileSync(path, bytes);
  const left = whole.length - line;
  expect(store.read('r1')?.damage).toEqual([
    `Line 2 of "${path}" is damaged: the ${left} bytes from byte ${line} on cannot be relied on and are left out.`,
  ]);
  expect(readFileSync(path).equals(bytes)).toBe(true);
});

test('whole lines in the wrong order are damage', async () => {
  const { store, path, whole } = await closedRun();
  const lines = whole.toString().split(/(?<=\n)/);
  writeFileSync(path, [lines[0], lines[2], lines[1], ...lines.slice(3)].join(''));
  expect(store.read('r1')).toMatchObject({ events: stored(events(1)), damage: [expect.stringContaining('Line 2 of')] });
});
