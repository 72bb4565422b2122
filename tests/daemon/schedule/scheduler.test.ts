import { describe, expect, it } from 'vitest';
import { WfError } from '#system/errors.ts';
import { ScheduleWorld } from './schedule-world.ts';

const second = 1000;
const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

async function worldWith(schedule: Parameters<ScheduleWorld['write']>[1], now = '2026-06-01T00:00:00Z') {
  const world = new ScheduleWorld(now);
  world.write('/w.yaml', schedule);
  await world.boot();
  return world;
}

const typesOf = (world: ScheduleWorld) => world.events.map(({ type }) => type);

describe('a schedule', () => {
  it('starts its workflow once for each moment, on time', async () => {
    const world = await worldWith({ start: ['0 5 * * *', '30 17 * * *'] });
    await world.pass(2 * day);
    expect(world.started()).toEqual(['05:00', '17:30', '05:00', '17:30']);
    expect(world.runs.map(({ createdAt }) => createdAt % minute)).toEqual([0, 0, 0, 0]);
    expect(new Set(world.runs.map(({ runId }) => runId)).size).toBe(4);
    expect([world.scheduler?.lagSeconds(), world.scheduler?.missed()]).toEqual([0, 0]);
  });

  it('starts one run where two expressions coincide', async () => {
    const world = await worldWith({ start: ['0 5 * * *', '0 5 * * 1'] });
    await world.pass(day);
    expect(world.started()).toEqual(['05:00']);
  });

  it('begins when its file is found: a new file is not late', async () => {
    const world = await worldWith({ start: ['0 5 * * *'] });
    await world.pass(6 * hour);
    world.write('/new.yaml', { start: ['0 5 * * *', '0 7 * * *'], catchup: 'all' });
    await world.pass(2 * hour);
    expect(world.started()).toEqual(['05:00', '07:00']);
    expect(world.scheduler?.missed()).toBe(0);
  });

  it('changes and ends with its file', async () => {
    const world = await worldWith({ start: ['0 * * * *'] });
    await world.pass(90 * minute);
    world.write('/w.yaml', { start: ['45 * * * *'] });
    await world.pass(hour);
    world.remove('/w.yaml');
    await world.pass(day);
    expect(world.started()).toEqual(['01:00', '01:45']);
  });

  it('continues at its last position when its file was missing or invalid for a while', async () => {
    const world = await worldWith({ start: ['0 * * * *'], catchup: 'all' });
    await world.pass(30 * minute);
    world.remove('/w.yaml');
    await world.pass(2 * hour);
    world.write('/w.yaml', { start: ['0 * * * *'], catchup: 'all' });
    await world.pass(30 * minute);
    expect(world.started()).toEqual(['01:00', '02:00', '03:00']);
    world.write('/w.yaml', null);
    await world.pass(hour);
    world.write('/w.yaml', null);
    await world.pass(minute);
    expect(typesOf(world).filter((type) => type === 'broken')).toEqual(['broken']);
    world.write('/w.yaml', { start: ['0 * * * *'], catchup: 'all' });
    await world.pass(second);
    expect(world.started()).toEqual(['01:00', '02:00', '03:00', '04:00']);
  });

  it('forgets a file that was gone for more than a day', async () => {
    const world = await worldWith({ start: ['0 * * * *'], catchup: 'all' });
    world.remove('/w.yaml');
    await world.pass(25 * hour);
    world.write('/other.yaml', {});
    await world.pass(minute);
    world.write('/w.yaml', { start: ['0 * * * *'], catchup: 'all' });
    await world.pass(minute);
    expect(world.started()).toEqual([]);
  });
});

describe('a suspended schedule', () => {
  it('starts nothing, and does not catch up afterwards', async () => {
    const world = await worldWith({ start: ['0 * * * *'], catchup: 'all' });
    world.suspended.set('/w.yaml', Number.POSITIVE_INFINITY);
    await world.pass(150 * minute);
    expect([world.scheduler?.nextOf(world.listed('/w.yaml')), world.scheduler?.upcoming()]).toEqual([null, []]);
    world.suspended.delete('/w.yaml');
    await world.pass(hour);
    expect(world.started()).toEqual(['03:00']);
    expect(world.scheduler?.missed()).toBe(0);
  });

  it('continues at the end of the suspension, including that moment', async () => {
    const world = await worldWith({ start: ['0 * * * *'], catchup: 'all' });
    world.suspended.set('/w.yaml', world.now + 2 * hour);
    await world.pass(90 * minute);
    expect(world.started()).toEqual([]);
    expect(world.scheduler?.nextOf(world.listed('/w.yaml'))).toEqual(new Date(world.now + 30 * minute));
    await world.pass(hour);
    expect(world.started()).toEqual(['02:00']);
    expect(world.scheduler?.missed()).toBe(0);
  });

  it('does not catch up if no daemon ran when the suspension ended', async () => {
    const world = await worldWith({ start: ['0 * * * *'], catchup: 'all' });
    world.suspended.set('/w.yaml', world.now + 90 * minute);
    await world.shutDown();
    world.jump(190 * minute);
    await world.boot();
    await world.pass(minute);
    expect(world.started()).toEqual(['02:00', '03:00']);
  });
});

describe('when a run is still active', () => {
  it('skips the next start', async () => {
    const world = await worldWith({ start: ['0 * * * *'] });
    world.runsAreShort = false;
    await world.pass(150 * minute);
    expect(typesOf(world)).toEqual(['started', 'skipped']);
    for (const run of world.runs) run.isActive = false;
    await world.pass(hour);
    expect(world.started()).toEqual(['01:00', '03:00']);
  });

  it('queues the next starts', async () => {
    const world = await worldWith({ start: ['0 * * * *'], overlap: 'queue' });
    world.runsAreShort = false;
    await world.pass(190 * minute);
    expect(typesOf(world)).toEqual(['started', 'waiting', 'waiting']);
    for (const expected of [2, 3]) {
      for (const run of world.runs) run.isActive = false;
      await world.pass(10 * second);
      expect(world.runs.length).toBe(expected);
    }
    expect(world.started()).toEqual(['01:00', '02:00', '03:00']);
    const at = (hour: number) => Date.parse(`2026-06-01T0${hour}:00:00Z`);
    expect(world.runs.map(({ moment }) => moment)).toEqual([
      { scheduledFor: at(1) },
      { scheduledFor: at(2), previousFor: at(1) },
      { scheduledFor: at(3), previousFor: at(2) },
    ]);
  });

  it('keeps queued starts across processes', async () => {
    const world = await worldWith({ start: ['0 1 * * *', '0 2 * * *'], overlap: 'queue' });
    world.runsAreShort = false;
    await world.pass(150 * minute);
    await world.shutDown();
    await world.boot();
    for (const run of world.runs) run.isActive = false;
    await world.pass(10 * second);
    expect(world.started()).toEqual(['01:00', '02:00']);
  });

  it('queues at most a hundred starts', async () => {
    const world = await worldWith({ start: ['*/5 * * * *'], overlap: 'queue' });
    world.runsAreShort = false;
    await world.pass(9 * hour);
    expect(typesOf(world).filter((type) => type === 'waiting').length).toBe(100);
    expect(typesOf(world).filter((type) => type === 'skipped').length).toBe(7);
  });

  it('queues only the latest start', async () => {
    const world = await worldWith({ start: ['0 * * * *'], overlap: 'latest' });
    world.runsAreShort = false;
    await world.pass(190 * minute);
    expect(typesOf(world)).toEqual(['started', 'waiting', 'replaced', 'waiting']);
    for (const run of world.runs) run.isActive = false;
    await world.pass(10 * second);
    expect(world.started()).toEqual(['01:00', '03:00']);
  });

  it('starts the next run beside it', async () => {
    const world = await worldWith({ start: ['0 * * * *'], overlap: 'all' });
    world.runsAreShort = false;
    await world.pass(150 * minute);
    expect(world.started()).toEqual(['01:00', '02:00']);
    expect(typesOf(world)).toEqual(['started', 'started']);
  });
});

describe('with skipIfSuccessful', () => {
  it('leaves out a start after a success since the previous due time, other than the run of that time', async () => {
    const world = await worldWith({ start: ['0 * * * *'], skipIfSuccessful: true });
    await world.pass(150 * minute);
    expect(world.started()).toEqual(['01:00', '02:00']);
    const byHand = { runId: 'by-hand', file: '/w.yaml', createdAt: Date.parse('2026-06-01T02:30:00Z') };
    world.runs.push({ ...byHand, isActive: false, isStopping: false });
    await world.pass(2 * hour);
    expect(world.started()).toEqual(['01:00', '02:00', '04:00']);
    expect(typesOf(world)).toEqual(['started', 'started', 'unneeded', 'started']);
  });
});

describe('with notOn', () => {
  it('starts and restarts nothing on these days, but stops', async () => {
    const schedule = { start: ['0 8 * * *'], stop: ['0 9 * * *'], notOn: ['06-02'] };
    const world = await worldWith(schedule);
    await world.pass(3 * 24 * hour);
    expect(typesOf(world)).toEqual(['started', 'started']);
    expect(world.runs.map(({ createdAt }) => new Date(createdAt).getUTCDate())).toEqual([1, 3]);
  });

  it('an edit of the days applies from now on, and a moment starts one run', async () => {
    const world = await worldWith({ start: ['2026-06-01T08:00:00.000Z', '0 9 * * *'], notOn: ['06-01'] });
    await world.pass(hour);
    world.write('/w.yaml', { start: ['2026-06-01T08:00:00.000Z', '0 9 * * *'], notOn: ['06-02'] });
    await world.pass(3 * 24 * hour);
    expect(world.runs.map(({ createdAt }) => new Date(createdAt).toISOString().slice(8, 13))).toEqual([
      '01T08',
      '01T09',
      '03T09',
    ]);
  });
});

describe('stop and restart', () => {
  it('a stop ends the active run', async () => {
    const world = await worldWith({ start: ['0 8 * * *'], stop: ['0 18 * * *'] });
    world.runsAreShort = false;
    await world.pass(17 * hour);
    expect(world.runs.map(({ isStopping }) => isStopping)).toEqual([false]);
    await world.pass(hour);
    expect(world.runs.map(({ isStopping }) => isStopping)).toEqual([true]);
    expect(typesOf(world)).toEqual(['started', 'stopped']);
  });

  it('a restart stops, waits and starts', async () => {
    const world = new ScheduleWorld('2026-06-01T00:00:00Z');
    world.write('/w.yaml', { start: ['0 1 * * *'], restart: ['0 2 * * *'] }, 30 * second);
    world.runsAreShort = false;
    await world.boot();
    await world.pass(2 * hour + minute);
    expect(world.runs.map(({ isStopping }) => isStopping)).toEqual([true]);
    for (const run of world.runs) run.isActive = false;
    await world.pass(20 * second);
    expect(world.runs.length).toBe(1);
    await world.pass(20 * second);
    expect(world.started()).toEqual(['01:00', '02:00']);
  });

  it('a restart of an inactive workflow starts it at once', async () => {
    const world = new ScheduleWorld('2026-06-01T00:00:00Z');
    world.write('/w.yaml', { restart: ['0 2 * * *'] }, minute);
    await world.boot();
    await world.pass(2 * hour);
    expect(world.runs.map(({ createdAt }) => new Date(createdAt).toISOString())).toEqual(['2026-06-01T02:00:00.000Z']);
  });

  it('a late stop spares later runs', async () => {
    const world = await worldWith({ stop: ['0 18 * * *'], catchup: 'latest' });
    await world.shutDown();
    world.jump(19 * hour);
    const run = { file: '/w.yaml', isActive: true, isStopping: false };
    world.runs.push({ ...run, runId: 'before', createdAt: world.now - 2 * hour });
    world.runs.push({ ...run, runId: 'since', createdAt: world.now - minute });
    await world.boot();
    expect(world.runs.map(({ isStopping }) => isStopping)).toEqual([true, false]);
  });
});

describe('after a time without a daemon', () => {
  const during = async (schedule: Parameters<ScheduleWorld['write']>[1], ms: number) => {
    const world = await worldWith(schedule, '2026-06-01T00:30:00Z');
    await world.shutDown();
    world.jump(ms);
    await world.boot();
    return world;
  };

  it('catches up nothing by default', async () => {
    const world = await during({ start: ['0 * * * *'] }, 5 * hour);
    expect(world.started()).toEqual([]);
    expect(world.scheduler?.missed()).toBe(5);
    expect(world.events).toEqual([
      {
        type: 'missed',
        file: '/w.yaml',
        kind: 'start',
        count: 5,
        first: Date.parse('2026-06-01T01:00:00Z'),
        last: Date.parse('2026-06-01T05:00:00Z'),
      },
    ]);
    await world.pass(hour);
    expect(world.started()).toEqual(['06:00']);
  });

  it('does not treat a minute as late, since the daemon may have been restarted', async () => {
    expect((await during({ start: ['0 * * * *'] }, 30 * minute + 59 * second)).started()).toEqual(['01:00']);
    expect((await during({ start: ['0 * * * *'] }, 31 * minute)).started()).toEqual([]);
  });

  it('catches up the latest start', async () => {
    const world = await during({ start: ['0 * * * *'], catchup: 'latest' }, 5 * hour);
    expect([world.started(), world.scheduler?.missed()]).toEqual([['05:00'], 4]);
  });

  it('catches up all starts, oldest first, one after the other', async () => {
    const world = await worldWith({ start: ['0 * * * *'], catchup: 'all' }, '2026-06-01T00:30:00Z');
    await world.shutDown();
    world.jump(3 * hour);
    world.runsAreShort = false;
    await world.boot();
    expect(world.started()).toEqual(['01:00']);
    for (const run of world.runs) run.isActive = false;
    await world.pass(5 * second);
    expect(world.started()).toEqual(['01:00', '02:00']);
    for (const run of world.runs) run.isActive = false;
    await world.pass(5 * second);
    expect(world.started()).toEqual(['01:00', '02:00', '03:00']);
  });

  it('keeps the start that is on time behind those that are caught up', async () => {
    const world = await worldWith({ start: ['0 * * * *'], catchup: 'all' }, '2026-06-01T00:30:00Z');
    await world.shutDown();
    world.jump(2 * hour - 30 * minute + 50 * second);
    world.runsAreShort = false;
    await world.boot();
    expect(world.started()).toEqual(['01:00']);
    for (const run of world.runs) run.isActive = false;
    await world.pass(5 * second);
    expect(world.started()).toEqual(['01:00', '02:00']);
  });

  it('catches up at most a hundred starts', async () => {
    const world = await during({ start: ['* * * * *'], catchup: 'all', overlap: 'all' }, 10 * hour);
    // The last of them is on time.
    expect([world.runs.length, world.scheduler?.missed()]).toEqual([101, 499]);
  });

  it('catches up only starts within the window', async () => {
    const policy = { start: ['0 * * * *'], catchup: 'all', overlap: 'all', catchupWindowMs: 150 * minute } as const;
    const world = await during(policy, 5 * hour);
    expect([world.started(), world.scheduler?.missed()]).toEqual([['03:00', '04:00', '05:00'], 2]);
  });

  it('catches up no start that a stop would have ended', async () => {
    const policy = { start: ['0 8 * * *'], stop: ['0 18 * * *'], catchup: 'latest' } as const;
    expect((await during(policy, 20 * hour)).started()).toEqual([]);
    expect((await during(policy, 10 * hour)).started()).toEqual(['08:00']);
  });

  it('catches up nothing if the record is lost', async () => {
    const world = await worldWith({ start: ['0 * * * *'], catchup: 'all' });
    world.crash('{"format":1,"rul');
    world.jump(5 * hour);
    await world.boot();
    expect([world.started(), world.scheduler?.missed()]).toEqual([[], 0]);
  });
});

describe('a process that dies between a start and its record', () => {
  it('starts nothing twice', async () => {
    const world = await worldWith({ start: ['0 * * * *'], catchup: 'all' });
    const before = world.recordText;
    world.runsAreShort = false;
    await world.pass(hour);
    world.crash(before);
    await world.boot();
    await world.pass(minute);
    expect([world.started(), world.runs.length]).toEqual([['01:00'], 1]);
    expect(typesOf(world)).toEqual(['started']);
  });

  it.each([
    ['still runs', true],
    ['has finished', false],
  ])('repeats no restart whose run %s', async (_, isActive) => {
    const world = await worldWith({ start: ['0 2 * * *'], restart: ['0 1 * * *'] });
    const before = world.recordText;
    world.runsAreShort = false;
    await world.pass(hour);
    const [restarted] = world.runs;
    if (restarted === undefined) throw new Error('no run was started');
    restarted.isActive = isActive;
    const requested = { runId: 'requested', file: '/w.yaml', createdAt: world.now, isActive: true, isStopping: false };
    world.runs.push(requested);
    world.crash(before);
    await world.boot();
    await world.pass(minute);
    expect(world.runs).toEqual([restarted, requested]);
    expect(world.runs.map(({ isStopping }) => isStopping)).toEqual([false, false]);
    expect(typesOf(world)).toEqual(['started']);
  });

  it('repeats a restart whose run was not started', async () => {
    const world = await worldWith({ start: ['30 0 * * *'], restart: ['0 1 * * *'] });
    world.runsAreShort = false;
    await world.pass(45 * minute);
    const before = world.recordText;
    await world.pass(15 * minute);
    expect(world.runs).toMatchObject([{ isActive: true, isStopping: true }]);
    world.crash(before);
    await world.boot();
    for (const run of world.runs) run.isActive = false;
    await world.pass(minute);
    expect(world.started()).toEqual(['00:30', '01:00']);
  });
});

describe('a clock that jumps', () => {
  it('forward, like a sleeping machine, is noticed within seconds', async () => {
    const world = await worldWith({ start: ['0 5 * * *'], catchup: 'latest' });
    await world.pass(second);
    world.jump(8 * hour);
    await world.pass(5 * second);
    expect(world.started()).toEqual(['05:00']);
  });

  it('slightly forward is reported as a late start', async () => {
    const world = await worldWith({ start: ['0 5 * * *'] });
    await world.pass(5 * hour - 2 * second);
    world.jump(30 * second);
    await world.pass(5 * second);
    expect(world.started()).toEqual(['05:00']);
    expect(world.scheduler?.lagSeconds()).toBeGreaterThanOrEqual(28);
    expect(world.scheduler?.lagSeconds()).toBeLessThan(34);
  });

  it('slightly back repeats nothing', async () => {
    const world = await worldWith({ start: ['0 5 * * *', '30 5 * * *'] });
    await world.pass(5 * hour + minute);
    world.jump(-10 * minute);
    await world.pass(hour);
    expect(world.started()).toEqual(['05:00', '05:30']);
  });

  it('far back does not stop the schedule until that time', async () => {
    const world = await worldWith({ start: ['0 5 * * *'] });
    world.jump(365 * day);
    await world.pass(6 * hour);
    world.jump(-365 * day);
    world.events.length = 0;
    await world.pass(day);
    expect(world.started(0, 16)).toEqual(['2026-06-02T05:00']);
  });
});

describe('a start that is refused', () => {
  it('is retried while a limit is reached or the disk is full', async () => {
    const world = await worldWith({ start: ['0 5 * * *'] });
    world.refusals.push(new WfError('busy', 'the queue is full'), new WfError('storage', 'no space'));
    await world.pass(5 * hour + minute);
    expect(typesOf(world)).toEqual(['failed', 'started']);
    expect(world.scheduler?.missed()).toBe(0);
  });

  it('is abandoned after ten minutes', async () => {
    const world = await worldWith({ start: ['0 5 * * *'] });
    world.refusals.push(...Array.from({ length: 1000 }, () => new WfError('busy', 'the queue is full')));
    await world.pass(6 * hour);
    expect(typesOf(world)).toEqual(['failed', 'failed']);
    expect([world.runs.length, world.scheduler?.missed()]).toEqual([0, 1]);
  });

  it('for another reason is reported and not retried', async () => {
    const world = await worldWith({ start: ['0 5 * * *', '0 6 * * *'] });
    world.refusals.push(new WfError('invalid-workflow', 'not valid'), new TypeError('a bug'));
    await world.pass(7 * hour);
    expect(typesOf(world)).toEqual(['failed', 'failed']);
    expect(world.scheduler?.missed()).toBe(2);
  });
});

describe('the upcoming starts', () => {
  it('are returned for each workflow and for all', async () => {
    const world = await worldWith({ start: ['0 5 * * *', '0 3 * * 2'], stop: ['0 1 * * *'] });
    world.write('/broken.yaml', null);
    world.write('/idle.yaml', {});
    await world.pass(second);
    const { scheduler } = world;
    expect(scheduler?.nextOf(world.listed('/w.yaml'))).toEqual(new Date('2026-06-01T05:00:00Z'));
    expect(scheduler?.nextOf(world.listed('/broken.yaml'))).toBeNull();
    expect(scheduler?.nextOf(world.listed('/idle.yaml'))).toBeNull();
    expect(scheduler?.upcoming().map(({ kind, at }) => [kind, at.toISOString()])).toEqual([
      ['stop', '2026-06-01T01:00:00.000Z'],
      ['start', '2026-06-01T05:00:00.000Z'],
      ['start', '2026-06-02T03:00:00.000Z'],
    ]);
    expect(scheduler?.startsOf(world.listed('/w.yaml'), 3).map((at) => at.toISOString())).toEqual([
      '2026-06-01T05:00:00.000Z',
      '2026-06-02T03:00:00.000Z',
      '2026-06-02T05:00:00.000Z',
    ]);
    expect(scheduler?.startsOf(world.listed('/idle.yaml'), 3)).toEqual([]);
    expect(scheduler?.wordsOf(world.listed('/w.yaml'))?.stop).toEqual(['At 01:00, every day, UTC']);
    expect(scheduler?.wordsOf(world.listed('/broken.yaml'))).toBeNull();
    await world.pass(5 * hour);
    expect(scheduler?.nextOf(world.listed('/w.yaml'))).toEqual(new Date('2026-06-02T03:00:00Z'));
  });

  it('are none after the close', async () => {
    const world = await worldWith({ start: ['* * * * *'] });
    await world.scheduler?.close();
    await world.pass(hour);
    expect(world.runs).toEqual([]);
  });
});
