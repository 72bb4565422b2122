import { existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventually, journalOf } from '../support/background-runs.ts';
import { type Place, withPlace } from '../support/past-runs.ts';
import { startWf, wf } from '../support/wf.ts';

const slow = `steps:
  - name: slow
    command: sh -c 'echo ready; sleep 60'
  - name: after
    command: echo after
    depends: slow
handlerOn:
  cancel: { command: echo "$WF_STATUS" }
`;
const stubborn = `steps:
  - name: stubborn
    command: sh -c 'trap "" TERM; echo ready; while :; do sleep 1; done'
`;

/** Starts a run and waits until its only running step has said so. */
async function begin(place: Place, file: string, id: string) {
  const run = place.start('run', file, '--run-id', id, '--reporter', 'plain');
  await run.until('| ready');
  return run;
}

describe('wf stop', () => {
  it('ends a run of another process, with its handlers, and waits for it', async () => {
    await withPlace({ 'slow.yaml': slow }, async (place) => {
      const run = await begin(place, 'slow.yaml', 'r1');
      const stopped = await place.wf('stop', 'r1');
      expect(stopped).toMatchObject({ code: 0, stdout: 'run r1 of "slow" is stopped\n', stderr: '' });
      expect((await run.ended).code).toBe(143);
      const { status, reason, error, steps, handlers } = await place.json('status', 'r1');
      expect({ status, reason }).toEqual({ status: 'canceled', reason: 'stop' });
      expect(error).toMatch(/^stopped by .+ \(wf stop\)$/);
      expect(steps.map((step) => step.status)).toEqual(['canceled', 'canceled']);
      expect(handlers.map((handler) => handler.status)).toEqual(['succeeded']);
    });
  });

  it('listens on a private socket that is removed with the run', async () => {
    await withPlace({ 'slow.yaml': slow }, async (place) => {
      const run = await begin(place, 'slow.yaml', 'r1');
      const socket = join(place.runsDir, 'r1/owner.sock');
      await eventually(() => existsSync(socket) && (statSync(socket).mode & 0o777) === 0o600);
      run.kill('SIGTERM');
      await run.ended;
      expect(existsSync(socket)).toBe(false);
    });
  });

  it.each([[[]], [['--force']]])('wakes an owner that is suspended, with %j', async (flags) => {
    await withPlace({ 'slow.yaml': slow }, async (place) => {
      const run = await begin(place, 'slow.yaml', 'r1');
      run.kill('SIGSTOP');
      const stopped = await place.wf('stop', 'r1', ...flags);
      expect(stopped).toMatchObject({ code: 0, stdout: 'run r1 of "slow" is stopped\n' });
      expect((await run.ended).code).toBe(143);
    });
  });

  it('reaches an owner that does not listen yet', async () => {
    await withPlace({ 'slow.yaml': slow }, async (place) => {
      const run = place.start('run', 'slow.yaml', '--run-id', 'r1', '--reporter', 'quiet');
      await eventually(() => existsSync(join(place.runsDir, 'r1/journal.jsonl')));
      run.kill('SIGSTOP');
      await place.wf('stop', 'r1', '--no-wait');
      run.kill('SIGCONT');
      expect((await run.ended).code).toBe(143);
    });
  });

  it.each([
    ['a second time', []],
    ['with --force', ['--force']],
  ])('%s kills processes that do not end', async (_, flags) => {
    await withPlace({ 'stubborn.yaml': stubborn }, async (place) => {
      const run = await begin(place, 'stubborn.yaml', 'r1');
      if (flags.length === 0) {
        const waiting = place.start('stop', 'r1');
        await eventually(() => journalOf(place, 'r1').some(({ type }) => type === 'run.canceling'));
        expect((await place.wf('stop', 'r1')).stdout).toBe('run r1 of "stubborn" is stopped\n');
        expect((await waiting.ended).stdout).toBe('run r1 of "stubborn" is stopped\n');
      } else {
        expect((await place.wf('stop', 'r1', ...flags)).code).toBe(0);
      }
      expect((await run.ended).code).toBe(143);
      expect((await place.json('status', 'r1')).steps[0]).toMatchObject({ status: 'canceled', signal: 'SIGKILL' });
    });
  });

  it('requires --all if several runs match', async () => {
    await withPlace({ 'slow.yaml': slow }, async (place) => {
      const runs = await Promise.all(['a1', 'a2'].map((id) => begin(place, 'slow.yaml', id)));
      const { code, stdout, stderr } = await place.wf('stop', 'slow');
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr.replace(/a[12]/g, 'ID')).toBe(
        'error: 2 runs of "slow" are active: ID, ID\n' +
          '  help: name one of them, or stop them all with wf stop --all slow\n',
      );
      const all = await place.wf('stop', '--all', 'slow');
      expect([all.code, all.stdout.split('\n').sort()]).toEqual([
        0,
        ['', 'run a1 of "slow" is stopped', 'run a2 of "slow" is stopped'],
      ]);
      for (const run of runs) expect((await run.ended).code).toBe(143);
    });
  });

  it('with --all stops the runs of a workflow, not the run of that name', async () => {
    await withPlace({ 'slow.yaml': slow, 'other.yaml': slow }, async (place) => {
      const [other, meant] = [await begin(place, 'other.yaml', 'slow'), await begin(place, 'slow.yaml', 'a1')];
      expect(await place.wf('stop', 'slow', '--all')).toMatchObject({
        code: 0,
        stdout: 'run a1 of "slow" is stopped\n',
      });
      expect((await meant.ended).code).toBe(143);
      expect((await place.wf('stop', 'slow', '--all')).stdout).toMatch(/^run a1 of "slow" had finished already/);
      expect((await place.json('status', 'slow')).status).toBe('running');
      expect((await place.wf('stop', 'slow')).stdout).toBe('run slow of "other" is stopped\n');
      expect((await other.ended).code).toBe(143);
    });
  });

  it('prints with --json the resulting run, and with --all a list', async () => {
    await withPlace({ 'slow.yaml': slow }, async (place) => {
      const runs = await Promise.all(['a1', 'a2'].map((id) => begin(place, 'slow.yaml', id)));
      const asked = await place.json('stop', 'a1', '--no-wait');
      expect([asked.runId, ['running', 'canceling', 'handling', 'canceled']]).toEqual([
        'a1',
        expect.arrayContaining([asked.status]),
      ]);
      const stopped = await place.json('stop', 'a1');
      expect(stopped).toEqual(await place.json('status', 'a1'));
      expect(stopped).toMatchObject({ status: 'canceled', reason: 'stop' });
      expect(await place.json('stop', 'slow', '--all')).toEqual([await place.json('status', 'a2')]);
      for (const run of runs) expect((await run.ended).code).toBe(143);
    });
  });

  it('reports how a finished run ended, and an unknown run', async () => {
    await withPlace({ 'good.yaml': 'steps:\n  - name: a\n    command: echo a\n' }, async (place) => {
      await place.wf('run', 'good.yaml', '--run-id', 'r1');
      for (const word of ['r1', 'good', '@latest'])
        expect(await place.wf('stop', word)).toMatchObject({
          code: 0,
          stdout: 'run r1 of "good" had finished already: succeeded\n',
        });
      expect(await place.wf('stop', 'goood')).toMatchObject({ code: 2, stdout: '' });
    });
  });

  it('settles a run whose owner has died', async () => {
    await withPlace({ 'slow.yaml': slow }, async (place) => {
      const run = await begin(place, 'slow.yaml', 'r1');
      run.kill('SIGKILL');
      await run.ended;
      const { code, stdout } = await place.wf('stop', 'r1');
      expect([code, stdout]).toEqual([
        0,
        `run r1 of "slow" had finished already: failed, its process ${run.pid} died\n`,
      ]);
    });
  });

  it('ends a sub-run by its own id', async () => {
    const outer = 'steps:\n  - name: inner\n    run: slow\n';
    await withPlace({ 'slow.yaml': slow, 'outer.yaml': outer }, async (place) => {
      const run = place.start('run', 'outer.yaml', '--run-id', 'r1', '--reporter', 'json');
      await run.until('"text":"run ');
      const inner = await place.json('status', 'slow');
      expect(inner).toMatchObject({ trigger: 'workflow', status: 'running' });
      expect((await place.wf('stop', inner.runId)).code).toBe(0);
      expect((await run.ended).code).toBe(1);
      expect((await place.json('status', 'r1')).steps[0]).toMatchObject({ status: 'canceled' });
    });
  });

  it('reaches a run whose directory is longer than a socket address', async () => {
    await withPlace({ 'slow.yaml': slow }, async (place) => {
      const home = join(place.cwd, 'a-rather-long-name-of-a-directory/'.repeat(4));
      mkdirSync(home, { recursive: true });
      const options = { cwd: place.cwd, env: { WF_HOME: home } };
      const run = startWf(['run', 'slow.yaml', '--run-id', 'r1', '--reporter', 'plain'], options);
      await run.until('| ready');
      await eventually(() => existsSync(join(home, 'runs/r1/owner.sock')));
      expect((await wf(['stop', 'r1'], options)).stdout).toBe('run r1 of "slow" is stopped\n');
      expect((await run.ended).code).toBe(143);
    });
  });
});
