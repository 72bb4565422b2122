import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { describeWith } from '../../support/require.ts';
import { hasTemporal, type StartedWorker, startTemporal, temporalWorld } from '../../support/temporal.ts';

describeWith('temporal', hasTemporal, 'locks of runs on Temporal', () => {
  const workers: StartedWorker[] = [];
  const world = temporalWorld(async (server) => {
    for (const name of ['one', 'two']) workers.push(await server.worker(name, { args: ['--slots', '2'] }));
  });

  /** Runs of a workflow, each as if on a machine of its own. `$S`: a directory that all of them have. */
  function machines(text: string, options: readonly string[] = ['--lost-after', '60'], engine = world.server.url) {
    const shared = mkdtempSync(join(world.directory, 'shared-'));
    const log = join(shared, 'log');
    return {
      log: () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []),
      finish: (name: number | string) => writeFileSync(join(shared, `go-${name}`), ''),
      start: (number: number) => {
        const { call, start } = world.place({ 'work.yaml': text.replaceAll('$S', shared) }, { WF_POOLS: 'pair=2' });
        const args = ['run', 'work.yaml', '--engine', engine, '--reporter', 'plain', ...options, '--', `${number}`];
        return { ...start(...args), call };
      },
    };
  }

  const noted = 'script: \'echo "+$1" >> $S/log; until test -e $S/go-$1; do sleep 0.1; done; echo "-$1" >> $S/log\'';

  it('steps of two runs take turns, whose names are those of the values, and say what they wait for', {
    timeout: 180_000,
  }, async () => {
    const { start, log, finish } = machines(`
params: "1"
env: [{TARGET: db}]
steps:
  - {name: free, command: "true"}
  - {name: work, locks: "deploy-$TARGET", depends: free, ${noted}, retryPolicy: {limit: 1, intervalSec: 0}}
`);
    const one = start(1);
    await expect.poll(log).toEqual(['+1']);
    const two = start(2);
    await two.until('lock deploy-db, held by run');
    expect((await two.call('status', '@latest')).stdout).toMatch(
      /lock deploy-db, held by run \S+ of "work", step "?work/,
    );
    const three = start(3);
    await three.until('lock deploy-db');
    for (const number of [1, 2, 3]) finish(number);
    expect((await Promise.all([one, two, three].map(({ ended }) => ended))).map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(log()).toEqual(['+1', '-1', '+2', '-2', '+3', '-3']);
  });

  it('a run holds its lock until it ends; one that waits can be stopped, or gives up in time', {
    timeout: 180_000,
  }, async () => {
    const { start, log, finish } = machines(`
params: "1"
locks: whole
lockTimeoutSec: 20
steps: [{name: first, command: "true"}, {name: work, depends: first, ${noted}}]
`);
    const one = start(1);
    await expect.poll(log).toEqual(['+1']);
    const two = start(2);
    await two.until('lock whole, held by run');
    two.kill('SIGINT');
    expect((await two.ended).code).toBe(130);
    const three = await start(3).ended;
    expect({ code: three.code, said: three.stdout.includes('waited 20s for the lock "whole", held by run') }).toEqual({
      code: 1,
      said: true,
    });
    const four = start(4);
    await four.until('lock whole');
    finish(1);
    finish(4);
    expect([(await one.ended).code, (await four.ended).code]).toEqual([0, 0]);
    expect(log()).toEqual(['+1', '-1', '+4', '-4']);
  });

  it('pools have slots, readers share a lock, and a stopped step frees its place', { timeout: 180_000 }, async () => {
    const pair = machines(`
params: "1"
steps: [{name: work, locks: pair, ${noted}}]
`);
    const runs = [1, 2].map(pair.start);
    await expect.poll(() => [...pair.log()].sort()).toEqual(['+1', '+2']);
    const third = pair.start(3);
    await third.until('lock pair');
    third.kill('SIGINT');
    expect((await third.ended).code).toBe(130);
    const fourth = pair.start(4);
    await fourth.until('lock pair');
    for (const number of [1, 2, 4]) pair.finish(number);
    const ended = await Promise.all([...runs, fourth].map((run) => run.ended));
    expect(ended.map(({ code }) => code)).toEqual([0, 0, 0]);
    const shared = machines(`
params: "1"
steps: [{name: work, locks: [{name: table, mode: read}], ${noted}}]
`);
    const readers = [1, 2].map(shared.start);
    await expect.poll(() => [...shared.log()].sort()).toEqual(['+1', '+2']);
    for (const number of [1, 2]) shared.finish(number);
    await Promise.all(readers.map((run) => run.ended));
  });

  it('what runs within the holder takes turns there, and does not wait for it', { timeout: 180_000 }, async () => {
    const { start, log } = machines(`
params: "1"
locks: outer
steps: [{name: child, run: inner}]
---
name: inner
type: graph
steps:
  - {name: a, locks: outer, script: "echo +a >> $S/log; sleep 1; echo -a >> $S/log"}
  - {name: b, locks: outer, script: "echo +b >> $S/log; sleep 1; echo -b >> $S/log"}
`);
    expect((await start(1).ended).code).toBe(0);
    expect(log().map((line) => line[0])).toEqual(['+', '-', '+', '-']);
  });

  it('the next one begins when the worker of the holder is killed, and not before its programs have ended', {
    timeout: 180_000,
  }, async () => {
    const { start, log, finish } = machines(
      `
params: "1"
steps: [{name: work, locks: kills, ${noted.replace('+$1"', '+$1 $WORKER"')}}]
`,
      // Shorter than a busy machine may be silent would lose the holder before it is killed.
      ['--lost-after', '10'],
    );
    const one = start(1);
    await expect.poll(() => log().length).toBe(1);
    const two = start(2);
    await two.until('lock kills');
    const holder = workers.findIndex(({ name }) => log()[0] === `+1 ${name}`);
    const [killed] = workers.splice(holder, 1);
    killed?.kill('SIGKILL');
    workers.push(await world.server.worker('three', { args: ['--slots', '2'] }));
    await expect.poll(() => log().length, { timeout: 90_000 }).toBe(2);
    finish(2);
    expect([(await one.ended).code, (await two.ended).code]).toEqual([1, 0]);
    expect(log().map((line) => line.slice(0, 2))).toEqual(['+1', '+2', '-2']);
  });

  it('a run that continues in new executions keeps its lock', { timeout: 180_000 }, async () => {
    const place = mkdtempSync(join(world.directory, 'continues-'));
    const own = await startTemporal(place, { settings: ['limit.historyCount.suggestContinueAsNew=1'] });
    onTestFinished(own.close);
    await own.worker('continues', { args: ['--slots', '4'] });
    const { start, log, finish } = machines(
      `
params: "1"
locks: moves
type: chain
steps: [{name: a, command: "true"}, {name: b, locks: inside, command: "true"}, {name: work, ${noted}}, {name: c, command: "true"}]
`,
      undefined,
      own.url,
    );
    const one = start(1);
    await expect.poll(log).toEqual(['+1']);
    const two = start(2);
    await two.until('lock moves');
    finish(1);
    finish(2);
    expect([(await one.ended).code, (await two.ended).code]).toEqual([0, 0]);
    expect(log()).toEqual(['+1', '-1', '+2', '-2']);
  });
});
