import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ProcessIdentity } from '#core/run/run.ts';
import { identify, isAlive } from '#processes/process-identity.ts';
import { claimDaemon } from '#store/files/control/daemon-claim.ts';
import { withDirectory } from '../support/wf.ts';
import { buildProgram, start } from './program.ts';

const processes = { identify, isAlive };

/** Looks like a process that has died. */
const dead: ProcessIdentity = { pid: 4_194_305, startTime: 1, boot: 'another boot' };
const asDead = { identify: () => dead, isAlive };
/** Looks like another process that is alive. */
const asParent = { identify: () => identify(process.ppid), isAlive };

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

describe('a daemon whose directory is no longer in place', () => {
  const url = 'http://127.0.0.1:8080';
  const claimed = (home: string) => {
    const directory = join(home, 'daemon');
    const first = claimDaemon(directory, processes);
    first.tell(url);
    return { directory, first };
  };

  it('has lost nothing while it is in place', () =>
    withDirectory(async (home) => {
      const { directory, first } = claimed(home);
      expect(first.loss()).toBeNull();
      expect(readdirSync(directory).sort()).toEqual(['address.json', 'owner']);
    }));

  it.each([
    ['removed', (directory: string) => rmSync(directory, { recursive: true })],
    ['moved', (directory: string) => renameSync(directory, `${directory}.old`)],
    [
      'replaced by an empty one',
      (directory: string) => {
        renameSync(directory, `${directory}.old`);
        mkdirSync(directory);
      },
    ],
  ])('has lost it after it was %s, and writes nothing', (_, change) =>
    withDirectory(async (home) => {
      const { directory, first } = claimed(home);
      await first.listen();
      change(directory);
      expect(first.loss()).toMatchObject({
        code: 'storage',
        message: `"${directory}" was removed, moved or replaced while the daemon was running`,
        help: 'move the old directory back if it still exists, then start the daemon again',
      });
      first.release();
      expect(existsSync(directory) ? readdirSync(directory) : []).toEqual([]);
    }),
  );

  it('has it again once it is back', () =>
    withDirectory(async (home) => {
      const { directory, first } = claimed(home);
      renameSync(directory, `${directory}.old`);
      expect(first.loss()).not.toBeNull();
      renameSync(`${directory}.old`, directory);
      expect(first.loss()).toBeNull();
    }));

  it('gives way to a daemon that has claimed it meanwhile, whose address it keeps', () =>
    withDirectory(async (home) => {
      const directory = join(home, 'daemon');
      const first = claimDaemon(directory, asParent);
      first.tell(url);
      rmSync(directory, { recursive: true });
      claimDaemon(directory, processes).tell('http://127.0.0.1:9090');
      expect(first.loss()).toMatchObject({
        code: 'conflict',
        message: expect.stringMatching(
          /^a daemon is already running for these runs: .*, at http:\/\/127\.0\.0\.1:9090$/,
        ),
      });
      first.release();
      expect(readFileSync(join(directory, 'address.json'), 'utf8')).toContain('http://127.0.0.1:9090');
    }));
});

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
