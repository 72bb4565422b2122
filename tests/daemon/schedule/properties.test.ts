import { expect, it } from 'vitest';
import { loadCronTimes } from '#daemon/schedule/cron-times.ts';
import fc from '../../support/fast-check.ts';
import { ScheduleWorld } from './schedule-world.ts';

const times = await loadCronTimes();
const minute = 60_000;

/** What can befall a scheduler: too short for a hundred moments, which are the most that are made up for. */
const minutes = fc.integer({ min: 1, max: 1500 });
const fewMinutes = fc.integer({ min: 1, max: 300 });
const mishaps = {
  pass: fc.record({ what: fc.constant('pass' as const), minutes: fewMinutes }),
  restart: fc.record({ what: fc.constant('restart' as const), minutes }),
  crash: fc.record({ what: fc.constant('crash' as const), minutes: fewMinutes }),
  ahead: fc.record({ what: fc.constant('ahead' as const), minutes }),
  back: fc.record({ what: fc.constant('back' as const), minutes }),
  touch: fc.record({ what: fc.constant('touch' as const), minutes }),
  gone: fc.record({ what: fc.constant('gone' as const), minutes: fewMinutes }),
};
type Mishap = { readonly what: keyof typeof mishaps; readonly minutes: number };

const expression = fc.constantFrom('0 * * * *', '30 2 * * *', '0,20 1-3 * * *', '15 */3 * * *', '@daily');
const timeZone = fc.constantFrom('Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'UTC');
const start = fc.constantFrom(
  '2026-03-28T12:00:00Z',
  '2026-10-24T12:00:00Z',
  '2026-10-31T12:00:00Z',
  '2026-04-03T20:00:00Z',
);

type Case = { readonly expression: string; readonly timeZone: string; readonly start: string };
const cases = fc.record({ expression, timeZone, start });

/** Lives through it; answers the world, and the earliest and the latest time it has seen. */
async function live(
  { expression, timeZone, start }: Case,
  policy: { readonly catchup: 'none' | 'all' },
  story: readonly Mishap[],
): Promise<{ readonly world: ScheduleWorld; readonly since: number; readonly until: number; readonly missed: number }> {
  const world = new ScheduleWorld(start);
  const schedule = { start: [expression], timeZone, overlap: 'all', ...policy } as const;
  world.write('/w.yaml', schedule);
  await world.boot();
  let since = world.now;
  let until = world.now;
  let missed = 0;
  for (const mishap of story) {
    const ms = mishap.minutes * minute;
    switch (mishap.what) {
      case 'pass':
        break;
      case 'restart':
        missed += world.scheduler?.missed() ?? 0;
        await world.shutDown();
        world.jump(ms);
        await world.boot();
        break;
      case 'crash': {
        const before = world.recordText;
        await world.pass(ms);
        until = Math.max(until, world.now);
        world.crash(before);
        await world.boot();
        break;
      }
      case 'ahead':
        world.jump(ms);
        break;
      case 'back':
        world.jump(-ms);
        since = Math.min(since, world.now);
        break;
      case 'touch':
        world.write('/w.yaml', { ...schedule, stop: ['0 0 31 2 *'] });
        break;
      case 'gone':
        world.remove('/w.yaml');
        await world.pass(ms);
        world.write('/w.yaml', schedule);
        break;
    }
    await world.pass(mishap.what === 'pass' ? ms : 10_000);
    until = Math.max(until, world.now);
  }
  return { world, since, until, missed: missed + (world.scheduler?.missed() ?? 0) };
}

function momentsBetween({ expression, timeZone }: Case, from: number, until: number): number[] {
  const rule = { expression, timeZone };
  const moments: number[] = [];
  for (let at = times.next(rule, from); at !== null && at <= until; at = times.next(rule, at)) moments.push(at);
  return moments;
}

function startedMoments(world: ScheduleWorld): number[] {
  return world.events.flatMap((event) => (event.type === 'started' ? [event.moment] : []));
}

it('with catch-up, no moment is lost or started twice', async () => {
  const story = fc.array(fc.oneof(...Object.values(mishaps)), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(cases, story, async (given, mishapsOfIt) => {
      const { world, since, until } = await live(given, { catchup: 'all' }, mishapsOfIt);
      const started = startedMoments(world);
      const begun = Date.parse(given.start);
      expect(new Set(started).size).toBe(started.length);
      expect(started.filter((at) => at > begun).sort((a, b) => a - b)).toEqual(momentsBetween(given, begun, until));
      // A clock that is set back by much shows times again that were before everything.
      expect(momentsBetween(given, since - 1, begun)).toEqual(
        expect.arrayContaining(started.filter((at) => at <= begun)),
      );
    }),
    { numRuns: 25 },
  );
}, 180_000);

it('without catch-up, every moment is started or counted as missed', async () => {
  const { pass, restart, ahead, touch, gone } = mishaps;
  const story = fc.array(fc.oneof(pass, restart, ahead, touch, gone), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(cases, story, async (given, mishapsOfIt) => {
      const { world, until, missed } = await live(given, { catchup: 'none' }, mishapsOfIt);
      const started = startedMoments(world);
      const due = momentsBetween(given, Date.parse(given.start), until);
      expect(new Set(started).size).toBe(started.length);
      expect(started.every((moment) => due.includes(moment))).toBe(true);
      expect(started.length + missed).toBe(due.length);
    }),
    { numRuns: 25 },
  );
}, 180_000);
