import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildProgram, start } from './program.ts';
import { temporaryDirectory } from './world.ts';

const PROCESSES = 6;
const KILLS = process.env['WF_CHAOS'] === 'full' ? 500 : 100;

/** Runs a program until it ends or is killed; resolves to the number of times it had the lock. */
async function count(running: ReturnType<typeof start>, problems: string[], killAfter = Number.POSITIVE_INFINITY) {
  let held = 0;
  for (;;) {
    const { value, done } = await running.lines.next();
    if (done) break;
    held += 1;
    if (value !== 'held') problems.push(String(value));
    if (held === killAfter) running.child.kill('SIGKILL');
  }
  await running.ended;
  return held;
}

test.each([1, 3])('never more slots of %d are held than there are, and every request is met', async (size) => {
  const home = temporaryDirectory();
  const args = [join(home, 'runs'), join(home, 'marks'), '100', String(size)];
  const file = buildProgram('hold-locks');
  const problems: string[] = [];
  const counts = await Promise.all(Array.from({ length: PROCESSES }, () => count(start(file, args), problems)));
  expect([problems, counts]).toEqual([[], Array.from({ length: PROCESSES }, () => 100)]);
  expect(readdirSync(join(home, 'locks'))).toEqual(['.processes']);
});

// A waiter notices the death of a holder within a second.
test('of holders and waiters that are killed no lock stays, and none is had twice', {
  timeout: 1_000_000,
}, async () => {
  const home = temporaryDirectory();
  const args = [join(home, 'runs'), join(home, 'marks'), '1000', '2'];
  const file = buildProgram('hold-locks');
  const problems: string[] = [];
  let kills = 0;
  const killing = async () => {
    for (; kills < KILLS; kills += 1) await count(start(file, args), problems, 1 + Math.floor(Math.random() * 12));
  };
  await Promise.all(Array.from({ length: PROCESSES }, killing));
  const last = await count(start(file, [...args.slice(0, 2), '5', '2']), problems);
  expect([problems, last, kills >= KILLS]).toEqual([[], 5, true]);
  expect(readdirSync(join(home, 'locks'))).toEqual(['.processes']);
});
