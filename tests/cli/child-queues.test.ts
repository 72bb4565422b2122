import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { RunSummary } from '#core/summary/summary.ts';
import { eventually } from '../support/background-runs.ts';
import { type Place, withPlace } from '../support/past-runs.ts';

/** Notes its begin and end, and runs until the file `go` is there. */
const work = 'sh -c "echo + >> log; until test -e go; do sleep 0.02; done; echo - >> log"';
const child = `queue: db\nsteps:\n  - name: work\n    command: ${work}\n`;
const parent = (count: number, more = '') =>
  `type: graph\n${more}steps:\n${Array.from({ length: count }, (_, n) => `  - {name: s${n}, run: child}\n`).join('')}`;
const files = { 'child.yaml': child, 'one.yaml': parent(1), 'three.yaml': parent(3) };

const start = ({ start: begin }: Place, file: string, ...more: readonly string[]) =>
  begin('run', file, '--reporter', 'plain', '--run-id', file.replace('.yaml', ''), ...more);

/** The marks of the children so far: `+` at the begin, `-` at the end. */
const marks = ({ cwd }: Place) =>
  existsSync(join(cwd, 'log')) ? readFileSync(join(cwd, 'log'), 'utf8').replaceAll('\n', '') : '';
const untilMarks = (place: Place, text: string) => eventually(async () => marks(place) === text);
const stepOf = async ({ json }: Place, runId: string, name: string) =>
  (await json<RunSummary>('status', runId)).steps.find((step) => step.name === name);
/** The lock files that are left. */
const left = ({ cwd }: Place) => readdirSync(join(cwd, 'home/locks')).filter((name) => name !== '.processes');

it('the child runs of a queue take turns, and the steps that wait say so', () =>
  withPlace(files, async (place) => {
    const run = start(place, 'three.yaml');
    await run.until('[s2] WAIT ');
    await untilMarks(place, '+');
    const first = await stepOf(place, 'three', 's0');
    expect(await stepOf(place, 'three', 's2')).toMatchObject({
      status: 'waiting',
      waitingFor: 'queue',
      startedAt: null,
      blocked: { name: 'db', holder: { runId: first?.child, workflow: 'child', step: null } },
    });
    expect((await place.wf('status', 'three')).stdout).toMatch(
      /s2 .*waits for queue db, held by run \w+-\w+ of "child"/,
    );
    place.write('go', '');
    expect((await run.ended).code).toBe(0);
    expect([marks(place), left(place)]).toEqual(['+-+-+-', []]);
    expect(await place.json('status', String(first?.child))).toMatchObject({ queue: 'db' });
  }));

it('as many child runs as the setting allows run at once', () =>
  withPlace(files, async (place) => {
    place.write('home/config.yaml', 'queues: [{name: db, maxConcurrent: 2}]\n');
    const run = start(place, 'three.yaml');
    await untilMarks(place, '++');
    await run.until('[s2] WAIT ');
    place.write('go', '');
    expect((await run.ended).code).toBe(0);
  }));

it('a child run waits for those of other processes, and starts when their process is killed', () =>
  withPlace(files, async (place) => {
    const holder = start(place, 'one.yaml');
    await untilMarks(place, '+');
    const waiter = start(place, 'three.yaml');
    await waiter.until('[s0] WAIT ');
    holder.kill('SIGKILL');
    await holder.ended;
    await untilMarks(place, '++');
    place.write('go', '');
    expect((await waiter.ended).code).toBe(0);
    // The program of the killed run was ended before its slot was free.
    expect([marks(place), left(place)]).toEqual(['++-+-+-', []]);
    expect(await place.json('status', 'one')).toMatchObject({ status: 'failed', reason: 'lost' });
  }));

it('a run whose child run waits for its queue can be stopped', () =>
  withPlace(files, async (place) => {
    const holder = start(place, 'one.yaml');
    await untilMarks(place, '+');
    const waiter = start(place, 'three.yaml');
    await waiter.until('[s2] WAIT ');
    expect((await place.wf('stop', 'three')).code).toBe(0);
    expect((await waiter.ended).code).not.toBe(0);
    const { status, steps } = await place.json('status', 'three');
    expect([status, ...steps.map((step) => [step.status, step.child])]).toEqual([
      'canceled',
      ['canceled', undefined],
      ['canceled', undefined],
      ['canceled', undefined],
    ]);
    place.write('go', '');
    expect((await holder.ended).code).toBe(0);
    expect([marks(place), left(place)]).toEqual(['+-', []]);
  }));

it('a step that waits for a queue takes no place of maxActiveSteps', () => {
  const step = (name: string, more: string) => `  - {name: ${name}, ${more}}\n`;
  const limited = `maxActiveSteps: 1\ntype: graph\nsteps:\n${step('held', 'run: child')}${step('free', 'command: touch free')}`;
  return withPlace(
    { ...files, 'limited.yaml': limited, 'child.yaml': child.replace(work, 'test -e go') },
    async (place) => {
      place.write('holder.yaml', `queue: db\nsteps:\n  - name: work\n    command: ${work}\n`);
      const holder = start(place, 'holder.yaml');
      await untilMarks(place, '+');
      const run = start(place, 'limited.yaml');
      await run.until('[free] OK');
      expect(await stepOf(place, 'limited', 'held')).toMatchObject({ status: 'waiting', waitingFor: 'queue' });
      place.write('go', '');
      expect([(await holder.ended).code, (await run.ended).code]).toEqual([0, 0]);
    },
  );
});

it('a child run in the queue of a run above it needs no slot of its own', () =>
  withPlace({ ...files, 'same.yaml': parent(1, 'queue: db\n') }, async (place) => {
    place.write('go', '');
    const { code } = await start(place, 'same.yaml').ended;
    expect([code, marks(place), left(place)]).toEqual([0, '+-', []]);
    const { steps } = await place.json('status', 'same');
    expect(await place.json('status', String(steps[0]?.child))).not.toHaveProperty('queue');
  }));

it('a run without a queue creates no lock files', () =>
  withPlace(
    { 'plain.yaml': 'steps:\n  - {name: s, run: leaf}\n', 'leaf.yaml': 'steps:\n  - {name: s, command: "true"}\n' },
    async (place) => {
      expect((await place.wf('run', 'plain.yaml')).code).toBe(0);
      expect(existsSync(join(place.cwd, 'home/locks'))).toBe(false);
    },
  ));
