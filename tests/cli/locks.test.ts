import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { RunSummary } from '#core/summary/summary.ts';
import { problemsWith } from '../docs/json-schemas.ts';
import { eventually } from '../support/background-runs.ts';
import { type Place, withPlace } from '../support/past-runs.ts';

/** Notes its begin and end, and runs until the file `go` is there. */
const work = 'sh -c "echo + >> log; until test -e go; do sleep 0.02; done; echo - >> log"';
const step = (name: string, more: string) => `  - {name: ${name}, ${more}}\n`;
const working = (name: string, locks: string) => `  - name: ${name}\n    locks: ${locks}\n    command: ${work}\n`;
const one = (locks: string) => `steps:\n${working('work', locks)}`;

const start = ({ start: begin }: Place, file: string, ...more: readonly string[]) =>
  begin('run', file, '--reporter', 'plain', '--run-id', file.replace('.yaml', ''), ...more);
const marks = ({ cwd }: Place) =>
  existsSync(join(cwd, 'log')) ? readFileSync(join(cwd, 'log'), 'utf8').replaceAll('\n', '') : '';
const untilMarks = (place: Place, text: string) => eventually(async () => marks(place) === text);
const statusOf = ({ json }: Place, runId: string) => json<RunSummary>('status', runId);
/** The lock files that are left. */
const left = ({ cwd }: Place) => readdirSync(join(cwd, 'home/locks')).filter((name) => !name.startsWith('.'));

it('steps of different runs take turns, wait for nothing else, and say for whom they wait', () =>
  withPlace({ 'holder.yaml': one('[b, a]'), 'waiter.yaml': `params: NAME=a\n${one('$NAME')}` }, async (place) => {
    const holder = start(place, 'holder.yaml');
    await untilMarks(place, '+');
    const waiter = start(place, 'waiter.yaml');
    await waiter.until('WAIT ');
    expect((await statusOf(place, 'waiter')).steps[0]).toMatchObject({
      status: 'waiting',
      waitingFor: 'lock',
      startedAt: null,
      blocked: { name: 'a', holder: { runId: 'holder', workflow: 'holder', step: 'work' } },
    });
    expect((await place.wf('status', 'waiter')).stdout).toMatch(
      /work .*waits for lock a, held by run holder of "holder", step work/,
    );
    place.write('go', '');
    expect([(await holder.ended).code, (await waiter.ended).code]).toEqual([0, 0]);
    expect([marks(place), left(place)]).toEqual(['+-+-', []]);
  }));

it('a step that waits takes no place of maxActiveSteps, and its time limit has not begun', () => {
  const more = `locks: db, timeoutSec: 0.3, command: "true"`;
  const limited = `maxActiveSteps: 1\ntype: graph\nsteps:\n${step('held', more)}${step('free', 'command: sleep 0.5')}`;
  return withPlace({ 'holder.yaml': one('db'), 'limited.yaml': limited }, async (place) => {
    const holder = start(place, 'holder.yaml');
    await untilMarks(place, '+');
    const run = start(place, 'limited.yaml');
    await run.until('[free] OK');
    expect((await statusOf(place, 'limited')).steps[0]).toMatchObject({ status: 'waiting', waitingFor: 'lock' });
    place.write('go', '');
    expect([(await holder.ended).code, (await run.ended).code]).toEqual([0, 0]);
  });
});

it('a time limit of a sub-workflow has not begun while it waits for its queue', () => {
  const child = 'queue: db\nsteps:\n  - {name: s, command: "true"}\n';
  const parent = `type: graph\nsteps:\n${step('held', 'run: child, timeoutSec: 1')}${step('free', 'command: sleep 1.3')}`;
  return withPlace(
    { 'holder.yaml': `queue: db\n${one('other')}`, 'parent.yaml': parent, 'child.yaml': child },
    async (place) => {
      const holder = start(place, 'holder.yaml');
      await untilMarks(place, '+');
      const run = start(place, 'parent.yaml');
      await run.until('[free] OK');
      place.write('go', '');
      expect([(await holder.ended).code, (await run.ended).code]).toEqual([0, 0]);
    },
  );
});

it('a step that does not get its lock in time fails for that reason, and is retried by its policy', () => {
  const late = `steps:\n${step('late', 'locks: db, lockTimeoutSec: 0.2, retryPolicy: {limit: 1, intervalSec: 0}, command: "true"')}`;
  return withPlace({ 'holder.yaml': one('db'), 'late.yaml': late }, async (place) => {
    const holder = start(place, 'holder.yaml');
    await untilMarks(place, '+');
    expect((await start(place, 'late.yaml').ended).code).toBe(1);
    expect((await statusOf(place, 'late')).steps[0]).toMatchObject({
      status: 'failed',
      attempts: 2,
      reason: 'lock',
      error: 'waited 0.2s for the lock "db", held by run holder of "holder", step "work"',
    });
    place.write('go', '');
    await holder.ended;
    expect(left(place)).toEqual([]);
  });
});

it('readers share a lock, and a pool has several slots', () => {
  const reader = `type: graph\nsteps:\n${['r1', 'r2'].map((name) => working(name, '[{name: db, mode: read}]')).join('')}`;
  const pooled = `type: graph\nsteps:\n${['p1', 'p2'].map((name) => working(name, '[{name: pool, slots: 2}]')).join('')}`;
  return withPlace({ 'reader.yaml': reader, 'pooled.yaml': pooled }, async (place) => {
    place.write('home/config.yaml', 'pools: [{name: pool, slots: 4}]\n');
    const runs = [start(place, 'reader.yaml'), start(place, 'pooled.yaml')];
    await untilMarks(place, '++++');
    place.write('go', '');
    for (const run of runs) expect((await run.ended).code).toBe(0);
  });
});

it('a lock is taken as often a minute as its pool allows', () => {
  const files = { 'rated.yaml': `steps:\n${step('s', 'locks: api, parallel: [1, 2, 3], command: "true"')}` };
  return withPlace(files, async (place) => {
    place.write('home/config.yaml', 'pools: [{name: api, slots: 3, perMinute: 2}]\n');
    const run = start(place, 'rated.yaml');
    const waiting = async () => {
      const items = (await statusOf(place, 'rated')).steps[0]?.items ?? [];
      return items.map(({ status }) => status).sort();
    };
    await eventually(
      async () =>
        existsSync(join(place.cwd, 'home/runs/rated')) && String(await waiting()) === 'succeeded,succeeded,waiting',
    );
    expect((await place.wf('stop', 'rated')).code).toBe(0);
    expect((await run.ended).code).not.toBe(0);
    expect(left(place)).toEqual([]);
  });
});

it('a run holds its locks from its first step to its end, and another one waits before it starts', () => {
  const top = (name: string) => `locks: deploy-$ENV\nenv: [{ENV: prod}]\nname: ${name}\n${one('own')}`;
  return withPlace({ 'first.yaml': top('first'), 'second.yaml': top('second') }, async (place) => {
    const first = start(place, 'first.yaml');
    await untilMarks(place, '+');
    const second = start(place, 'second.yaml');
    await second.until('WAIT   for lock deploy-prod, held by run first of "first"');
    expect(await statusOf(place, 'second')).toMatchObject({
      status: 'queued',
      startedAt: null,
      blocked: { why: 'lock', name: 'deploy-prod', holder: { runId: 'first', workflow: 'first', step: null } },
    });
    expect((await place.wf('status', 'second')).stdout).toContain('waits for lock deploy-prod, held by run first');
    place.write('go', '');
    expect([(await first.ended).code, (await second.ended).code]).toEqual([0, 0]);
    expect(await statusOf(place, 'second')).not.toHaveProperty('blocked');
    expect([marks(place), left(place)]).toEqual(['+-+-', []]);
  });
});

it('a run that waits for its lock can be stopped, and fails after its time limit', () => {
  const late = (more: string) => `locks: db\n${more}steps:\n${step('s', 'command: touch started')}`;
  const files = { 'holder.yaml': one('db'), 'stopped.yaml': late(''), 'late.yaml': late('lockTimeoutSec: 0.2\n') };
  return withPlace(files, async (place) => {
    const holder = start(place, 'holder.yaml');
    await untilMarks(place, '+');
    const stopped = start(place, 'stopped.yaml');
    await stopped.until('WAIT ');
    expect((await place.wf('stop', 'stopped')).code).toBe(0);
    expect((await stopped.ended).code).not.toBe(0);
    expect((await start(place, 'late.yaml').ended).code).toBe(1);
    expect(await statusOf(place, 'stopped')).toMatchObject({ status: 'canceled' });
    expect(await statusOf(place, 'late')).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('waited 0.2s for the lock "db", held by run holder'),
    });
    place.write('go', '');
    expect((await holder.ended).code).toBe(0);
    expect([existsSync(join(place.cwd, 'started')), left(place)]).toEqual([false, []]);
  });
});

it('steps within the holder of a lock take turns among themselves', () => {
  const child = `type: graph\nsteps:\n${working('a', 'db')}${working('b', 'db')}`;
  const parent = `steps:\n${step('s', 'run: child, locks: db')}handlerOn:\n  exit: {command: echo done, locks: db}\n`;
  return withPlace({ 'parent.yaml': parent, 'child.yaml': child }, async (place) => {
    const run = start(place, 'parent.yaml');
    await run.until('WAIT ');
    await untilMarks(place, '+');
    place.write('go', '');
    expect((await run.ended).code).toBe(0);
    expect([marks(place), left(place)]).toEqual(['+-+-', []]);
  });
});

it.each([
  [
    'more slots than the lock has',
    'locks: [{name: db, slots: 2}]',
    'the lock "db" has 1 slot, but "slots: 2" is asked for: see the setting "pools"',
  ],
  [
    'a name that is none',
    'locks: "a $BLANK b"',
    '"a  b" is not the name of a lock: at most 100 letters, digits, ".", "_", ":" and "-", not "." first (of "a $BLANK b")',
  ],
  ['two texts of one name', 'locks: ["$ONE", "$TWO"]', 'the lock "x" is taken twice: two of its texts have this value'],
  ['a secret in a name', 'locks: "db-$TOKEN"', 'the name of the lock "db-$TOKEN" contains a secret'],
])('%s fails the step', (_, locks, error) => {
  const env = 'env: [{BLANK: ""}, {ONE: x}, {TWO: x}, {TOKEN: swordfish}]\nsecrets: [TOKEN]\n';
  return withPlace({ 'run.yaml': `${env}steps:\n${step('s', `${locks}, command: touch started`)}` }, async (place) => {
    expect((await start(place, 'run.yaml').ended).code).toBe(1);
    expect((await statusOf(place, 'run')).steps[0]).toMatchObject({ status: 'failed', error });
    expect(existsSync(join(place.cwd, 'started'))).toBe(false);
  });
});

it('the lock of a killed run is free when its programs have ended', () =>
  withPlace({ 'holder.yaml': one('db'), 'waiter.yaml': one('db') }, async (place) => {
    const holder = start(place, 'holder.yaml');
    await untilMarks(place, '+');
    const waiter = start(place, 'waiter.yaml');
    await waiter.until('WAIT ');
    holder.kill('SIGKILL');
    await holder.ended;
    await untilMarks(place, '++');
    place.write('go', '');
    expect((await waiter.ended).code).toBe(0);
    expect([marks(place), left(place)]).toEqual(['++-', []]);
  }));

it('wf locks lists holders and those that wait, and breaks a lock for its next one', () =>
  withPlace({ 'holder.yaml': one('db'), 'waiter.yaml': one('db') }, async (place) => {
    expect((await place.wf('locks')).stdout).toBe('no lock is in use\n');
    const holder = start(place, 'holder.yaml');
    await untilMarks(place, '+');
    const waiter = start(place, 'waiter.yaml');
    await waiter.until('WAIT ');
    const use = (runId: string) => ({
      runId,
      workflow: runId,
      step: 'work',
      since: expect.any(String),
      mode: 'write',
      slots: 1,
    });
    const listed = await place.json<unknown>('locks');
    expect(problemsWith('locks.json', listed)).toEqual([]);
    expect(listed).toEqual({
      locks: [
        { kind: 'lock', name: 'db', slots: 1, holders: [use('holder')], waiters: [{ ...use('waiter'), place: 1 }] },
      ],
    });
    expect((await place.wf('locks')).stdout.replace(/\d+s/g, 'Ns')).toBe(
      [
        'LOCK  STATE     SLOTS   RUN     WORKFLOW  STEP  FOR',
        'db    held      1 of 1  holder  holder    work  Ns',
        'db    waits, 1  1 of 1  waiter  waiter    work  Ns',
        '',
      ].join('\n'),
    );
    const refused = await place.wf('locks', 'break', 'db');
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringMatching(
        /held by\n {2}run holder of "holder", step work, for .*\n.*needs a confirmation\n {2}help: add --yes/,
      ),
    ]);
    expect((await place.wf('locks', 'break', 'dc', '--yes')).stderr).toMatch(
      /nothing holds the lock "dc"\n {2}help: did you mean "db"/,
    );
    expect((await place.wf('locks', 'break', 'db', '--run', 'waiter', '--yes')).stderr).toMatch(
      /no run "waiter" holds/,
    );
    expect((await place.wf('locks', 'break', 'db', '--yes')).stdout).toBe('the lock "db" is broken\n');
    await untilMarks(place, '++');
    place.write('go', '');
    expect([(await holder.ended).code, (await waiter.ended).code]).toEqual([0, 0]);
    expect((await statusOf(place, 'holder')).warnings).toEqual([expect.stringContaining('"db"')]);
    expect([marks(place), left(place)]).toEqual(['++--', []]);
  }));

it('a request for more slots than a pool has is an error of wf validate', () =>
  withPlace(
    { 'a.yaml': 'steps:\n  - {name: s, locks: [{name: licences, slots: 3}], command: "true"}\n' },
    async ({ wf, write }) => {
      const found = await wf('validate', 'a.yaml');
      expect([found.code, found.stderr]).toEqual([
        2,
        expect.stringContaining('error: step "s": the lock "licences" has 1 slot\n  ┌─ a.yaml:2:47'),
      ]);
      write('home/config.yaml', 'pools: [{name: licences, slots: 3}]\n');
      expect((await wf('validate', 'a.yaml')).code).toBe(0);
    },
  ));

it('the locks of steps and run are in the plan and in the graph', () => {
  const text = `params: NAME=db\nlocks: all\nlockTimeoutSec: 60\nsteps:\n${step('s', 'locks: [$NAME, {name: pool, slots: 2}, {name: data, mode: read}], command: "true"')}`;
  return withPlace({ 'a.yaml': text }, async ({ wf, json }) => {
    const plan = await json<{ locks: string; steps: { policies: string[] }[] }>('dry', 'a.yaml');
    expect([plan.locks, plan.steps[0]?.policies]).toEqual([
      'lock all; waits up to 60s',
      ['holds the locks db, pool (2 slots), data (read)'],
    ]);
    expect((await wf('graph', 'a.yaml')).stdout).toContain('s (locks $NAME, pool (2 slots), data (read))');
    expect(await json<unknown>('graph', 'a.yaml')).toMatchObject({ nodes: [{ locks: ['$NAME', 'pool', 'data'] }] });
  });
});
