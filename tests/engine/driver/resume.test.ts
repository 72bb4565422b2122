import { expect, test } from 'vitest';
import { withInstanceNodes } from '#core/fan-out/instances.ts';
import { buildGraph } from '#core/graph.ts';
import type { Outcome, RunEvent } from '#core/run/run.ts';
import { heldSteps, initialRun, isFinished, type RunState } from '#core/run/run-state.ts';
import type { Step, Workflow } from '#core/workflow.ts';
import { Driver, type DriverHost } from '#engine/driver/driver.ts';
import { notStarted, type StepTask } from '#engine/driver/step-task.ts';
import { arbitraryCase, type Case, factOf, failureCode, outcomeKind } from '../../core/arbitrary-case.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import fc from '../../support/fast-check.ts';

const never = Number.MAX_SAFE_INTEGER;

/** A run whose attempts end when the test says so. Its driver can be replaced between two inputs. */
class HostedRun {
  readonly events: RunEvent[] = [];
  readonly pending = new Map<string, StepTask>();
  readonly clock = createFakeClock();
  readonly workflow: Workflow;
  readonly #made: Case;
  state: RunState;
  driver: Driver;
  /** Two timers were set for one moment: their order is that in which they were set, and a new driver may set them in another order. */
  hasTies = false;
  #armed = new Set<{ readonly at: number }>();

  constructor(made: Case) {
    this.#made = made;
    this.workflow = { ...made.workflow, timeoutMs: 50_000, steps: made.workflow.steps.map(withoutService) };
    this.state = initialRun(buildGraph(this.workflow), this.workflow);
    this.driver = this.#drive();
    this.driver.start({ params: [], unmet: null });
  }

  /** Lets another driver continue, from what crosses as JSON. */
  replaceDriver(): void {
    if (isFinished(this.state)) return;
    const { graph: _, ...left } = this.state;
    const limitMs = this.driver.limitMs;
    this.driver.timers.clear();
    this.pending.clear();
    const state: Omit<RunState, 'graph'> = JSON.parse(JSON.stringify(left));
    this.state = { ...state, graph: withInstanceNodes(buildGraph(this.workflow), state.nodes) };
    this.driver = this.#drive();
    this.driver.resume(limitMs);
  }

  /** One of the things that can happen next. */
  act(choice: number): void {
    const names = [...this.pending.keys()].sort();
    const name = names[choice % (names.length + 1)];
    const [held] = heldSteps(this.state);
    if (name !== undefined) this.#end(name);
    else if (held !== undefined && choice % 2 === 0) {
      this.driver.answer({ step: held.name, decision: 'approved', by: 'ann', comment: '', inputs: {} });
    } else this.clock.advance(choice % 40);
  }

  #end(name: string): void {
    // So that fewer timers are set for one moment.
    this.clock.advance(1);
    const task = this.pending.get(name);
    if (task === undefined) return;
    const { step: node, number } = task;
    const own = { at: this.clock.now(), step: name, attempt: number };
    this.pending.delete(name);
    if (node.fanOut === undefined) {
      this.driver.post({
        type: 'attempt-ended',
        ...own,
        outcome: this.#outcome(node, number),
        facts: factOf(this.#made, node, number),
      });
      return;
    }
    const keys = this.#made.items[name] ?? [];
    this.driver.post({ type: 'items-read', ...own, items: keys.map((key) => ({ key, value: key })) });
  }

  #outcome(node: Step, attempt: number): Outcome {
    const kind = outcomeKind(this.#made, node, attempt);
    if (kind === 'succeeded') return { status: 'succeeded', exitCode: 0, outputs: { [`OF_${attempt}`]: node.name } };
    if (kind === 'skipped') return { status: 'skipped', message: 'not met' };
    if (kind === 'canceled') return { status: 'canceled', message: 'stopped', exitCode: 143, signal: 'SIGTERM' };
    const exitCode = failureCode(this.#made, node, attempt);
    return { status: 'failed', reason: 'exit', message: `exit ${exitCode}`, exitCode, signal: null, outputs: {} };
  }

  #stop(isMeant: (task: StepTask) => boolean): void {
    for (const [name, task] of [...this.pending].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (!isMeant(task) || !this.pending.delete(name)) continue;
      const own = { at: this.clock.now(), step: name, attempt: task.number };
      this.driver.post({ type: 'attempt-ended', ...own, outcome: notStarted, facts: {} });
    }
  }

  #drive(): Driver {
    this.#armed = new Set();
    const armed = this.#armed;
    const host: DriverHost = {
      clock: {
        ...this.clock,
        setTimer: (at, callback) => {
          const timer = { at };
          this.hasTies ||= at < never && [...armed].some((other) => other.at === at);
          armed.add(timer);
          const cancel = this.clock.setTimer(at, () => {
            armed.delete(timer);
            callback();
          });
          return () => {
            armed.delete(timer);
            cancel();
          };
        },
      },
      state: () => this.state,
      record: (events, run) => {
        this.state = run;
        this.events.push(...events);
        return { events, stored: [] };
      },
      noticed: () => null,
      decided: () => {},
      ahead: () => 0,
      cleanUp: () => null,
      logsOf: () => ({ stdout: null, stderr: null }),
      fail: (error) => {
        throw error;
      },
      orders: {
        attempt: (task) => void this.pending.set(task.step.name, task),
        end: () => {},
        stop: (fanOut) => this.#stop(({ step }) => fanOut === undefined || step.instanceOf === fanOut),
        stopPreparation: () => {},
        kill: () => this.#stop(() => true),
        set: () => {},
        resultRecorded: () => {},
        notify: () => {},
        finish: () => this.driver.timers.clear(),
      },
    };
    return new Driver({ workflow: this.workflow, restored: [] }, host);
  }
}

function withoutService({ service: _, ...step }: Step): Step {
  return step;
}

function play(made: Case, isReplaced: (input: number) => boolean): HostedRun {
  const run = new HostedRun(made);
  for (const [number, choice] of [...made.choices, ...Array.from({ length: 100 }, (_, index) => index * 7)].entries()) {
    if (isReplaced(number)) run.replaceDriver();
    if (!isFinished(run.state)) run.act(choice);
  }
  if (isReplaced(0)) run.replaceDriver();
  if (!isFinished(run.state)) run.driver.cancel({ reason: 'stop', message: '', force: false });
  for (let left = 0; left < 100 && !isFinished(run.state); left += 1) run.act(left * 7);
  return run;
}

test('a run of which another driver takes over between two inputs has the same events', () => {
  let finished = 0;
  const property = fc.property(arbitraryCase, fc.integer({ min: 1, max: 5 }), (made, each) => {
    const whole = play(made, () => false);
    fc.pre(!whole.hasTies);
    const parts = play(made, (input) => input % each === 0);
    expect(parts.events).toEqual(whole.events);
    expect(parts.state).toEqual(whole.state);
    finished += Number(isFinished(whole.state));
  });
  fc.assert(property, { numRuns: 200, seed: 1 });
  expect(finished).toBeGreaterThan(50);
});
