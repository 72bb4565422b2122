import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { BlockedBy } from '#core/run/run.ts';
import type { Lock, Step } from '#core/workflow.ts';
import type { LockOptions } from '#engine/attempt/run-locks.ts';
import { identify, isAlive } from '#processes/processes.ts';
import { createLocks } from '#store/files/locks/locks.ts';
import { type EngineWorld, type Work, withEngine } from '../../support/engine-world.ts';
import fc from '../../support/fast-check.ts';
import { withDirectory } from '../../support/wf.ts';
import { step, workflow } from '../../support/workflow.ts';

/** The slots of the locks that steps ask for. */
const sizes: Readonly<Record<string, number>> = { a: 1, b: 1, c: 2, d: 3 };
/** Locks of runs. No step asks for them, so that two runs do not wait for each other. */
const ofRuns = ['s', 't'];
const STEPS = 20;
const RUNS = 2;
const PROGRAMS = process.env['WF_CHAOS'] === 'full' ? 1000 : 100;

const lock = fc
  .constantFrom(...Object.keys(sizes))
  .chain((name) =>
    fc.record({
      name: fc.constant(name),
      slots: fc.integer({ min: 1, max: sizes[name] ?? 1 }),
      mode: fc.constantFrom('read' as const, 'write' as const),
    }),
  )
  // A reader has no slots of its own.
  .map((each): Lock => (each.mode === 'read' ? { ...each, slots: 1 } : each));

const program = fc.record({
  steps: fc.array(
    fc.record({
      depends: fc.uniqueArray(fc.nat(STEPS - 1), { maxLength: 2 }),
      locks: fc.uniqueArray(lock, { selector: ({ name }) => name, maxLength: 3 }),
      turns: fc.nat(3),
      /** The number of its attempts that fail; it has two. */
      failures: fc.constantFrom(0, 0, 0, 1, 2),
    }),
    { minLength: STEPS, maxLength: STEPS },
  ),
  locks: fc.uniqueArray(fc.constantFrom(...ofRuns), { maxLength: 2 }),
  maxActiveSteps: fc.integer({ min: 1, max: STEPS }),
});

type Program = typeof program extends fc.Arbitrary<infer T> ? T : never;

const asWriter = (name: string): Lock => ({ name, slots: 1, mode: 'write' });

function workflowOf({ steps, locks, maxActiveSteps }: Program) {
  const made = steps.map(({ depends, locks: own }, number): Step => {
    const earlier = depends.filter((each) => each < number).map(String);
    const retry = { limit: 1, intervalMs: 0 };
    return step(String(number), { depends: earlier, retry, ...(own.length === 0 ? {} : { locks: own }) });
  });
  return workflow({
    steps: made,
    maxActiveSteps,
    ...(locks.length === 0 ? {} : { locks: locks.map(asWriter) }),
  });
}

/** Counts who has a lock, outside of the program. */
function createCounter() {
  const held = new Map<string, Lock[]>();
  const problems: string[] = [];
  return {
    problems,
    left: () => [...held.values()].flat().length,
    take: (locks: readonly Lock[], size: (name: string) => number) => {
      for (const each of locks) {
        const others = held.get(each.name) ?? [];
        const writers = others.filter(({ mode }) => mode === 'write');
        const slots = writers.reduce((sum, other) => sum + other.slots, each.slots);
        const isWrong =
          each.mode === 'read' ? writers.length > 0 : slots > size(each.name) || writers.length < others.length;
        if (isWrong) problems.push(`${each.name}: ${JSON.stringify([...others, each])}`);
        held.set(each.name, [...others, each]);
      }
    },
    give: (locks: readonly Lock[]) => {
      for (const each of locks) {
        const others = [...(held.get(each.name) ?? [])];
        others.splice(others.indexOf(each), 1);
        held.set(each.name, others);
      }
    },
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const poolSize = (name: string) => sizes[name] ?? 1;

/** Retries wait for the clock, which the test moves. */
async function untilOver<T>(promise: Promise<T>, { clock }: EngineWorld): Promise<T> {
  let isOver = false;
  void promise.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await turn();
    clock.advance(1);
  }
  return promise;
}

async function play(given: Program, locks: LockOptions): Promise<void> {
  const counter = createCounter();
  const made = workflowOf(given);
  const works = given.steps.map(({ turns, locks, failures }): Work => {
    return async (attempt) => {
      attempt.started(null);
      counter.take(locks, poolSize);
      for (let n = 0; n < turns; n += 1) await turn();
      counter.give(locks);
      if (attempt.number > failures) return { status: 'succeeded', exitCode: 0, outputs: {} };
      return { status: 'failed', reason: 'exit', message: 'exit 1', exitCode: 1, signal: null, outputs: {} };
    };
  });
  const work = Object.fromEntries(works.map((each, number) => [String(number), each]));
  await withEngine({ work, locks }, async (world: EngineWorld) => {
    const runs = Array.from({ length: RUNS }, (_, n) => world.start(made, { runId: `run-${n}` }));
    const ends = await untilOver(Promise.all(runs.map(({ finished }) => finished)), world);
    expect(ends.every(({ status }) => status === 'succeeded' || status === 'failed')).toBe(true);
    expect([counter.problems, counter.left()]).toEqual([[], 0]);
  });
}

it('of locks no more slots are held than there are, and all runs end, in random programs', { timeout: 600_000 }, () =>
  // A process opens its locks once.
  withDirectory(async (home) => {
    const store = createLocks(join(home, 'runs'), { identify, isAlive, settle: async () => {} });
    const locks = {
      open: async () => store,
      sizeOf: (_: BlockedBy, name: string) => poolSize(name),
      perMinute: () => null,
    };
    await fc.assert(
      fc.asyncProperty(program, (given) => play(given, locks)),
      { numRuns: PROGRAMS },
    );
    expect(readdirSync(join(home, 'locks'))).toEqual(['.processes']);
  }),
);

it('runs that wait for locks of each other end when their waits do', () =>
  withEngine({}, async (world) => {
    const crossed = (own: string, other: string) =>
      workflow({
        name: own,
        locks: [asWriter(own)],
        steps: [step('first'), step('cross', { depends: ['first'], locks: [asWriter(other)], lockTimeoutMs: 10_000 })],
      });
    const runs = [['a', 'b'] as const, ['b', 'a'] as const].map(([own, other]) =>
      world.start(crossed(own, other), { runId: own }),
    );
    const ends = await untilOver(Promise.all(runs.map(({ finished }) => finished)), world);
    // Which of the two waits ends first depends on the clock; the other run may get the lock then.
    expect(ends.some(({ status }) => status === 'failed')).toBe(true);
    expect(world.events.flatMap((event) => ('reason' in event ? [event.reason] : []))).toContain('lock');
  }));
