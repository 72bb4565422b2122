import { given } from '#core/data/collections.ts';
import { buildGraph } from '#core/graph.ts';
import { mayStartAhead } from '#core/run/policies.ts';
import type { KeptFile, Outcome, RunEvent, RunInput } from '#core/run/run.ts';
import { initialRun, isFinished, type RunState, stepNode, stepState, steps } from '#core/run/run-state.ts';
import { transition } from '#core/run/transition.ts';
import { handlerKind, type Step } from '#core/workflow.ts';
import { canceled, failure, skip, success } from '../support/outcome.ts';
import { type Case, factOf, failureCode, outcomeKind } from './arbitrary-case.ts';

/** How many steps start ahead while all attempts are at single programs. */
export const AHEAD = 2;

/** One input, with the state before and after it. */
export type Move = {
  readonly input: RunInput;
  /** How many steps might start ahead. */
  readonly ahead: number;
  readonly before: RunState;
  readonly after: RunState;
  readonly events: readonly RunEvent[];
};

/** The files that an attempt keeps: none, one or two; undefined for a step without artifacts. */
export function keptBy({ artifacts, name, fanOut }: Step, attempt: number): readonly KeptFile[] | undefined {
  if (artifacts === undefined || fanOut !== undefined) return undefined;
  const paths = ['a', 'b'].slice(0, (name.length + attempt) % 3);
  return paths.map((path) => ({ path: `${attempt}/${path}`, bytes: attempt, sha256: path }));
}

const changedSource = { kind: 'source', name: 'a.ts' } as const;
const earlierSuccess = { from: 'earlier', savedMs: 7, restored: true } as const;

type Attempt = {
  readonly step: string;
  readonly attempt: number;
  begun: boolean;
  isServing: boolean;
  /** `past`: it has waited for all of its locks. */
  block: 'none' | 'present' | 'past';
  blockReports: number;
};
type Timer = { readonly until: number; readonly make: (at: number) => RunInput };

/**
 * Everything outside the core, at random: attempts start and end, timers fire, cancels come, and earlier reports are
 * repeated. Only the timer of a delay fires exactly once, as the core requires.
 */
export class SimulatedWorld {
  readonly moves: Move[] = [];
  run: RunState;
  readonly #case: Case;
  readonly #attempts: Attempt[] = [];
  readonly #timers: Timer[] = [];
  readonly #reports: RunInput[] = [];
  #now = 0;

  constructor(made: Case) {
    this.#case = made;
    const graph = buildGraph(made.workflow);
    this.run = initialRun(graph, made.workflow);
  }

  /** Continues until the run has finished. When the choices are used up, a stop makes it finish. */
  play(): void {
    const { cancels, choices, restored } = this.#case;
    for (const cancel of cancels.filter(({ after }) => after === 0)) this.#cancel(cancel);
    this.#send({ type: 'start', at: this.#now, restored });
    for (const [count, choice] of choices.entries()) {
      for (const cancel of cancels.filter(({ after }) => after === count + 1)) this.#cancel(cancel);
      this.#act(choice);
    }
    if (!isFinished(this.run)) this.#cancel({ reason: 'stop', force: false });
    for (let left = 1000; left > 0 && !isFinished(this.run); left -= 1) this.#act(left * 7);
  }

  #act(choice: number): void {
    const actions = [
      ...this.#attempts.flatMap((attempt) => this.#next(attempt, choice) ?? []),
      ...this.#timers.map((timer) => () => this.#fire(timer)),
      ...(this.#reports.length > 0 && choice % 5 === 0 ? [() => this.#repeat(choice)] : []),
      ...(choice % 3 === 0 ? [() => this.#beLate(choice)] : []),
    ];
    this.#now += choice % 4;
    actions[choice % Math.max(1, actions.length)]?.();
  }

  /** What happens next to an attempt; null for a service that stays up, and for a step that waits for its place. */
  #next(made: Attempt, choice: number): (() => void) | null {
    if (this.#isBeyondLimit(made)) return this.run.cancellation === null ? null : () => this.#withdraw(made);
    const end = () => this.#end(made, choice);
    if (made.block === 'present') return this.#whileBlocked(made, choice);
    if (this.#mayBlock(made, choice)) return () => this.#block(made);
    const begin = () => this.#begin(made);
    if (this.#node(made.step).service === undefined) return made.begun || choice % 3 === 0 ? end : begin;
    const { isEnding } = stepState(this.run, made.step);
    if (isEnding || this.run.cancellation?.force === true) return end;
    if (!made.begun) return begin;
    if (made.isServing) return this.#case.dying.has(made.step) ? end : null;
    return outcomeKind(this.#case, this.#node(made.step), made.attempt) === 'succeeded' ? () => this.#serve(made) : end;
  }

  /** Some attempts wait for a lock before they begin, but no single program that may start ahead. */
  #mayBlock({ step, attempt, begun, block }: Attempt, choice: number): boolean {
    return !begun && block === 'none' && !this.#areAllPrograms() && (choice + attempt + step.length) % 4 === 0;
  }

  #block(made: Attempt): void {
    made.block = 'present';
    made.blockReports += 1;
    const holder = { runId: 'other', workflow: 'other', step: null, since: this.#now };
    const { step, attempt, blockReports: report } = made;
    const what = { why: 'lock', name: 'db', holder, report } as const;
    this.#report({ type: 'attempt-blocked', at: this.#now, step, attempt, ...what });
  }

  /** The holder changes, the wait ends, or the attempt gives up because the run is stopped. */
  #whileBlocked(made: Attempt, choice: number): () => void {
    if (choice % 3 === 0) return () => this.#block(made);
    if (this.run.cancellation !== null && choice % 2 === 0) return () => this.#withdraw(made);
    return () => {
      made.block = 'past';
      const { step, attempt, blockReports: report } = made;
      this.#report({ type: 'attempt-acquired', at: this.#now, step, attempt, report });
    };
  }

  /** An attempt that was started ahead begins when fewer attempts than the limit have begun. */
  #isBeyondLimit({ step, begun }: Attempt): boolean {
    const { maxActiveSteps } = this.run.policies;
    if (begun || maxActiveSteps === 0 || handlerKind(step) !== null) return false;
    return this.#attempts.filter((other) => other.begun).length >= maxActiveSteps && this.#areAllPrograms();
  }

  #areAllPrograms(): boolean {
    return this.#attempts.every(({ step }) => handlerKind(step) === null && mayStartAhead(this.#node(step)));
  }

  #withdraw(made: Attempt): void {
    this.#attempts.splice(this.#attempts.indexOf(made), 1);
    const { step, attempt } = made;
    this.#report({ type: 'attempt-ended', at: this.#now, step, attempt, outcome: canceled() });
  }

  #serve(made: Attempt): void {
    made.isServing = true;
    this.#report({ type: 'attempt-serving', at: this.#now, step: made.step, attempt: made.attempt });
  }

  /** A step with sources is checked before it begins; a repeated report of that changes nothing. */
  #begin(made: Attempt): void {
    const { step, attempt } = made;
    if (this.#node(step).upToDate !== undefined && this.#node(step).fanOut === undefined)
      this.#report({ type: 'attempt-checked', at: this.#now, step, attempt, reason: [changedSource] });
    made.begun = true;
    this.#report({ type: 'attempt-started', at: this.#now, step: made.step, attempt: made.attempt, process: null });
  }

  #end(made: Attempt, choice: number): void {
    this.#attempts.splice(this.#attempts.indexOf(made), 1);
    const { step, attempt } = made;
    const keys = this.#itemsOf(step, attempt);
    if (keys !== null) {
      const items = keys.map((key) => ({ key, value: key }));
      this.#report({ type: 'items-read', at: this.#now, step, attempt, items });
      return;
    }
    const facts = { ...factOf(this.#case, this.#node(step), attempt), random: (choice % 10) / 10 };
    const kept = keptBy(this.#node(step), attempt);
    const outcome = this.#outcome(made, choice);
    const report = { type: 'attempt-ended', at: this.#now, step, attempt, outcome, facts } as const;
    const upToDate = this.#mayBeUpToDate(made) && outcome.status === 'succeeded' ? earlierSuccess : undefined;
    this.#report({ ...report, ...given({ kept: upToDate === undefined ? kept : undefined, upToDate }) });
  }

  #mayBeUpToDate({ step, attempt, begun }: Attempt): boolean {
    const { upToDate, repeat, approval } = this.#node(step);
    return upToDate !== undefined && repeat === null && approval === undefined && attempt === 1 && !begun;
  }

  /** Null for a step without items, and for a fan-out whose items cannot be read. */
  #itemsOf(step: string, attempt: number): readonly string[] | null {
    const node = this.#node(step);
    const isRead = node.fanOut !== undefined && outcomeKind(this.#case, node, attempt) === 'succeeded';
    return isRead ? (this.#case.items[step] ?? []) : null;
  }

  #outcome({ step, attempt }: Attempt, choice: number): Outcome {
    const node = this.#node(step);
    if (this.run.cancellation !== null && choice % 2 === 0) return canceled();
    const failed = () => failure({ exitCode: failureCode(this.#case, node, attempt) });
    const make = { succeeded: success, failed, skipped: skip, canceled };
    return make[outcomeKind(this.#case, node, attempt)]();
  }

  #node(step: string): Step {
    return stepNode(this.run, step);
  }

  #fire(timer: Timer): void {
    this.#timers.splice(this.#timers.indexOf(timer), 1);
    this.#now = Math.max(this.#now, timer.until);
    const input = timer.make(this.#now);
    if (input.type === 'delay-over') this.#send(input);
    else this.#report(input);
  }

  #repeat(choice: number): void {
    const report = this.#reports[choice % this.#reports.length];
    if (report !== undefined) this.#send({ ...report, at: this.#now });
  }

  /** The run or any of its steps may be late at any time, however often. */
  #beLate(choice: number): void {
    const names = [null, ...[...steps(this.run)].map(({ name }) => name)];
    this.#report({ type: 'late-due', at: this.#now, step: names[choice % names.length] ?? null });
  }

  #cancel({ reason, force }: Pick<Extract<RunInput, { type: 'cancel' }>, 'reason' | 'force'>): void {
    this.#send({ type: 'cancel', at: this.#now, reason, message: reason, force });
  }

  #report(input: RunInput): void {
    this.#reports.push(input);
    this.#send(input);
  }

  #send(input: RunInput): void {
    const before = this.run;
    const ahead = this.#areAllPrograms() ? AHEAD : 0;
    const { run, events } = transition(before, input, ahead);
    this.run = run;
    this.moves.push({ input, ahead, before, after: run, events });
    for (const event of events) this.#follow(event);
  }

  /** A person answers at any later time, unless the approval has a time limit. */
  #ask({ step, attempt, until }: Extract<RunEvent, { type: 'step.held' }>): void {
    const decision = this.#case.answers[step] ?? 'approved';
    const answer = (at: number): RunInput => ({
      type: 'answer',
      at,
      step,
      decision,
      by: 'ann',
      comment: '',
      inputs: {},
    });
    if (until === null) this.#timers.push({ until: 0, make: answer });
    else this.#timers.push({ until, make: (at) => ({ type: 'timer-fired', at, step, attempt }) });
  }

  #follow(event: RunEvent): void {
    if (event.type === 'step.scheduled')
      this.#attempts.push({
        step: event.step,
        attempt: event.attempt,
        begun: false,
        isServing: false,
        block: 'none',
        blockReports: 0,
      });
    if (event.type === 'run.delayed')
      this.#timers.push({ until: event.until, make: (at) => ({ type: 'delay-over', at }) });
    if (event.type === 'step.held') this.#ask(event);
    if (event.type !== 'step.waiting') return;
    const { step, attempt, until } = event;
    this.#timers.push({ until, make: (at) => ({ type: 'timer-fired', at, step, attempt }) });
  }
}
