import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ProcessIdentity } from '../../src/core/run/run.ts';
import { identify, isAlive } from '../../src/processes/process-identity.ts';
import { claimDaemon } from '../../src/store/files/control/daemon-claim.ts';
import { withDirectory } from '../support/wf.ts';
import { buildProgram, start } from './program.ts';

const processes = { identify, isAlive };

/** Looks like a process that has died. */
const dead: ProcessIdentity = { pid: 4_194_305, startTime: 1, boot: 'another boot' };
const asDead = { identify: () => dead, isAlive };

function refusal(work: () => unknown): { readonly code: string; readonly message: string; readonly help: string } {
  try {
    work();
  } catch (error) {
    return error as ReturnType<typeof refusal>;
  }
  throw new Error('nothing was refused');
}

it('a second daemon is rejected, with the pid and address of the first', () =>
  withDirectory(async (directory) => {
    const first = claimDaemon(directory, processes);
    expect(refusal(() => claimDaemon(directory, processes)).message).toMatch(
      new RegExp(`^a daemon is already running for these runs: process ${process.pid} on "[^"]+"$`),
    );
    first.tell('http://127.0.0.1:8080');
    const { code, message, help } = refusal(() => claimDaemon(directory, processes));
    expect([code, message.endsWith(', at http://127.0.0.1:8080'), help]).toEqual([
      'conflict',
      true,
      `use that daemon, or stop it first: kill ${process.pid}`,
    ]);
  }));

it('a released claim or that of a dead process is replaced without leftovers', () =>
  withDirectory(async (directory) => {
    claimDaemon(directory, asDead).tell('http://127.0.0.1:1');
    for (let i = 0; i < 20; i += 1) claimDaemon(directory, processes).release();
    writeFileSync(join(directory, 'owner.21.4194305-draft'), '');
    const last = claimDaemon(directory, processes);
    expect(readdirSync(directory)).toEqual(['owner.22']);
    expect(refusal(() => claimDaemon(directory, processes)).message).not.toContain('at http');
    last.release();
  }));

it(
  'of several processes that claim repeatedly at the same time, at most one succeeds',
  () =>
    withDirectory(async (directory) => {
      const program = buildProgram('claim-daemon');
      const rivals = Array.from({ length: 4 }, () => start(program, [join(directory, 'daemon'), '150']));
      for (const { lines } of rivals) expect((await lines.next()).value).toBe('ready');
      for (const { child } of rivals) child.stdin?.write('go\n');
      const said = await Promise.all(rivals.map(({ lines }) => lines.next()));
      expect(said.map(({ value }) => String(value).replace(/\d+/, '<n>'))).toEqual(rivals.map(() => 'alone <n>'));
      expect(said.some(({ value }) => value !== 'alone 0')).toBe(true);
    }),
  30_000,
);
