import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { EndSignal } from '#processes/end-signal.ts';
import { identify, isAlive } from '#processes/process-identity.ts';
import { createLocks } from '#store/files/locks/locks.ts';

// Takes a lock repeatedly, as writer or reader of some slots, and counts outside of the lock who has it: by a file for each
// holder, whose name has its process with the time when it started, its mode and slots. Prints `held` each time, and why if others have too much with it.
const [runsDir = '', marks = '', times = '1', size = '1'] = process.argv.slice(2);
const total = Number(size);
/** Numbers of processes are given again: hundreds of killed ones leave their marks. */
const self = `${process.pid}.${startOf(process.pid)}`;
mkdirSync(marks, { recursive: true });
const locks = createLocks(runsDir, { identify, isAlive, settle: async () => {} });

for (let count = 0; count < Number(times); count += 1) {
  const mode = Math.random() < 0.3 ? 'read' : 'write';
  const slots = 1 + Math.floor(Math.random() * total);
  const by = { runId: String(process.pid), workflow: 'w', step: null };
  const wait = { stop: new EndSignal(), blocked: () => {} };
  const held = await locks.acquire({ kind: 'lock', name: 'db', size: total, mode, slots, by }, wait);
  const mark = join(marks, `${self}-${mode}-${slots}-${count}`);
  writeFileSync(mark, '', { flag: 'wx' });
  const problem = problemOf(readdirSync(marks));
  writeSync(1, problem === null ? 'held\n' : `${problem}\n`);
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 4));
  rmSync(mark);
  held?.release();
}

function problemOf(names: readonly string[]): string | null {
  const all = names.map((name) => name.split('-')).filter(([mark]) => isRunning(String(mark)));
  const writers = all.filter(([, mode]) => mode === 'write');
  const isMixed = writers.length > 0 && writers.length < all.length;
  const taken = writers.reduce((sum, [, , slots]) => sum + Number(slots), 0);
  return isMixed || taken > total ? `too many: ${names.join(' ')}` : null;
}

/** A killed process leaves its mark. */
function isRunning(mark: string): boolean {
  const [pid, start] = mark.split('.');
  return startOf(Number(pid)) === start;
}

/** When a process started, in ticks since the boot; null if it has ended. */
function startOf(pid: number): string | null {
  try {
    const [state, ...fields] = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? [];
    return state === 'Z' || state === 'X' ? null : (fields[18] ?? null);
  } catch {
    return null;
  }
}
