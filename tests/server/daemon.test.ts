import { randomUUID } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RunSummary } from '#core/summary/summary.ts';
import { writeRecord } from '#daemon/schedule/timetable.ts';
import { durableText } from '#store/files/disk/durable-text.ts';
import { eventually, journalOf, untilGone, untilOver } from '../support/background-runs.ts';
import { withDaemons } from '../support/daemon.ts';
import type { Place } from '../support/past-runs.ts';

/** Each run waits for a file that contains its id in its name, or for `go`. */
const files = {
  'wait.yaml': `MaxCleanUpTimeSec: 1
steps:
  - name: wait
    command: sh -c 'echo $WF_RUN_ID >> started; until test -e go -o -e go-$WF_RUN_ID; do sleep 0.02; done'
`,
  'stubborn.yaml': `MaxCleanUpTimeSec: 1
steps:
  - name: stay
    command: sh -c 'trap "" TERM; echo > stubborn; while :; do sleep 0.02; done'
`,
};

/** Unique to this file: processes left by a run are found by its id in any home. */
const [r1 = '', r2 = '', r3 = '', r4 = '', r5 = '', own = ''] = Array.from({ length: 6 }, () => `run-${randomUUID()}`);

const start = (runId: string) => ({ action: 'start', 'request-id': runId });
const statusOf = async (place: Place, runId: string) => (await place.json<RunSummary>('status', runId)).status;

/** The end of a run in its journal, read without settling the run. */
function endOf(place: Place, runId: string) {
  return journalOf(place, runId).find(({ type }) => type === 'run.finished');
}

describe('the queue of a daemon', () => {
  test('starts runs in order, up to its limit, and rejects those beyond the limit of waiting runs', () =>
    withDaemons(files, async (place) => {
      const daemon = await place.serve('--max-concurrent-runs', '1', '--max-queued-runs', '2');
      for (const runId of [r1, r2, r3]) expect((await daemon.act('wait', start(runId))).status).toBe(200);
      await eventually(async () => (await statusOf(place, r1)) === 'running');
      expect(await statusOf(place, r2)).toBe('queued');

      const refused = await daemon.act('wait', start(r4));
      expect([refused.status, refused.headers['retry-after']]).toEqual([429, '5']);
      expect(JSON.parse(refused.body).message).toBe('2 runs are waiting, the maximum');
      expect(existsSync(join(place.runsDir, r4))).toBe(false);
      const repeated = await daemon.act('wait', start(r3));
      expect([repeated.status, JSON.parse(repeated.body)]).toEqual([200, { RequestId: r3 }]);

      expect((await daemon.act('wait', { action: 'stop', 'request-id': r2 })).status).toBe(200);
      expect(endOf(place, r2)).toMatchObject({ status: 'canceled', message: 'stopped by the API' });
      expect((await daemon.act('wait', start(r5))).status).toBe(200);
      writeFileSync(join(place.cwd, 'go'), '');
      for (const runId of [r1, r3, r5]) await untilOver(place, runId, 'succeeded');
      const started = await Promise.all([r1, r3, r5].map((runId) => place.json('status', runId)));
      const times = started.map(({ startedAt }) => startedAt);
      expect(times).toEqual([...times].sort());
      expect(existsSync(join(place.runsDir, r4))).toBe(false);
    }));

  test('starts runs of a named queue one at a time, and counts a run of `wf run`', () => {
    const queued = `queue: db\n${files['wait.yaml']}`;
    return withDaemons({ ...files, 'wait.yaml': queued, 'free.yaml': files['wait.yaml'] ?? '' }, async (place) => {
      const daemon = await place.serve();
      const shell = place.start('run', 'wait.yaml', '--run-id', r1);
      // The daemon has not checked its runs since.
      await eventually(async () => existsSync(join(place.runsDir, r1)) && (await statusOf(place, r1)) === 'running');
      for (const runId of [r2, r3]) expect((await daemon.act('wait', start(runId))).status).toBe(200);
      expect((await daemon.act('free', start(r4))).status).toBe(200);
      await eventually(async () => (await statusOf(place, r4)) === 'running');
      expect([await statusOf(place, r2), await statusOf(place, r3)]).toEqual(['queued', 'queued']);
      const { queue } = JSON.parse(await daemon.get('/api/v2/workflows/wait.yaml'));
      expect(queue).toEqual({ name: 'db', limit: 1, waiting: 2 });
      expect(await place.json('status', r2)).toMatchObject({ queue: 'db', status: 'queued' });

      writeFileSync(join(place.cwd, 'go'), '');
      expect((await shell.ended).code).toBe(0);
      for (const runId of [r1, r2, r3, r4]) await untilOver(place, runId, 'succeeded');
      const [first, second, third] = await Promise.all([r1, r2, r3].map((runId) => place.json('status', runId)));
      expect(String(second?.startedAt) >= String(first?.finishedAt)).toBe(true);
      expect(String(third?.startedAt) >= String(second?.finishedAt)).toBe(true);
    });
  });

  const inQueue = `queue: db\n${files['wait.yaml']}`;

  test('shares the limit of a named queue with sub-workflows of other processes', () => {
    const parent = 'steps:\n  - {name: s, run: wait}\n';
    return withDaemons({ ...files, 'wait.yaml': inQueue, 'parent.yaml': parent }, async (place) => {
      const daemon = await place.serve();
      const first = place.start('run', 'parent.yaml', '--run-id', r1);
      const child = async () => (await place.json<RunSummary>('status', r1)).steps[0]?.child;
      await eventually(async () => existsSync(join(place.runsDir, r1)) && (await child()) !== undefined);
      expect((await daemon.act('wait', start(r2))).status).toBe(200);
      const second = place.start('run', 'parent.yaml', '--run-id', r3, '--reporter', 'plain');
      await second.until('WAIT ');
      expect(await statusOf(place, r2)).toBe('queued');

      writeFileSync(join(place.cwd, 'go'), '');
      expect([(await first.ended).code, (await second.ended).code]).toEqual([0, 0]);
      await untilOver(place, r2, 'succeeded');
      const ids = [await child(), r2, (await place.json<RunSummary>('status', r3)).steps[0]?.child];
      const runs = await Promise.all(ids.map((id) => place.json('status', String(id))));
      const spans = runs.map(({ startedAt, finishedAt }) => [String(startedAt), String(finishedAt)] as const).sort();
      for (const [index, [startedAt]] of spans.slice(1).entries())
        expect(startedAt >= String(spans[index]?.[1])).toBe(true);
    });
  });

  test('passes the limits of its option --queues on to the sub-workflows of its runs', () => {
    const step = (name: string) => `  - {name: ${name}, run: wait}\n`;
    const parent = `type: graph\nsteps:\n${['a', 'b', 'c'].map(step).join('')}`;
    return withDaemons({ ...files, 'wait.yaml': inQueue, 'parent.yaml': parent }, async (place) => {
      const daemon = await place.serve('--queues', 'db=2');
      expect((await daemon.act('parent', start(r1))).status).toBe(200);
      const statuses = async () =>
        (await place.json<RunSummary>('status', r1)).steps.map(({ status }) => status).sort();
      await eventually(async () => String(await statuses()) === 'running,running,waiting');
      writeFileSync(join(place.cwd, 'go'), '');
      await untilOver(place, r1, 'succeeded');
    });
  });

  test('fails a run that cannot start, and continues with the next one', () =>
    withDaemons(files, async (place) => {
      const daemon = await place.serve('--max-concurrent-runs', '1');
      for (const runId of [r1, r2, r3]) await daemon.act('wait', start(runId));
      writeFileSync(join(place.runsDir, r2, 'scratch/launch.json'), 'torn');
      writeFileSync(join(place.cwd, 'go'), '');
      await untilOver(place, r3, 'succeeded');
      const { status, reason, error } = await place.json('status', r2);
      expect([status, reason, error?.includes('is lost')]).toEqual(['failed', 'error', true]);
    }));
});

describe('a daemon that replaces another', () => {
  test('starts waiting runs in order and counts running ones', () =>
    withDaemons(files, async (place) => {
      const first = await place.serve('--max-concurrent-runs', '2');
      for (const runId of [r1, r2, r3, r4]) await first.act('wait', start(runId));
      for (const runId of [r1, r2]) await eventually(async () => (await statusOf(place, runId)) === 'running');
      await first.end('SIGKILL');

      const second = await place.serve('--max-concurrent-runs', '2');
      expect(second.process.printed()).toContain('took over 2 waiting and 2 running runs');
      await second.act('wait', start(r5));
      expect(await second.get('/metrics')).toMatch(/^wf_runs_active 2\n/m);
      expect(await second.get('/metrics')).toMatch(/^wf_queue_depth 3\n/m);
      writeFileSync(join(place.cwd, `go-${r1}`), '');
      await eventually(async () => (await statusOf(place, r3)) === 'running');
      expect([await statusOf(place, r2), await statusOf(place, r4)]).toEqual(['running', 'queued']);
      writeFileSync(join(place.cwd, 'go'), '');
      for (const runId of [r2, r3, r4, r5]) await untilOver(place, runId, 'succeeded');
      await eventually(async () => /^wf_runs_total\{.*status="succeeded"\} 5$/m.test(await second.get('/metrics')));
    }));

  test('also counts a run that finished while no daemon was running', () =>
    withDaemons(files, async (place) => {
      const first = await place.serve();
      await first.act('wait', start(r1));
      await eventually(async () => /wf_runs_active 1/.test(await first.get('/metrics')));
      await eventually(() => existsSync(join(place.cwd, 'home/daemon/watched.json')));
      await first.end('SIGKILL');
      writeFileSync(join(place.cwd, 'go'), '');
      await untilOver(place, r1, 'succeeded');
      await place.wf('run', 'wait.yaml', '--run-id', r2);

      const second = await place.serve();
      const total = 'wf_runs_total{workflow="wait",status="succeeded"} 1\n';
      await eventually(async () => (await second.get('/metrics')).includes(total));
    }));

  test('catches up on missed starts of schedules', () => {
    const scheduled = 'schedule: "0 * * * *"\ncatchup: latest\nsteps:\n  - name: one\n    command: echo 1\n';
    return withDaemons({ 'hourly.yaml': scheduled }, async (place) => {
      const rule = {
        file: join(place.cwd, 'hourly.yaml'),
        kind: 'start',
        expression: '0 * * * *',
        timeZone: null,
      } as const;
      const done = Date.now() - 3 * 3_600_000;
      const record = durableText(join(place.cwd, 'home/schedule.json'));
      writeRecord(record, { rules: [{ rule, done, goneSince: null }], waiting: [] });
      await place.serve();
      const [run] = await eventually(async () => {
        const runs = await place.json<readonly RunSummary[]>('history', 'hourly');
        return runs.some(({ status }) => status === 'succeeded') && runs;
      });
      expect(run?.trigger).toBe('schedule');
    });
  });
});

test('a daemon detects runs whose process has died, also those of `wf run`', () =>
  withDaemons(files, async (place) => {
    const daemon = await place.serve();
    await daemon.act('wait', start(r1));
    const own = place.start('run', 'wait.yaml', '--run-id', r2);
    await eventually(async () => (await statusOf(place, r1)) === 'running');
    await eventually(async () => (await place.wf('status', r2, '--json')).stdout.includes('"running"'));
    const { owner } = await place.json('status', r1);

    process.kill(owner?.pid ?? Number.NaN, 'SIGKILL');
    own.kill('SIGKILL');
    await untilGone(owner?.pid ?? 0);
    for (const runId of [r1, r2]) {
      const end = await eventually(() => endOf(place, runId));
      expect(end).toMatchObject({ status: 'failed', reason: 'lost' });
    }
    await eventually(async () => /^wf_runs_total\{.*status="failed"\} 2$/m.test(await daemon.get('/metrics')));
    await daemon.process.until(`run ${r1} of "wait": its process`);
  }));

test('only one daemon can run per home', () =>
  withDaemons(files, async (place) => {
    const first = await place.serve();
    const second = await place.wf('serve', '--port', '0', '--dags', place.cwd);
    expect([second.code, second.stdout]).toEqual([2, '']);
    expect(second.stderr).toContain(`process ${first.process.pid} on "`);
    expect(second.stderr).toContain(`at ${first.url}`);
    expect((await first.end('SIGTERM')).code).toBe(0);
    await place.serve();
  }));

describe('a daemon that is stopped', () => {
  test('leaves its runs running and its queue waiting', () =>
    withDaemons(files, async (place) => {
      const daemon = await place.serve('--max-concurrent-runs', '1');
      for (const runId of [r1, r2]) await daemon.act('wait', start(runId));
      await eventually(async () => (await statusOf(place, r1)) === 'running');
      const { code, stdout } = await daemon.end('SIGTERM');
      expect([code, stdout.includes('1 run left running without a daemon')]).toEqual([0, true]);
      expect([await statusOf(place, r1), await statusOf(place, r2)]).toEqual(['running', 'queued']);
      writeFileSync(join(place.cwd, 'go'), '');
      await untilOver(place, r1, 'succeeded');
      expect(await statusOf(place, r2)).toBe('queued');
    }));

  test('stops its own runs first on request, and no others', () =>
    withDaemons(files, async (place) => {
      const daemon = await place.serve('--max-concurrent-runs', '2', '--on-shutdown', 'stop');
      const person = place.start('run', 'wait.yaml', '--run-id', own);
      for (const [workflow, runId] of [
        ['wait', r1],
        ['stubborn', r2],
        ['wait', r3],
      ] as const)
        await daemon.act(workflow, start(runId));
      await eventually(() => existsSync(join(place.cwd, 'stubborn')));
      await eventually(async () => (await statusOf(place, r1)) === 'running');
      expect((await daemon.end('SIGTERM')).code).toBe(0);
      for (const runId of [r1, r2])
        expect(endOf(place, runId)).toMatchObject({
          status: 'canceled',
          message: 'stopped by the daemon, which is exiting',
        });
      expect([await statusOf(place, r3), await statusOf(place, own)]).toEqual(['queued', 'running']);
      writeFileSync(join(place.cwd, 'go'), '');
      expect((await person.ended).code).toBe(0);
    }));

  test('waits for its runs on request, and exits at once at a second signal', () =>
    withDaemons(files, async (place) => {
      const daemon = await place.serve('--on-shutdown', 'wait');
      await daemon.act('wait', start(r1));
      await eventually(async () => (await statusOf(place, r1)) === 'running');
      daemon.process.kill('SIGTERM');
      await daemon.process.until('waiting for 1 run to finish');
      await expect(daemon.get('/health')).rejects.toThrow();
      writeFileSync(join(place.cwd, 'go'), '');
      expect((await daemon.process.ended).code).toBe(0);
      expect(endOf(place, r1)).toMatchObject({ status: 'succeeded' });

      const impatient = await place.serve('--on-shutdown', 'wait');
      await impatient.act('stubborn', start(r2));
      await eventually(() => existsSync(join(place.cwd, 'stubborn')));
      impatient.process.kill('SIGTERM');
      await impatient.process.until('waiting for 1 run to finish');
      expect((await impatient.end('SIGTERM')).signal).toBe('SIGTERM');
      await place.wf('stop', r2);
      await untilOver(place, r2, 'canceled');
    }));
});
