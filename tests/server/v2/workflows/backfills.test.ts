import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { BackfillView } from '#service/backfill.ts';
import { problemsWith } from '../../../docs/json-schemas.ts';
import { eventually } from '../../../support/background-runs.ts';
import { type DaemonPlace, withDaemons } from '../../../support/daemon.ts';
import { startWf, wf } from '../../../support/wf.ts';

const daily = `
timezone: Europe/Berlin
schedule: "0 2 * * *"
steps:
  - name: load
    command: sh -c 'echo $WF_SCHEDULED_DATE >> log; until test -e go; do sleep 0.02; done'
`;
const range = ['--from', '2026-11-01', '--to', '2026-11-06'];
const body = { from: '2026-11-01', to: '2026-11-06', max: 2 };
const days = ['01', '02', '03', '04', '05'].map((day) => `2026-11-${day}`);
const logged = ({ cwd }: DaemonPlace) =>
  existsSync(join(cwd, 'log')) ? readFileSync(join(cwd, 'log'), 'utf8').trimEnd().split('\n') : [];

async function ask(url: string, method: string, path: string, sent?: object) {
  const answer = await fetch(`${url}/api/v2${path}`, {
    method,
    ...(sent === undefined ? {} : { body: JSON.stringify(sent), headers: { 'Content-Type': 'application/json' } }),
  });
  return {
    status: answer.status,
    location: answer.headers.get('Location'),
    view: (await answer.json()) as BackfillView,
  };
}

test('a daemon that is killed continues its backfill, and each moment runs once', () =>
  withDaemons({ 'daily.yaml': daily }, async (place) => {
    const first = await place.serve();
    const plan = await ask(first.url, 'POST', '/workflows/daily/backfills', { ...body, dryRun: true });
    expect([plan.status, plan.view.counts.left, problemsWith('backfill.json', plan.view)]).toEqual([200, 5, []]);
    expect((await ask(first.url, 'GET', `/backfills/${plan.view.id}`)).status).toBe(404);
    const { status, location, view } = await ask(first.url, 'POST', '/workflows/daily/backfills', body);
    expect([status, location, problemsWith('backfill.json', view)]).toEqual([202, `/api/v2/backfills/${view.id}`, []]);
    await eventually(() => logged(place).length === 2);
    await first.end('SIGKILL');
    const { url } = await place.serve();
    expect((await ask(url, 'POST', '/workflows/daily/backfills', body)).view.id).toBe(view.id);
    place.write('go', '');
    const last = await eventually(async () => {
      const { view: now } = await ask(url, 'GET', `/backfills/${view.id}`);
      return now.finishedAt !== null && now;
    });
    expect([last.counts, problemsWith('backfill.json', last)]).toEqual([
      { done: 5, failed: 0, running: 0, left: 0 },
      [],
    ]);
    expect(logged(place).toSorted()).toEqual(days);
    const runId = last.moments[0]?.runId ?? '';
    const run = JSON.parse(await (await fetch(`${url}/api/v2/runs/${runId}`)).text());
    expect(run).toMatchObject({ trigger: 'backfill', backfill: view.id, scheduledFor: '2026-11-01T01:00:00.000Z' });
  }));

test('wf backfill follows that of a daemon, and Ctrl-C stops it', () =>
  withDaemons({ 'daily.yaml': daily }, async (place) => {
    const { url } = await place.serve();
    const options = { cwd: join(place.cwd, 'home'), env: { ...place.env, WF_SERVER: url } };
    const plan = await wf(['backfill', 'daily', ...range, '--dry-run'], options);
    expect([plan.code, plan.stdout.match(/starts/g)?.length]).toEqual([0, 5]);
    const follower = startWf(['backfill', 'daily', ...range], options);
    await eventually(() => logged(place).length === 1);
    await follower.until('5 moments');
    // The moment is running in the view of the command, too.
    const running = `/backfills/${/backfill (\w+)/.exec(follower.printed())?.[1]}`;
    await eventually(async () => (await ask(url, 'GET', running)).view.counts.running === 1);
    follower.kill('SIGINT');
    await eventually(async () => (await ask(url, 'GET', running)).view.stopped);
    place.write('go', '');
    const ended = await follower.ended;
    expect([ended.code, ended.stdout]).toEqual([130, expect.stringContaining('1 succeeded, 4 left\n')]);
    const again = await wf(['backfill', 'daily', ...range, '--max', '3'], options);
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('5 succeeded (1 before)\n')]);
    expect(logged(place).toSorted()).toEqual(days);
  }));

test('invalid requests are refused with the way out', () =>
  withDaemons({ 'daily.yaml': daily, 'bad.yaml': 'steps: 1\n' }, async (place) => {
    const { url } = await place.serve();
    const refused = async (name: string, sent: object) => {
      const { status, view } = await ask(url, 'POST', `/workflows/${name}/backfills`, sent);
      return [status, (view as unknown as { detail: string }).detail];
    };
    expect(await refused('daily', { ...body, to: '2026-10-01' })).toEqual([
      400,
      expect.stringContaining('must be before'),
    ]);
    expect(await refused('daily', { ...body, to: '2026-11-01T01:00' })).toEqual([
      400,
      expect.stringContaining('no moment'),
    ]);
    expect(await refused('daily', { from: '2026-11-01' })).toEqual([400, expect.stringContaining('to')]);
    expect(await refused('daily', { ...body, max: 0 })).toEqual([400, expect.stringContaining('max')]);
    expect((await refused('bad', body))[0]).toBe(422);
    expect((await refused('none', body))[0]).toBe(404);
    expect((await ask(url, 'DELETE', '/backfills/none')).status).toBe(404);
    expect(logged(place)).toEqual([]);
  }));
