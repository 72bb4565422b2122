import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeWith } from '../../support/require.ts';
import { hasTemporal, startTemporal, temporalWorld } from '../../support/temporal.ts';

const slow = `
steps:
  - {name: first, command: echo hello, output: A}
  - {name: waits, script: 'sleep 2; echo "got $A"', depends: first}
`;

const deaf = `
steps: [{name: waits, script: "trap 'echo asked; exit 1' TERM; echo ready; sleep 63 & wait"}]
handlerOn: {cancel: {command: echo cleaned}}
`;

const approval = `
steps:
  - {name: plan, command: echo 3 changes, output: PLAN, approval: {prompt: "Apply $PLAN?", input: [TICKET]}}
  - {name: apply, command: 'echo "applied $PLAN for $TICKET"', depends: plan}
`;

describeWith('temporal', hasTemporal, 'runs of an engine that no process here copies', () => {
  const world = temporalWorld((server) => server.worker('one'));

  /** A directory with a workflow, and `wf` in it; no command but the first names the engine. */
  function place(text: string) {
    const { cwd, call, start } = world.place({ 'work.yaml': text });
    return {
      cwd,
      call,
      start,
      detach: async () => (await call('run', 'work.yaml', '--engine', world.server.url, '--detach')).stdout.trim(),
      until: (id: string, text: string) =>
        expect.poll(async () => (await call('status', id)).stdout, { timeout: 20_000 }).toContain(text),
    };
  }

  it('are started without waiting, and read with their logs by who asks', async () => {
    const gate = join(world.directory, 'gate');
    const { call, detach, cwd } = place(slow.replace('sleep 2', `until test -e ${gate}; do sleep 0.1; done`));
    const id = await detach();
    const early = await call('status', id);
    expect(early.stdout).toContain('RUNNING');
    writeFileSync(gate, '');
    const followed = await call('logs', '--follow', id);
    expect({ code: followed.code, stdout: followed.stdout, stderr: followed.stderr }).toEqual({
      code: 0,
      stdout: '[first] hello\n[waits] got hello\n',
      stderr: '',
    });
    const { stdout } = await call('status', id);
    expect(stdout).toContain('SUCCEEDED');
    expect(stdout).toMatch(/first +\S+ {2}on one\n/);
    const { steps } = JSON.parse((await call('status', '--json', id)).stdout);
    expect(steps.map(({ name, worker }: { name: string; worker: string }) => [name, worker])).toEqual([
      ['first', 'one'],
      ['waits', 'one'],
    ]);
    // Nothing is left of those who copied it.
    expect(readdirSync(join(cwd, 'home/runs', id)).sort()).toEqual([
      'journal.jsonl',
      'logs',
      expect.stringMatching(/^owner/),
      'snapshot.json',
      'sources.json',
    ]);
  });

  it('continue when their "wf run" is killed, and are caught up', async () => {
    const { call, start } = place(slow);
    const options = ['--engine', world.server.url, '--reporter', 'plain'];
    const foreground = start('run', 'work.yaml', ...options);
    await foreground.until('| hello');
    foreground.kill('SIGKILL');
    await foreground.ended;
    expect((await call('logs', '--follow', '@latest')).stdout).toContain('[waits] got hello');
    expect((await call('status', '@latest', '--json')).stdout).toContain('"status": "succeeded"');
  });

  it('are stopped, with their handlers', async () => {
    const { call, detach, until } = place(deaf);
    const id = await detach();
    await until(id, '▶ waits');
    const stopped = await call('stop', id);
    expect(stopped).toMatchObject({ code: 0, stdout: expect.stringContaining('is stopped') });
    expect((await call('logs', id)).stdout).toContain('asked');
    expect((await call('logs', id)).stdout).toContain('cleaned');
  });

  it('are answered', async () => {
    const { call, detach, until } = place(approval);
    const id = await detach();
    await until(id, 'waits for approval');
    expect(await call('approve', id, '-p', 'TICKET=OPS-7')).toMatchObject({ code: 0 });
    expect((await call('reject', id, 'plan')).code).not.toBe(0);
    await call('logs', '--follow', id);
    expect((await call('logs', id)).stdout).toContain('applied 3 changes for OPS-7');
  });

  it('are retried and restarted on their engine', async () => {
    const { call, detach, cwd } = place('steps: [{name: a, script: \'test -n "$WORKER" && exit 5\'}]');
    const id = await detach();
    await call('logs', '--follow', id);
    const retried = await call('retry', id);
    expect(retried).toMatchObject({ code: 1, stdout: expect.stringContaining('exit 5') });
    expect(await call('retry', id, '--detach')).toMatchObject({ code: 0 });
    expect(await call('restart', id)).toMatchObject({ code: 1 });
    const journals = readdirSync(join(cwd, 'home/runs'))
      .filter((name) => /^[0-9a-f]/.test(name))
      .map((name) => readFileSync(join(cwd, 'home/runs', name, 'journal.jsonl'), 'utf8'));
    expect(journals.map((journal) => journal.includes(`"engine":"${world.server.url}"`))).toEqual([
      true,
      true,
      true,
      true,
    ]);
  });

  it('of past moments are started once for each', async () => {
    const { call } = place('schedule: "0 2 * * *"\nsteps: [{name: a, command: echo $WF_SCHEDULED_DATE}]');
    const fill = (to: string) =>
      call('backfill', 'work.yaml', '--from', '2026-11-01', '--to', to, '--engine', world.server.url);
    expect(await fill('2026-11-03')).toMatchObject({ code: 0, stdout: expect.stringMatching(/\n2 succeeded\n$/) });
    expect(await fill('2026-11-04')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/\n3 succeeded \(2 before\)\n$/),
    });
    expect((await call('logs', '@latest')).stdout).toBe('[a] 2026-11-03\n');
  });

  it('are refused for what the engine does not support, before anything is stored', async () => {
    const { call, cwd } = place('steps: [{name: a, dir: /tmp, command: "true"}]');
    const { code, stderr } = await call('run', 'work.yaml', '--engine', world.server.url, '--detach');
    expect({ code, isNamed: stderr.includes('"dir" of step "a"') }).toEqual({ code: 2, isNamed: true });
    expect(existsSync(join(cwd, 'home/runs'))).toBe(false);
  });

  it('say that they may be old while the engine is away, and are declared lost only by a user', async () => {
    const { call, cwd } = place(deaf);
    const other = await startTemporal(cwd);
    const id = (await call('run', 'work.yaml', '--engine', other.url, '--detach')).stdout.trim();
    await other.close();
    const status = await call('status', id);
    expect(status.stdout + status.stderr).toContain('this copy may be old: the engine');
    expect(await call('stop', id)).toMatchObject({ code: 2, stderr: expect.stringContaining('cannot be reached') });
    expect(await call('stop', '--owner-gone', id)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('is gone'),
    });
  });
});
