import { describe, expect, it } from 'vitest';
import type { RunHead } from '#core/summary/summary.ts';
import { noSchedule, type Workflow } from '#core/workflow.ts';
import {
  type AskedBackfill,
  type BackfillMoment,
  BackfillWork,
  backfillId,
  backfillRange,
  backfillRunId,
  planBackfill,
  type Rerun,
  requireMoments,
} from '#service/backfill.ts';
import { derivedRunId } from '#service/start-runs.ts';
import fc from '../support/fast-check.ts';

const file = '/dags/etl.yaml';
const schedule = { ...noSchedule, start: ['0 2 * * *'], timeZone: 'Europe/Berlin' };
const etl = { name: 'etl', schedule };
const day: AskedBackfill = { from: '2026-11-26', to: '2026-11-27', every: null, yes: false };
const option = (field: string) => `--${field}`;
const range = (asked: Partial<AskedBackfill>, workflow: Pick<Workflow, 'name' | 'schedule'> = etl) =>
  backfillRange({ ...day, ...asked }, workflow, option);

/** The message and the help of the error. */
function errorOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    const { message, help } = error as { message: string; help?: string };
    return `${message} | ${help}`;
  }
  return 'no error';
}

describe('the range of a backfill', () => {
  it('is read in the time zone of the workflow', () => {
    expect(range({})).toEqual({
      from: Date.parse('2026-11-25T23:00:00Z'),
      to: Date.parse('2026-11-26T23:00:00Z'),
      schedule,
    });
    expect(range({ from: '2026-11-26T00:00:00Z', every: '@hourly' })).toMatchObject({
      from: Date.parse('2026-11-26T00:00:00Z'),
      schedule: { start: ['@hourly'], timeZone: 'Europe/Berlin' },
    });
  });

  it.each([
    [{ from: '2026-11-27', to: '2026-11-26' }, '--from must be before --to'],
    [{ from: '2026-11-26', to: '2026-11-26' }, 'one day is --from 2026-11-26 --to 2026-11-27'],
    [{ from: 'monday' }, '--from: "monday" is not a time | write a time as'],
    [{ to: '2026-02-30' }, '--to: "2026-02-30" is not a time | write a time as'],
    [{ from: '2024-01-01' }, 'the range is 1061 days long, more than 366 | add --yes'],
    [{ every: 'daily' }, '--every: "daily" is not a cron expression | write five fields'],
  ])('refuses %j', (asked, message) => {
    expect(errorOf(() => range(asked))).toContain(message);
  });

  it('needs a schedule or an expression, and at most 366 days unless they are confirmed', () => {
    const bare = { name: 'bare', schedule: noSchedule };
    expect(errorOf(() => range({}, bare))).toBe(
      'workflow "bare" has no schedule to take the moments from | give one with --every "0 2 * * *"',
    );
    expect(range({ every: '0 2 * * *' }, bare).schedule.start).toEqual(['0 2 * * *']);
    expect(range({ from: '2024-01-01', yes: true }).from).toBe(Date.parse('2023-12-31T23:00:00Z'));
  });

  it('has at least one moment and at most 10,000', () => {
    expect(errorOf(() => requireMoments([], range({})))).toBe(
      'the schedule has no moment between 2026-11-26T00:00:00+01:00 and 2026-11-27T00:00:00+01:00 | it starts at: 0 2 * * *',
    );
    const many = Array.from({ length: 10_001 }, (_, at) => at);
    expect(errorOf(() => requireMoments(many, range({})))).toContain('more than 10000 moments');
    expect(errorOf(() => requireMoments(many.slice(1), range({})))).toBe('no error');
  });
});

it('the same command has the same id, and another file, range, expression or parameter another one', () => {
  const id = (name = file, asked: Partial<AskedBackfill> = {}, every: string | null = null, value = '1') =>
    backfillId(name, range(asked), { every, params: [{ name: 'A', value }] });
  const ids = [
    id(),
    id('/dags/b.yaml'),
    id(file, { to: '2026-11-28' }),
    id(file, {}, '@daily'),
    id(file, {}, null, '2'),
  ];
  expect([new Set(ids).size, id()]).toEqual([5, ids[0]]);
});

type Run = Partial<RunHead> & Pick<RunHead, 'status'>;
const ended = (status: RunHead['status'], more: Partial<RunHead> = {}): Run => ({
  status,
  startedAt: 'then',
  finishedAt: 'now',
  ...more,
});
const lostBefore = ended('failed', { reason: 'lost', startedAt: null });
const running: Run = { status: 'running', startedAt: 'then', finishedAt: null };

/** What a plan makes of one moment with these runs: its number and whether it is due. */
async function planOf(runs: Readonly<Record<string, Run>>, rerun: Rerun = null) {
  const stored = new Map(Object.entries(runs));
  const read = async (runId: string) => {
    const run = stored.get(runId);
    return run === undefined ? null : ({ runId, ...run } as RunHead);
  };
  const [moment] = await planBackfill({ file, moments: [5], rerun }, read);
  return moment;
}

const own = (n: number) => backfillRunId(file, 5, n);
const scheduled = derivedRunId(file, 5);

describe('a moment of a backfill', () => {
  it.each<[string, Readonly<Record<string, Run>>, Rerun, Partial<BackfillMoment>]>([
    ['without a run starts', {}, null, { runId: own(0), state: 'left', isDue: true }],
    [
      'that succeeded is left out',
      { [own(0)]: ended('succeeded') },
      null,
      { runId: own(0), state: 'done', isDue: false },
    ],
    ['that succeeded in part is left out', { [own(0)]: ended('partially_succeeded') }, 'failed', { isDue: false }],
    ['that was skipped is left out', { [own(0)]: ended('skipped') }, 'failed', { state: 'done', isDue: false }],
    ['that failed is left out', { [own(0)]: ended('failed') }, null, { state: 'failed', isDue: false }],
    ['that failed runs again on demand', { [own(0)]: ended('failed') }, 'failed', { runId: own(1), isDue: true }],
    [
      'that was stopped runs again on demand',
      { [own(0)]: ended('canceled') },
      'failed',
      { runId: own(1), isDue: true },
    ],
    [
      'counts by its last run',
      { [own(0)]: ended('failed'), [own(1)]: ended('succeeded') },
      'failed',
      { runId: own(1), state: 'done', isDue: false },
    ],
    ['runs again with "all"', { [own(0)]: ended('succeeded') }, 'all', { runId: own(1), n: 1, isDue: true }],
    ['that is running is awaited', { [own(0)]: running }, 'all', { runId: own(0), state: 'running', isDue: true }],
    ['whose run never began starts', { [own(0)]: lostBefore }, null, { runId: own(1), run: null, isDue: true }],
    [
      'counts by its last run that began',
      { [own(0)]: ended('succeeded'), [own(1)]: lostBefore },
      null,
      { runId: own(0), state: 'done', isDue: false },
    ],
    [
      'of which the schedule took care is left out',
      { [scheduled]: ended('succeeded') },
      null,
      { runId: scheduled, isDue: false },
    ],
    ['of which the schedule takes care is awaited', { [scheduled]: running }, null, { runId: scheduled, isDue: true }],
    [
      'counts by a retry of the daemon',
      {
        [scheduled]: ended('failed', { autoRetry: { n: 0, limit: 1, at: null } }),
        [derivedRunId(scheduled, 1)]: ended('succeeded'),
      },
      'failed',
      { runId: derivedRunId(scheduled, 1), state: 'done', isDue: false },
    ],
  ])('%s', async (_, runs, rerun, expected) => {
    expect(await planOf(runs, rerun)).toMatchObject({ at: 5, ...expected });
  });
});

/** The runs of a home, which outlive the processes that start them. */
class Home {
  readonly runs = new Map<string, Run>();
  /** The moments whose steps began, one entry for each time. */
  readonly begun: number[] = [];
  readonly previous = new Map<number, number | undefined>();

  /** One process of `wf backfill`. Each number of `kills` kills it at that one of its actions. */
  async backfill(moments: readonly number[], max: number, kill: number): Promise<void> {
    let actions = 0;
    const act = async () => {
      await Promise.resolve();
      if (actions >= kill) throw new Error('killed');
      actions += 1;
    };
    const read = async (runId: string) => {
      const run = this.runs.get(runId);
      return run === undefined ? null : ({ runId, ...run } as RunHead);
    };
    const planned = await planBackfill({ file, moments, rerun: null }, read);
    const work = new BackfillWork(file, planned, null, {
      changed: () => {},
      start: async (runId, { scheduledFor, previousFor }) => {
        await act();
        if (this.runs.has(runId)) return;
        // If the process dies now, the run is settled as lost before it began.
        this.runs.set(runId, lostBefore);
        await act();
        this.begun.push(scheduledFor);
        this.previous.set(scheduledFor, previousFor);
        this.runs.set(runId, ended(scheduledFor % 3 === 1 ? 'failed' : 'succeeded'));
      },
      ended: async (runId) => {
        await act();
        return { runId, ...this.runs.get(runId) } as RunHead;
      },
    });
    await work.run(max, new AbortController().signal).catch((error: Error) => {
      if (error.message !== 'killed') throw error;
    });
  }
}

const moments = [0, 1, 2, 3, 4, 5, 6];

it('each moment runs exactly once, however often the process is killed', async () => {
  const property = fc.asyncProperty(fc.array(fc.nat(30)), fc.integer({ min: 1, max: 4 }), async (kills, max) => {
    const home = new Home();
    for (const kill of kills) await home.backfill(moments, max, kill);
    await home.backfill(moments, max, Number.POSITIVE_INFINITY);
    expect(home.begun.toSorted()).toEqual(moments);
  });
  await fc.assert(property);
});

it('runs know the last moment before whose run succeeded', async () => {
  const home = new Home();
  await home.backfill(moments, 1, Number.POSITIVE_INFINITY);
  expect([...home.previous.values()]).toEqual([undefined, 0, 0, 2, 3, 3, 5]);
});

describe('the work of a backfill', () => {
  const planned = () => planBackfill({ file, moments, rerun: null }, async () => null);

  it('never has more runs at once than allowed, and starts them in order', async () => {
    const [started, active]: [number[], Set<string>] = [[], new Set()];
    let most = 0;
    const work = new BackfillWork(file, await planned(), null, {
      changed: () => {},
      start: async (runId, { scheduledFor }) => {
        started.push(scheduledFor);
        active.add(runId);
        most = Math.max(most, active.size);
      },
      ended: async (runId) => {
        for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
        active.delete(runId);
        return { runId, ...ended('succeeded') } as RunHead;
      },
    });
    await work.run(3, new AbortController().signal);
    expect([most, started, work.moments.map(({ state }) => state)]).toEqual([3, moments, moments.map(() => 'done')]);
  });

  it('starts no more after a stop, but waits for what runs', async () => {
    const stop = new AbortController();
    const work = new BackfillWork(file, await planned(), null, {
      changed: () => {},
      start: async () => {},
      ended: async (runId) => {
        stop.abort();
        return { runId, ...ended('succeeded') } as RunHead;
      },
    });
    await work.run(2, stop.signal);
    expect(work.moments.map(({ state }) => state)).toEqual(['done', 'done', ...Array(5).fill('left')]);
  });

  it('ends with the error of a start, after the runs that have started', async () => {
    const work = new BackfillWork(file, await planned(), null, {
      changed: () => {},
      start: async (_, { scheduledFor }) => {
        if (scheduledFor === 1) throw new Error('no disk');
      },
      ended: async (runId) => ({ runId, ...ended('succeeded') }) as RunHead,
    });
    await expect(work.run(2, new AbortController().signal)).rejects.toThrow('no disk');
    expect(work.moments.slice(0, 4).map(({ state }) => state)).toEqual(['done', 'left', 'left', 'left']);
  });
});
