import { expect, test } from 'vitest';
import { firstItems } from '#core/data/collections.ts';
import { buildGraph } from '#core/graph.ts';
import { evolve } from '#core/run/evolve.ts';
import { endsAttempt } from '#core/run/outcome.ts';
import { mayStartAhead } from '#core/run/policies.ts';
import type { RunEvent } from '#core/run/run.ts';
import {
  hasAttempt,
  initialRun,
  instancesOf,
  isActive,
  isFinished,
  isServing,
  isSettled,
  type RunState,
  type StepState,
  stepNode,
  stepState,
  steps,
} from '#core/run/run-state.ts';
import { transition } from '#core/run/transition.ts';
import { handlerKind, type Step } from '#core/workflow.ts';
import fc from '../support/fast-check.ts';
import { arbitraryCase, type Case } from './arbitrary-case.ts';
import { expectedEnding, expectedHandlers, expectedStatuses } from './oracle.ts';
import { AHEAD, keptBy, SimulatedWorld } from './simulated-world.ts';

/** Checks a property of many random runs, each played to its end. */
function forRandomRuns(
  numRuns: number,
  check: (world: SimulatedWorld, made: Case, events: readonly RunEvent[]) => void,
  cases = arbitraryCase,
) {
  const play = (made: Case) => {
    const world = new SimulatedWorld(made);
    world.play();
    check(
      world,
      made,
      world.moves.flatMap(({ events }) => events),
    );
  };
  fc.assert(fc.property(cases, play), { numRuns });
}

function ofType<Type extends RunEvent['type']>(events: readonly RunEvent[], type: Type) {
  return events.filter((event): event is Extract<RunEvent, { type: Type }> => event.type === type);
}

function instanceNames(events: readonly RunEvent[]): readonly string[] {
  return ofType(events, 'step.expanded').flatMap(({ step, items }) => items.map(({ key }) => `${step}[${key}]`));
}

/** The same case with a program in the place of each other step, and a limit. */
function ofPrograms({ workflow, ...made }: Case): Case {
  const program = ({ service: _s, fanOut: _f, approval: _a, artifacts: _kept, upToDate: _u, ...own }: Step): Step =>
    own;
  const maxActiveSteps = Math.max(1, workflow.maxActiveSteps);
  return { ...made, workflow: { ...workflow, steps: workflow.steps.map(program), maxActiveSteps }, restored: [] };
}

const isHandler = (name: string) => handlerKind(name) !== null;
/** Whether the handler runs after the steps. */
const isClosing = (name: string) => isHandler(name) && name !== 'handlerOn.init' && name !== 'handlerOn.wait';

function isInitialized(run: RunState): boolean {
  return !run.graph.index.has('handlerOn.init') || isSettled(stepState(run, 'handlerOn.init'));
}

test('every run finishes once, with its last event', () => {
  forRandomRuns(400, (world, _, events) => {
    expect(isFinished(world.run)).toBe(true);
    expect(ofType(events, 'run.finished')).toEqual([events.at(-1)]);
  });
});

test('each step of a started run, each of its instances, and each listed handler, is settled exactly once', () => {
  forRandomRuns(400, ({ run }, { workflow }, events) => {
    const settled = events
      .flatMap((event) => (event.type === 'step.finished' || event.type === 'step.restored' ? [event.step] : []))
      .filter((name) => name !== 'handlerOn.wait');
    const listed = ofType(events, 'run.handling').flatMap(({ handlers }) =>
      handlers.map((kind) => `handlerOn.${kind}`),
    );
    const { init } = workflow.handlers;
    const begun = run.startedAt === null ? [] : [...workflow.steps, ...(init ? [init] : [])].map(({ name }) => name);
    expect(settled.toSorted()).toEqual([...begun, ...listed, ...instanceNames(events)].toSorted());
  });
});

test('a step starts only when its dependencies are settled and let it run', () => {
  forRandomRuns(400, (_, { workflow }, events) => {
    const passing = new Set<string>();
    for (const event of events) {
      if (event.type === 'step.restored' || event.type === 'step.serving') passing.add(event.step);
      if (event.type === 'step.waiting') passing.delete(event.step);
      if (event.type === 'step.finished') passing.delete(event.step);
      if (event.type === 'step.finished') {
        const continueOn = workflow.steps.find(({ name }) => name === event.step)?.continueOn;
        const tolerated = { failed: event.tolerated !== undefined, skipped: continueOn?.skipped, succeeded: true };
        if (event.status in tolerated && tolerated[event.status as keyof typeof tolerated]) passing.add(event.step);
      }
      if (event.type !== 'step.scheduled') continue;
      const depends = workflow.steps.find(({ name }) => name === event.step)?.depends ?? [];
      expect(depends.filter((name) => !passing.has(name))).toEqual([]);
    }
  });
});

test('no step starts before the handler "init" has let it', () => {
  forRandomRuns(200, (_, { workflow }, events) => {
    const first = events.findIndex((event) => event.type === 'step.scheduled' && !isHandler(event.step));
    if (!workflow.handlers.init || first < 0) return;
    const end = ofType(events.slice(0, first), 'step.finished').find(({ step }) => step === 'handlerOn.init');
    expect(end?.status === 'failed' ? end.tolerated : end?.status).toMatch(
      /^(succeeded|skipped|failure|exitCode|output)$/,
    );
  });
});

test('dependents of a step that asks start only after it was approved', () => {
  forRandomRuns(300, (_, { workflow }, events) => {
    const approved = new Set(
      ofType(events, 'step.answered')
        .filter(({ answer }) => answer === 'approved')
        .map(({ step }) => step),
    );
    const asked = new Set(ofType(events, 'step.held').map(({ step }) => step));
    for (const { step } of ofType(events, 'step.scheduled')) {
      const depends = workflow.steps.find(({ name }) => name === step)?.depends ?? [];
      expect(depends.filter((name) => asked.has(name) && !approved.has(name))).toEqual([]);
    }
  });
});

test('the handler "wait" runs for each wait, beside the steps, and has ended before the run has', () => {
  forRandomRuns(400, ({ moves }, { workflow }, events) => {
    const begun = ['scheduled', 'running', 'waiting'];
    for (const { after } of moves.filter(({ after }) => workflow.handlers.wait && isInitialized(after))) {
      const { status } = stepState(after, 'handlerOn.wait');
      if (isFinished(after)) expect(begun).not.toContain(status);
      const isWanted = after.unannounced.some((name) => stepState(after, name).waitingFor === 'approval');
      if (isWanted && after.cancellation === null) expect(begun).toContain(status);
    }
    const starts = events.filter((event) => event.type === 'step.scheduled' && event.step === 'handlerOn.wait');
    if (ofType(events, 'step.held').length === 0) expect(starts).toEqual([]);
    const failed = ofType(events, 'step.finished').filter(
      ({ step, status }) => step === 'handlerOn.wait' && (status === 'failed' || status === 'canceled'),
    );
    const isCanceled = events.some(({ type }) => type === 'run.canceling');
    if (!isCanceled) expect(ofType(events, 'run.warned').map(({ at }) => at)).toEqual(failed.map(({ at }) => at));
  });
});

test('the limit of active steps and the delay between starts are always kept', () => {
  forRandomRuns(400, ({ run }, { workflow: { maxActiveSteps, delayMs } }, events) => {
    const active = new Set<string>();
    let lastStart = Number.NEGATIVE_INFINITY;
    // A delay reserves the slot of the step that it holds back.
    let isReserved = false;
    for (const event of events) {
      const isInactive =
        event.type === 'step.serving' || event.type === 'step.expanded' || event.type === 'step.blocked';
      if (endsAttempt(event) || isInactive) active.delete(event.step);
      // A step that has got its locks continues beyond the limit.
      if (event.type === 'step.acquired' && !isHandler(event.step)) active.add(event.step);
      if (event.type === 'run.delayed') isReserved = true;
      if (event.type !== 'step.scheduled' || isHandler(event.step)) continue;
      active.add(event.step);
      const isAhead = maxActiveSteps > 0 && active.size > maxActiveSteps && !isReserved;
      isReserved = false;
      if (isAhead) expect([...active].filter((name) => !mayStartAhead(stepNode(run, name)))).toEqual([]);
      if (isAhead) expect(active.size).toBeLessThanOrEqual(maxActiveSteps + AHEAD);
      expect(event.at - lastStart).toBeGreaterThanOrEqual(delayMs);
      lastStart = event.at;
    }
  });
});

test('steps that start ahead begin within the limit', () => {
  let startedAhead = 0;
  const check = (_: SimulatedWorld, { workflow: { maxActiveSteps } }: Case, events: readonly RunEvent[]) => {
    const [active, running] = [new Set<string>(), new Set<string>()];
    for (const event of events) {
      if (!('step' in event) || event.step === null || isHandler(event.step)) continue;
      if (event.type === 'step.scheduled') active.add(event.step);
      if (event.type === 'step.started') running.add(event.step);
      if (endsAttempt(event)) for (const steps of [active, running]) steps.delete(event.step);
      startedAhead += Number(active.size > maxActiveSteps);
      expect(running.size).toBeLessThanOrEqual(maxActiveSteps);
    }
  };
  forRandomRuns(400, check, arbitraryCase.map(ofPrograms));
  expect(startedAhead).toBeGreaterThan(100);
});

test('no more instances of a fan-out are active than it allows, and none starts after a failure that is to be the last', () => {
  // Rare: an instance of a step with failFast that waits for its retry.
  let keptSlots = 0;
  forRandomRuns(1200, ({ moves }) => {
    for (const { after, before } of moves) {
      for (const step of [...steps(after)].filter(({ instances }) => instances !== undefined)) {
        const { maxConcurrent = 0 } = stepNode(after, step.name).fanOut ?? {};
        const active = instancesOf(after, step).filter(hasAttempt);
        expect(active.length).toBe(step.instances?.active ?? 0);
        const { failFast = false } = stepNode(after, step.name).fanOut ?? {};
        const kept = instancesOf(after, step).filter(
          ({ status, waitingFor }) => failFast && status === 'waiting' && waitingFor === 'retry',
        );
        keptSlots += kept.length;
        expect(kept.length).toBe(step.instances?.keeping ?? 0);
        expect(active.length + kept.length).toBeLessThanOrEqual(maxConcurrent);
        if ((stepState(before, step.name).instances?.canceling ?? null) === null) continue;
        expect(active.map(({ name }) => name).filter((name) => !hasAttempt(stepState(before, name)))).toEqual([]);
      }
    }
  });
  expect(keptSlots).toBeGreaterThan(0);
});

test('a fan-out with failFast is canceled by the first failure that is not tolerated, and no other is', () => {
  forRandomRuns(400, (_, { workflow }, events) => {
    const failed = new Set<string>();
    const mustStop = new Set<string>();
    let isCanceling = false;
    for (const event of events) {
      if (event.type === 'run.canceling') isCanceling = true;
      if (event.type === 'step.canceling') expect(failed).toContain(event.step);
      const isFailure = event.type === 'step.finished' && event.status === 'failed' && event.tolerated === undefined;
      const fanOut = workflow.steps.find(({ name }) => isFailure && event.step.startsWith(`${name}[`));
      if (fanOut?.fanOut?.failFast !== true) continue;
      failed.add(fanOut.name);
      // A run that is being canceled has canceled its steps already: one that waited to repeat fails as it last did.
      if (!isCanceling) mustStop.add(fanOut.name);
    }
    const canceled = new Set(ofType(events, 'step.canceling').map(({ step }) => step));
    for (const name of mustStop) expect(canceled).toContain(name);
  });
});

test('no place stays free while a step is ready, except during the delay', () => {
  forRandomRuns(400, ({ moves }, { workflow: { maxActiveSteps, delayMs } }) => {
    for (const { after } of moves.filter(({ after }) => after.status === 'running' && isInitialized(after))) {
      const open = [...steps(after)].filter(
        ({ instances, unmet }) => instances !== undefined && unmet === 0 && instances.canceling === null,
      );
      const mayStart = (step: StepState) => {
        const { maxConcurrent = 0, failFast = false } = stepNode(after, step.name).fanOut ?? {};
        const { active = 0, keeping = 0 } = step.instances ?? {};
        if (active + keeping < maxConcurrent) return instancesOf(after, step);
        return instancesOf(after, step).filter(({ waitingFor }) => failFast && waitingFor === 'retry');
      };
      const isReady = [...steps(after), ...open.flatMap(mayStart)].some(
        ({ status, unmet, until, waitingFor }) =>
          unmet === 0 &&
          (status === 'pending' ||
            (status === 'waiting' && until === null && waitingFor !== 'approval' && waitingFor !== 'lock')),
      );
      const isFull = maxActiveSteps > 0 && after.active >= maxActiveSteps;
      if (isReady) expect(isFull || (delayMs > 0 && after.delayedUntil !== null)).toBe(true);
    }
  });
});

test('only handlers start after a cancel, and nothing after a forced one', () => {
  forRandomRuns(400, (_, __, events) => {
    const canceling = events.findIndex(({ type }) => type === 'run.canceling');
    const started = (from: number) => (from < 0 ? [] : ofType(events.slice(from), 'step.scheduled'));
    expect(started(canceling).filter(({ step }) => !isClosing(step))).toEqual([]);
    const last = events.findIndex(
      (event) => event.type === 'run.canceling' && (event.force || event.reason === 'storage'),
    );
    expect(started(last)).toEqual([]);
  });
});

test('the handlers of the outcome run one after another, after all steps', () => {
  forRandomRuns(400, (world, made, events) => {
    const from = events.findIndex(({ type }) => type === 'run.handling');
    const handling = events[from];
    expect(ofType(events.slice(0, Math.max(0, from)), 'step.scheduled').filter(({ step }) => isClosing(step))).toEqual(
      [],
    );
    if (handling?.type !== 'run.handling') return;
    const before = events.slice(0, from);
    const settled = before.filter(({ type }) => type === 'step.finished' || type === 'step.restored');
    const isOfStep = (event: RunEvent) => 'step' in event && event.step !== null && !isHandler(event.step);
    expect(settled.filter(isOfStep)).toHaveLength(made.workflow.steps.length + instanceNames(events).length);
    expect(handling.handlers.map((kind) => `handlerOn.${kind}`)).toEqual(expectedHandlers(made, handling.status));
    const order = ofType(events.slice(from), 'step.scheduled').flatMap(({ step }) => (isClosing(step) ? [step] : []));
    expect([...new Set(order)]).toEqual(
      handling.handlers.map((kind) => `handlerOn.${kind}`).filter((name) => order.includes(name)),
    );
    expect([...steps(world.run)].every(isSettled)).toBe(true);
  });
});

test('services end one after another, after all other steps, those that use another one first', () => {
  forRandomRuns(400, ({ moves }, { workflow }) => {
    for (const { after, events } of moves) {
      for (const { step } of ofType(events, 'step.ending')) {
        const open = [...steps(after)].filter((state) => !isSettled(state)).map(({ name }) => name);
        const left = workflow.steps.filter(({ name }) => open.includes(name));
        expect(left.filter(({ service }) => service === undefined)).toEqual([]);
        expect(left.filter(({ depends }) => depends.includes(step))).toEqual([]);
        expect([...steps(after)].filter((state) => state.isEnding && !isSettled(state))).toHaveLength(1);
      }
    }
  });
});

test('the live state is always the fold of the stored events, and decides as that fold does', () => {
  forRandomRuns(150, ({ moves }, { workflow }, events) => {
    let folded = initialRun(buildGraph(workflow), workflow);
    for (const { input, ahead, before, after, events } of moves) {
      expect(folded).toEqual(before);
      expect(transition(folded, input, ahead)).toEqual({ run: after, events });
      folded = (JSON.parse(JSON.stringify(events)) as RunEvent[]).reduce(evolve, folded);
    }
    const fromScratch = events.reduce(evolve, initialRun(buildGraph(workflow), workflow));
    expect(fromScratch).toEqual(folded);
  });
});

test('an input repeated immediately changes nothing', () => {
  forRandomRuns(150, ({ moves }) => {
    for (const { input, after } of moves.filter(({ input }) => input.type !== 'delay-over')) {
      expect(transition(after, { ...input, at: input.at + 1 })).toEqual({ run: after, events: [] });
    }
  });
});

test('the counters match the steps', () => {
  forRandomRuns(150, ({ moves }) => {
    for (const { after } of moves) {
      const all = [...steps(after)];
      for (const [status, count] of Object.entries(after.counts)) {
        expect(all.filter((step) => step.status === status)).toHaveLength(count);
      }
      const instances = all.flatMap((step) => instancesOf(after, step));
      expect(after.held).toBe(all.filter(({ waitingFor }) => waitingFor === 'approval').length);
      expect(after.active).toBe([...all, ...instances].filter((step) => isActive(step) && !isServing(step)).length);
      expect(after.settled).toBe(all.filter(isSettled).length);
    }
  });
});

test('a step has the artifacts of its last attempt, which are recorded before the end of that', () => {
  forRandomRuns(400, ({ run }, made, events) => {
    const recorded = ofType(events, 'artifact.kept');
    const before = made.restored.flatMap((one) => ('items' in one ? one.instances : [one]));
    const all = [...steps(run)].flatMap((state) => [state, ...instancesOf(run, state)]);
    for (const { name, attempt, artifacts, restored } of all) {
      const files = artifacts === undefined ? [] : [...firstItems(artifacts.files, artifacts.files.length)];
      const own = recorded.filter((event) => event.step === name && event.attempt === attempt);
      expect(files).toEqual(own.map(({ path, bytes, sha256 }) => ({ path, bytes, sha256 })));
      if (restored) expect(files).toEqual(before.find(({ step }) => step === name)?.kept ?? []);
      // An attempt that was withdrawn, which only a cancel leads to, keeps nothing.
      else if (run.cancellation === null && attempt > 0) {
        expect(files).toEqual(keptBy(stepNode(run, name), attempt) ?? []);
      }
    }
    for (const [index, event] of events.entries()) {
      if (event.type !== 'artifact.kept' || event.attempt === 0) continue;
      const end = events.slice(index).find((other) => endsAttempt(other) && other.step === event.step);
      expect(end).toMatchObject({ attempt: event.attempt });
    }
  });
});

test('an up-to-date step makes no attempt, and any other step with sources is checked before each', () => {
  let hits = 0;
  forRandomRuns(800, ({ run }, _, events) => {
    const all = [...steps(run)].flatMap((state) => [state, ...instancesOf(run, state)]);
    for (const { name, attempt, startedAt, status, cache, restored } of all) {
      const { upToDate, fanOut } = stepNode(run, name);
      const own = events.filter((event) => 'step' in event && event.step === name);
      const checks = ofType(own, 'step.outdated');
      const ends = ofType(own, 'step.finished').filter(({ cached }) => cached === true);
      if (upToDate === undefined || fanOut !== undefined) expect([checks, ends, cache]).toEqual([[], [], undefined]);
      else if (!restored) {
        const starts = ofType(own, 'step.started').map((event) => event.attempt);
        expect(checks.map((event) => event.attempt)).toEqual(starts);
        expect(cache?.hit ?? null).toBe(ends.length > 0 ? true : checks.length > 0 ? false : null);
      }
      if (ends.length === 0) continue;
      hits += 1;
      expect([ends.length, attempt, startedAt, status]).toEqual([1, 0, null, 'succeeded']);
      expect(cache).toEqual({ hit: true, from: 'earlier', savedMs: 7, restored: true });
    }
  });
  expect(hits).toBeGreaterThan(0);
});

test('what is late is recorded once, for steps that have begun and not ended', () => {
  let lateSteps = 0;
  forRandomRuns(300, ({ run }, _, events) => {
    const open = new Set<string>();
    for (const event of events) {
      if (event.type === 'step.scheduled') open.add(event.step);
      if (event.type === 'step.finished') open.delete(event.step);
      if (event.type === 'step.late') expect(open).toContain(event.step);
    }
    const late = ofType(events, 'step.late');
    lateSteps += late.length;
    expect(new Set(late.map(({ step }) => step)).size).toBe(late.length);
    expect(ofType(events, 'run.late').map(({ at }) => at)).toEqual(run.lateAt === undefined ? [] : [run.lateAt]);
    for (const { step, at } of late) expect(stepState(run, step).lateAt).toBe(at);
  });
  expect(lateSteps).toBeGreaterThan(20);
});

test('steps and run end as predicted by an oracle without a notion of order and time', () => {
  forRandomRuns(600, ({ run }, made, events) => {
    if (made.dying.size > 0) return;
    const statuses = Object.fromEntries([...steps(run)].map(({ name, status }) => [name, status]));
    const isCanceled = run.cancellation !== null || run.startedAt === null;
    const expected = isCanceled ? null : expectedStatuses(made);
    if (expected !== null) expect(statuses).toEqual(expected);
    if (run.startedAt !== null) {
      expect({ status: run.status, reason: run.reason }).toEqual(expectedEnding(made, statuses, events));
    }
  });
});
