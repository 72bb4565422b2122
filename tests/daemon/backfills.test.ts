import { describe, expect, it } from 'vitest';
import type { RunHead } from '#core/summary/summary.ts';
import { noSchedule } from '#core/workflow.ts';
import { Backfills } from '#daemon/backfills.ts';
import type { StartOrder } from '#service/service.ts';
import type { DurableText } from '#store/store.ts';
import { WfError } from '#system/errors.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import fc from '../support/fast-check.ts';
import { workflow } from '../support/workflow.ts';

const file = '/dags/etl.yaml';
const etl = workflow({ name: 'etl', file, schedule: { ...noSchedule, start: ['0 2 * * *'], timeZone: 'UTC' } });
const request = { from: '2026-11-01', to: '2026-11-06', every: null, yes: false, max: 2, rerun: null, params: [] };
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A home whose runs and record outlive the daemons over it. */
function createHome() {
  const runs = new Map<string, RunHead>();
  const started: (string | undefined)[] = [];
  let text: string | null = null;
  const memory: DurableText = {
    path: 'memory',
    read: () => text,
    write: (written) => {
      text = written;
    },
  };
  const clock = createFakeClock();
  const refusals: WfError[] = [];
  const reported: unknown[] = [];
  let isDead = () => false;
  const start = async ({ runId, moment, backfill, trigger }: StartOrder) => {
    if (isDead()) throw new WfError('storage', 'the process is dead');
    const refusal = refusals.shift();
    if (refusal !== undefined) throw refusal;
    const id = runId ?? '';
    if (runs.has(id)) return { runId: id, isNew: false };
    started.push(new Date(moment?.scheduledFor ?? 0).toISOString().slice(0, 10));
    const scheduledFor = new Date(moment?.scheduledFor ?? 0).toISOString();
    const run = { runId: id, status: 'running', scheduledFor, startedAt: 'then', finishedAt: null, backfill, trigger };
    runs.set(id, run as RunHead);
    return { runId: id, isNew: true };
  };
  /** Starts a daemon over this home, which replaces the one before. */
  const daemon = () => {
    const backfills = new Backfills({
      clock,
      start,
      read: async (runId) => runs.get(runId) ?? null,
      momentBefore: async () => null,
      memory,
      log: () => {},
      report: (error) => reported.push(error),
    });
    /** Ends the run of a day. */
    const end = async (day: string, status: RunHead['status'] = 'succeeded') => {
      for (const [id, run] of runs) {
        if (run.finishedAt !== null || !run.scheduledFor?.startsWith(`2026-11-${day}`)) continue;
        runs.set(id, { ...run, status, finishedAt: 'now' });
        backfills.over(id);
      }
      await settled();
    };
    return { backfills, end };
  };
  return {
    ...{ runs, started, clock, refusals, reported, daemon },
    stored: () => text ?? '',
    dieWhen: (when: () => boolean) => {
      isDead = when;
    },
  };
}

describe('the backfills of a daemon', () => {
  it('start at most their number of runs at once, and end with the last', async () => {
    const { started, daemon, runs } = createHome();
    const { backfills, end } = daemon();
    const { id } = await backfills.begin(etl, request);
    await settled();
    expect(started).toEqual(['2026-11-01', '2026-11-02']);
    expect([...runs.values()].map(({ trigger, backfill }) => [trigger, backfill])).toEqual([
      ['backfill', id],
      ['backfill', id],
    ]);
    await end('02');
    expect([started.at(-1), (await backfills.find(id)).counts]).toEqual([
      '2026-11-03',
      { done: 1, failed: 0, running: 2, left: 2 },
    ]);
    for (const day of ['01', '03', '04']) await end(day);
    await end('05', 'failed');
    const view = await backfills.find(id);
    expect([view.counts, view.finishedAt, view.error]).toEqual([
      { done: 4, failed: 1, running: 0, left: 0 },
      expect.any(String),
      undefined,
    ]);
  });

  it('continue under the next daemon, and a request that is repeated starts nothing twice', async () => {
    const { started, daemon } = createHome();
    const first = daemon();
    const { id } = await first.backfills.begin(etl, request);
    await settled();
    first.backfills.close();
    const { backfills, end } = daemon();
    await backfills.open();
    await settled();
    expect((await backfills.begin(etl, request)).id).toBe(id);
    for (const day of ['01', '02', '03', '04', '05']) await end(day);
    expect([started.length, (await backfills.find(id)).counts.done]).toEqual([5, 5]);
    expect((await backfills.begin(etl, request)).counts.done).toBe(5);
    await settled();
    expect(started.length).toBe(5);
  });

  it('each moment runs exactly once, at whatever start the daemon dies', async () => {
    const property = fc.asyncProperty(fc.array(fc.nat(6), { maxLength: 6 }), async (lives) => {
      const { started, daemon, dieWhen } = createHome();
      const [from] = [started.length];
      expect(from).toBe(0);
      const first = daemon();
      const { id } = await first.backfills.begin(etl, request);
      let { backfills, end } = first;
      for (const life of lives) {
        await settled();
        const until = started.length + life;
        dieWhen(() => started.length >= until);
        for (const day of ['01', '02', '03', '04', '05']) await end(day);
        backfills.close();
        ({ backfills, end } = daemon());
        await backfills.open();
      }
      dieWhen(() => false);
      await settled();
      backfills.close();
      ({ backfills, end } = daemon());
      await backfills.open();
      for (let round = 0; round < 3; round += 1)
        for (const day of ['01', '02', '03', '04', '05']) {
          await settled();
          await end(day);
        }
      expect([started.toSorted(), (await backfills.find(id)).counts.done]).toEqual([
        ['01', '02', '03', '04', '05'].map((day) => `2026-11-${day}`),
        5,
      ]);
    });
    await fc.assert(property, { numRuns: 30 });
  });

  it('start nothing after a stop, across a restart, until they are asked for again', async () => {
    const { started, daemon } = createHome();
    const first = daemon();
    const { id } = await first.backfills.begin(etl, request);
    await settled();
    expect((await first.backfills.stop(id)).stopped).toBe(true);
    await expect(first.backfills.begin(etl, request)).rejects.toMatchObject({ code: 'busy' });
    first.backfills.close();
    const { backfills, end } = daemon();
    await backfills.open();
    for (const day of ['01', '02']) await end(day);
    const view = await backfills.find(id);
    expect([view.counts, view.finishedAt, view.error]).toEqual([
      { done: 2, failed: 0, running: 0, left: 3 },
      expect.any(String),
      undefined,
    ]);
    expect((await backfills.begin(etl, request)).stopped).toBeUndefined();
    await settled();
    expect(started.length).toBe(4);
  });

  it('repeat a start that the machine refused, and end with any other error', async () => {
    const { started, daemon, refusals, clock } = createHome();
    const { backfills, end } = daemon();
    refusals.push(new WfError('busy', 'full'), new WfError('not-found', 'the file is gone'));
    const { id } = await backfills.begin(etl, request);
    await settled();
    clock.advance(5000);
    await settled();
    expect(started).toEqual(['2026-11-01']);
    expect((await backfills.find(id)).counts.running).toBe(1);
    await end('01');
    expect(await backfills.find(id)).toMatchObject({ error: 'the file is gone', counts: { done: 1, left: 4 } });
  });

  it('keep no parameters after their end, and forget the oldest of more than fifty', async () => {
    const { daemon, stored, runs } = createHome();
    const { backfills, end } = daemon();
    const params = [{ name: null, value: 'kept-for-the-runs' }];
    const positional = { ...etl, params: [{ name: null, value: '' }] };
    const { id } = await backfills.begin(positional, { ...request, params });
    expect(stored()).toContain('kept-for-the-runs');
    await settled();
    for (const day of ['01', '02', '03', '04', '05']) await end(day);
    expect([stored().includes('kept-for-the-runs'), runs.size]).toEqual([false, 5]);
    for (let hour = 0; hour < 50; hour += 1) {
      const from = `2026-11-01T00:${String(hour).padStart(2, '0')}:00Z`;
      await backfills.begin(etl, { ...request, from });
      await settled();
    }
    await expect(backfills.find(id)).rejects.toMatchObject({ code: 'not-found' });
  });

  it('a plan starts and stores nothing', async () => {
    const { started, daemon, stored } = createHome();
    const { backfills } = daemon();
    const view = await backfills.plan(etl, request);
    await settled();
    expect([view.counts.left, started, stored()]).toEqual([5, [], '']);
    await expect(backfills.find(view.id)).rejects.toMatchObject({ code: 'not-found' });
    await expect(backfills.plan(etl, { ...request, to: '2026-10-01' })).rejects.toThrow('"from" must be before "to"');
  });
});
