import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { BackfillView } from '#service/backfill.ts';
import { problemsWith } from '../docs/json-schemas.ts';
import { eventually } from '../support/background-runs.ts';
import { type Place, withPlace } from '../support/past-runs.ts';

const daily = (command: string) => `
timezone: Europe/Berlin
schedule: "0 2 * * *"
params: [{name: DAY, eval: $WF_SCHEDULED_DATE}]
steps:
  - name: load
    command: sh -c '${command}'
`;
const note = 'echo $DAY $WF_PREVIOUS_FOR >> log';
const days = (from: string, to: string) => ['--from', `2026-11-${from}`, '--to', `2026-11-${to}`];
const logged = ({ cwd }: Place) =>
  existsSync(join(cwd, 'log')) ? readFileSync(join(cwd, 'log'), 'utf8').trimEnd().split('\n') : [];

it('runs each moment once, with its variables, and continues with the next command', () =>
  withPlace({ 'w.yaml': daily(`${note}; test $DAY != 2026-11-02`) }, async (place) => {
    const { wf, json } = place;
    const plan = await json<BackfillView>('backfill', 'w.yaml', ...days('01', '03'), '--dry-run');
    expect(plan.moments.map(({ scheduledFor, state, runId }) => [scheduledFor, state, runId])).toEqual([
      ['2026-11-01T01:00:00.000Z', 'left', null],
      ['2026-11-02T01:00:00.000Z', 'left', null],
    ]);
    expect([problemsWith('backfill.json', plan), logged(place)]).toEqual([[], []]);
    const first = await wf('backfill', 'w.yaml', ...days('01', '03'));
    expect([first.code, first.stdout]).toEqual([1, expect.stringContaining('1 succeeded, 1 failed\n')]);
    const second = await wf('backfill', 'w.yaml', ...days('01', '04'));
    expect([second.code, second.stdout]).toEqual([
      1,
      expect.stringContaining('2 succeeded (1 before), 1 failed (1 before)\n'),
    ]);
    expect(second.stderr).toContain('to run the failed moments again, add --rerun failed');
    place.write('w.yaml', daily(note));
    const view = await json<BackfillView>('backfill', 'w.yaml', ...days('01', '04'), '--rerun', 'failed');
    expect(view).toMatchObject({ counts: { done: 3, failed: 0, running: 0, left: 0 }, rerun: 'failed' });
    expect(problemsWith('backfill.json', view)).toEqual([]);
    expect(logged(place)).toEqual([
      '2026-11-01',
      '2026-11-02 2026-11-01T02:00:00+01:00',
      '2026-11-03 2026-11-01T02:00:00+01:00',
      '2026-11-02 2026-11-01T02:00:00+01:00',
    ]);
    const run = await json('status', view.moments[1]?.runId ?? '');
    expect(run).toMatchObject({ trigger: 'backfill', backfill: view.id, scheduledFor: '2026-11-02T01:00:00.000Z' });
    expect(problemsWith('run-summary.json', run)).toEqual([]);
    // A retry keeps the moment.
    await wf('retry', run.runId, '--step', 'load', '--run-id', 'again');
    expect(await json('status', 'again')).toMatchObject({ trigger: 'cli', scheduledFor: run.scheduledFor });
  }));

it('a killed backfill continues with the same command, and two at once start nothing twice', () =>
  withPlace({ 'w.yaml': daily(`${note}; until test -e go; do sleep 0.02; done`) }, async (place) => {
    const args = ['backfill', 'w.yaml', ...days('01', '06'), '--max', '2'];
    const killed = place.start(...args);
    await eventually(() => logged(place).length === 2);
    killed.kill('SIGKILL');
    await killed.ended;
    const again = [place.start(...args), place.start(...args), place.start('backfill', 'w.yaml', ...days('03', '08'))];
    await eventually(() => logged(place).length === 3);
    place.write('go', '');
    const ends = await Promise.all(again.map(({ ended }) => ended));
    expect(ends.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(
      logged(place)
        .map((line) => line.slice(8, 10))
        .toSorted(),
    ).toEqual(['01', '02', '03', '04', '05', '06', '07']);
  }));

it('Ctrl-C starts no more runs and waits; a second one stops the run', () =>
  withPlace({ 'w.yaml': daily(`${note}; until test -e go; do sleep 0.02; done`) }, async (place) => {
    const first = place.start('backfill', 'w.yaml', ...days('01', '04'));
    await eventually(() => logged(place).length === 1);
    first.kill('SIGINT');
    await first.until('again to stop');
    place.write('go', '');
    expect((await first.ended).code).toBe(130);
    const rest = await place.json<BackfillView>('backfill', 'w.yaml', ...days('01', '04'), '--dry-run');
    expect(rest.counts).toEqual({ done: 1, failed: 0, running: 0, left: 2 });
    place.write('w.yaml', daily(`${note}; sleep 60`));
    const second = place.start('backfill', 'w.yaml', ...days('01', '04'));
    await eventually(() => logged(place).length === 2);
    second.kill('SIGINT');
    await second.until('again to stop');
    second.kill('SIGINT');
    expect([
      (await second.ended).code,
      (await place.json<BackfillView>('backfill', 'w.yaml', ...days('01', '04'), '--dry-run')).counts,
    ]).toEqual([130, { done: 1, failed: 1, running: 0, left: 1 }]);
  }));

it('has the moments of the schedule on days with a change of the clock', () =>
  withPlace({ 'w.yaml': daily(note).replace('0 2 *', '30 2 *') }, async ({ json }) => {
    const moments = async (...args: readonly string[]) => {
      const view = await json<BackfillView>('backfill', 'w.yaml', ...args, '--dry-run');
      return view.moments.map(({ scheduledFor }) => scheduledFor.slice(5, 16));
    };
    // 02:30 does not exist on the second day.
    expect(await moments('--from', '2026-03-28', '--to', '2026-03-31')).toEqual([
      '03-28T01:30',
      '03-29T01:00',
      '03-30T00:30',
    ]);
    // It exists twice on the second day, and the job of a day runs once; that of an hour runs in each hour.
    expect(await moments('--from', '2026-10-24', '--to', '2026-10-27')).toEqual([
      '10-24T00:30',
      '10-25T00:30',
      '10-26T01:30',
    ]);
    const hours = ['--every', '0 * * * *', '--from', '2026-10-25 01:00', '--to', '2026-10-25 04:00'];
    expect(await moments(...hours)).toEqual(['10-24T23:00', '10-25T00:00', '10-25T01:00', '10-25T02:00']);
  }));

it('checks everything before the first run', () =>
  withPlace({ 'w.yaml': daily(note), 'bare.yaml': 'steps:\n  - "true"\n' }, async (place) => {
    const { wf } = place;
    const refused = async (...args: readonly string[]) => {
      const { code, stderr, stdout } = await wf('backfill', ...args);
      return [code, stdout, stderr];
    };
    const problem = (text: string) => [2, '', expect.stringContaining(text)];
    expect(await refused('w.yaml', ...days('02', '01'))).toEqual(problem('--from must be before --to'));
    expect(await refused('w.yaml', '--from', '2026-11-01')).toEqual(problem('a backfill needs --to'));
    expect(await refused('w.yaml', '--from', '2026-11-01', '--to', '2026-11-01T01:00')).toEqual(
      problem('has no moment'),
    );
    expect(await refused('w.yaml', ...days('01', '30'), '--every', '* * * * *')).toEqual(
      problem('more than 10000 moments'),
    );
    expect(await refused('w.yaml', ...days('01', '30'), '--max', '0')).toEqual(problem('--max must be from 1 to 100'));
    expect(await refused('bare.yaml', ...days('01', '30'))).toEqual(problem('give one with --every'));
    expect(await refused('w.yaml', ...days('01', '30'), '-p', 'NONE=1')).toEqual(problem('NONE'));
    expect(logged(place)).toEqual([]);
  }));
