import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, it } from 'vitest';
import type { RunSummary } from '#core/summary/summary.ts';
import { eventually, journalOf } from '../support/background-runs.ts';
import {
  canUnshare,
  type Namespace,
  namespaces,
  processOf,
  startIn,
  startInLasting,
  wfIn,
} from '../support/namespaces.ts';
import { type Place, withPlace } from '../support/past-runs.ts';
import { describeWith } from '../support/require.ts';

const places = Object.keys(namespaces) as Namespace[];
const container = 'another container';

/** Works until it is let go, and leaves a line for each time that it ran. */
const files = {
  'w.yaml': `steps:
  - name: a
    command: sh -c 'echo once >> ledger; echo ready; while [ ! -e go ]; do sleep 0.02; done'
  - name: b
    command: touch after
    depends: a
handlerOn:
  cancel: { command: touch canceled }
`,
};

const run = ['run', 'w.yaml', '--run-id', 'r1', '--reporter', 'plain'] as const;

function ledger({ cwd }: Place): string {
  return readFileSync(join(cwd, 'ledger'), 'utf8');
}

function isListening({ runsDir }: Place): boolean {
  return existsSync(join(runsDir, 'r1/owner.sock'));
}

async function summary(place: Place, namespace: Namespace = 'the namespace of the test'): Promise<RunSummary> {
  return JSON.parse((await wfIn(namespace, place, 'status', 'r1', '--json')).stdout);
}

/** What each command says of a run that works in another container; none may change anything. */
const looks: readonly { readonly args: readonly string[]; readonly code: number; readonly says: string }[] = [
  { args: ['status', 'r1'], code: 0, says: 'RUNNING w' },
  { args: ['history'], code: 0, says: 'running' },
  { args: ['list', '--dags', '.'], code: 0, says: 'running' },
  { args: ['logs', 'r1'], code: 0, says: 'ready' },
  { args: ['report', 'r1', '--output', 'r1.html'], code: 0, says: '' },
  { args: ['retry', 'r1'], code: 2, says: 'error: run r1 is still running' },
  { args: ['mark', 'r1', 'a', 'failed'], code: 2, says: 'error: ' },
  { args: ['stop', '--owner-gone', 'r1'], code: 2, says: 'error: run r1 is still running: process ' },
  { args: ['gc', '--older-than', '0s', '--keep', '1'], code: 0, says: '' },
];

describeWith('unshare', canUnshare, 'a run in another container', () => {
  it.each(places)('is left alone by every command in %s, and can be stopped from there', async (place) => {
    await withPlace(files, async (home) => {
      const going = startIn(container, home, ...run);
      await going.until('| ready');
      await eventually(() => isListening(home));
      for (const { args, code, says } of looks) {
        const { stdout, stderr, ...ended } = await wfIn(place, home, ...args);
        expect({ args, code: ended.code, says: `${stdout}${stderr}` }).toEqual({
          args,
          code,
          says: expect.stringContaining(says),
        });
      }
      expect(journalOf(home, 'r1').at(-1)?.type).toBe('step.started');
      expect(await wfIn(place, home, 'stop', 'r1')).toMatchObject({ code: 0, stdout: 'run r1 of "w" is stopped\n' });
      expect((await going.ended).code).toBe(143);
      expect([ledger(home), existsSync(join(home.cwd, 'canceled'))]).toEqual(['once\n', true]);
    });
  });

  it.each(places)('is recognized as lost in %s when its process is killed, and can be retried', async (place) => {
    await withPlace(files, async (home) => {
      const going = startIn(container, home, ...run);
      await going.until('| ready');
      await eventually(() => isListening(home));
      process.kill(processOf(going), 'SIGKILL');
      await going.ended;
      expect(await summary(home, place)).toMatchObject({ status: 'failed', reason: 'lost', warnings: [] });
      home.write('go', '');
      expect((await wfIn(place, home, 'retry', 'r1')).code).toBe(0);
      expect(ledger(home)).toBe('once\nonce\n');
    });
  });

  it('is recognized as lost before its process listens for the first time', async () => {
    await withPlace(files, async (home) => {
      const going = startIn(container, home, ...run);
      await eventually(() => existsSync(join(home.runsDir, 'r1/journal.jsonl')));
      process.kill(processOf(going), 'SIGKILL');
      await going.ended;
      expect(isListening(home)).toBe(false);
      expect(await summary(home, container)).toMatchObject({ status: 'failed', reason: 'lost' });
    });
  });

  it('is recognized as lost without a signal to its processes in a container that continues', async () => {
    await withPlace(files, async (home) => {
      const going = startInLasting(home, ...run);
      await going.until('| ready');
      await eventually(() => isListening(home));
      const owner = processOf(going);
      const [step = ''] = readFileSync(`/proc/${owner}/task/${owner}/children`, 'latin1').split(' ');
      process.kill(owner, 'SIGKILL');
      const { reason, warnings } = await eventually(async () => {
        const seen = await summary(home);
        return seen.status === 'failed' && seen;
      });
      expect({ reason, warnings }).toEqual({
        reason: 'lost',
        warnings: [expect.stringContaining('started in another PID namespace, on "')],
      });
      expect(readFileSync(`/proc/${step}/comm`, 'latin1')).toBe('sh\n');
    });
  });
});

describeWith('unshare', canUnshare, 'a run whose process cannot be asked', () => {
  /** Without its socket, and seen without Python. */
  async function withoutWay(use: (home: Place, finish: () => Promise<unknown>) => Promise<void>): Promise<void> {
    await withPlace(files, async (home) => {
      const going = startIn(container, home, ...run);
      await going.until('| ready');
      await eventually(() => isListening(home));
      rmSync(join(home.runsDir, 'r1/owner.sock'));
      await use({ ...home, env: { ...home.env, PATH: withoutPython(home) } }, () => {
        home.write('go', '');
        return going.ended;
      });
    });
  }

  it('is shown as such, and never changed', async () => {
    await withoutWay(async (home, finish) => {
      const { status, owner, warnings } = await summary(home);
      expect({ status, owner, warnings }).toEqual({
        status: 'running',
        owner: { pid: 1, host: expect.any(String) },
        warnings: [
          expect.stringMatching(/^process 1 on ".*" runs it, in another container .* cannot be determined here$/),
        ],
      });
      for (const args of [['status', 'r1'], ['history']]) {
        expect((await wfIn(container, home, ...args)).stdout).toContain('cannot be determined here');
      }
      const retried = await wfIn(container, home, 'retry', 'r1');
      expect([retried.code, retried.stderr]).toEqual([
        2,
        expect.stringMatching(/may still be running: .*\n.*--owner-gone r1/),
      ]);
      expect((await wfIn(container, home, 'gc', '--older-than', '0s')).code).toBe(0);
      expect(await finish()).toMatchObject({ code: 0 });
      expect([(await summary(home)).status, ledger(home)]).toEqual(['succeeded', 'once\n']);
    });
  });

  it('is recorded as lost on request, and its process then writes no more', async () => {
    await withoutWay(async (home, finish) => {
      expect(await wfIn(container, home, 'stop', '--owner-gone', 'r1')).toMatchObject({ code: 0, stderr: '' });
      expect(await finish()).toMatchObject({
        code: 1,
        stdout: expect.stringContaining('another process has taken the run over'),
      });
      expect(await summary(home)).toMatchObject({ status: 'failed', reason: 'lost' });
    });
  });
});

describeWith('unshare', canUnshare, 'a daemon in another container', () => {
  const serve = ['serve', '--port', '0', '--dags', '.'] as const;

  it.each(places)('is the only one, also for those in %s, until it ends', async (place) => {
    await withPlace(files, async (home) => {
      const first = startIn(container, home, ...serve);
      await first.until('http://');
      const refused = await wfIn(place, home, ...serve);
      expect([refused.code, refused.stderr]).toEqual([
        2,
        expect.stringMatching(
          /^error: a daemon is already running for these runs: process 1 on ".*", at http:.*, in another container/,
        ),
      ]);
      process.kill(processOf(first), 'SIGKILL');
      await first.ended;
      const second = startIn(place, home, ...serve);
      await second.until('http://');
    });
  });

  it('warns that it reaps no orphaned processes', async () => {
    await withPlace(files, async (home) => {
      const daemon = startIn(container, home, ...serve);
      await daemon.until('http://');
      process.kill(processOf(daemon), 'SIGKILL');
      expect((await daemon.ended).stderr).toContain('wf is process 1 and does not reap orphaned processes');
    });
  });

  it('leaves a run of this one alone while it works, and finds out when its process is killed', async () => {
    await withPlace(files, async (home) => {
      const going = startIn(container, home, ...run);
      await going.until('| ready');
      await eventually(() => isListening(home));
      const daemon = startIn(container, home, ...serve);
      await daemon.until('http://');
      const url = /http:\S+[^,\s]/.exec(daemon.printed())?.[0] ?? '';
      await eventually(async () => /^wf_runs_active 1$/m.test(await (await fetch(`${url}/metrics`)).text()));
      expect((await summary(home)).status).toBe('running');
      process.kill(processOf(going), 'SIGKILL');
      await daemon.until('run r1 of "w": its process 1 died');
    });
  });
});

/** A directory with the programs that these tests start, but for Python. */
function withoutPython({ cwd }: Place): string {
  const directory = join(cwd, 'bin');
  if (existsSync(directory)) return directory;
  mkdirSync(directory);
  for (const name of ['sh', 'sleep', 'touch', 'unshare']) {
    const found = (process.env['PATH'] ?? '').split(delimiter).find((folder) => existsSync(join(folder, name)));
    symlinkSync(join(found ?? '/usr/bin', name), join(directory, name));
  }
  return directory;
}

describeWith('unshare', canUnshare, 'a lock', () => {
  const locked = `steps:
  - name: a
    locks: db
    command: sh -c 'echo ready; while [ ! -e go ]; do sleep 0.02; done; echo once >> ledger'
`;
  const own = 'the namespace of the test';

  it.each([
    [container, own],
    [container, container],
  ] as const)('of a run in %s is waited for in %s, and free once that run is dead', (there, here) =>
    withPlace({ 'l.yaml': locked }, async (home) => {
      const startLocked = (place: Namespace, id: string) =>
        startIn(place, home, 'run', 'l.yaml', '--run-id', id, '--reporter', 'plain');
      const holder = startLocked(there, 'holder');
      await holder.until('| ready');
      const waiter = startLocked(here, 'waiter');
      await waiter.until('WAIT');
      for (const place of [own, container] as const) {
        const { locks } = JSON.parse((await wfIn(place, home, 'locks', '--json')).stdout);
        expect(locks).toMatchObject([
          { name: 'db', holders: [{ runId: 'holder', step: 'a' }], waiters: [{ runId: 'waiter', place: 1 }] },
        ]);
      }
      // With the first process of its container all others end.
      process.kill(processOf(holder), 'SIGKILL');
      await holder.ended;
      await waiter.until('| ready');
      expect(existsSync(join(home.cwd, 'ledger'))).toBe(false);
      writeFileSync(join(home.cwd, 'go'), '');
      expect((await waiter.ended).code).toBe(0);
      expect(ledger(home)).toBe('once\n');
      expect(JSON.parse((await wfIn(here, home, 'locks', '--json')).stdout)).toEqual({ locks: [] });
    }),
  );
});
