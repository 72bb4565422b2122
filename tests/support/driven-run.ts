import { buildGraph } from '#core/graph.ts';
import type {
  ApprovalAnswer,
  AttemptFacts,
  CancelReason,
  Outcome,
  Outputs,
  Restored,
  RunEvent,
  RunInput,
  StepStatus,
} from '#core/run/run.ts';
import { initialRun, type RunState, stepState, steps } from '#core/run/run-state.ts';
import { transition } from '#core/run/transition.ts';
import { handlerName } from '#core/workflow.ts';
import { failure, success } from './outcome.ts';
import { type WorkflowSettings, workflow } from './workflow.ts';

/**
 * A run that a test moves by hand, one input at a time: it plays everything outside the core. Every method gives the
 * events that its input led to. Time stands still unless the test sets `now`.
 */
export class DrivenRun {
  readonly events: RunEvent[] = [];
  state: RunState;
  now = 1000;
  /** How many steps may start beyond the limit. */
  ahead = 0;

  constructor(settings: WorkflowSettings) {
    const made = workflow(settings);
    this.state = initialRun(buildGraph(made), made);
  }

  /** A run that has been started. */
  static started(settings: WorkflowSettings): DrivenRun {
    const run = new DrivenRun(settings);
    run.start();
    return run;
  }

  send(input: RunInput): readonly RunEvent[] {
    const { run, events } = transition(this.state, input, this.ahead);
    this.state = run;
    this.events.push(...events);
    return events;
  }

  start(restored: readonly Restored[] = []): readonly RunEvent[] {
    return this.send({ type: 'start', at: this.now, restored });
  }

  /** The step's present attempt has begun. */
  begin(step: string, attempt = this.step(step).attempt): readonly RunEvent[] {
    return this.send({ type: 'attempt-started', at: this.now, step, attempt, process: null });
  }

  /** The service that the step's present attempt started is ready. */
  serve(step: string, attempt = this.step(step).attempt): readonly RunEvent[] {
    return this.send({ type: 'attempt-serving', at: this.now, step, attempt });
  }

  /** Ends the current attempt of the step. */
  end(step: string, outcome: Outcome, attempt = this.step(step).attempt, facts?: AttemptFacts): readonly RunEvent[] {
    const found = facts === undefined ? {} : { facts };
    return this.send({ type: 'attempt-ended', at: this.now, step, attempt, outcome, ...found });
  }

  /** The items of a fan-out have been read: their keys, which are the items too. */
  expand(step: string, keys: readonly string[]): readonly RunEvent[] {
    const items = keys.map((key) => ({ key, value: key }));
    return this.send({ type: 'items-read', at: this.now, step, attempt: this.step(step).attempt, items });
  }

  /** The steps and instances whose attempts were started, in order. */
  get started(): readonly string[] {
    return this.events.flatMap((event) => (event.type === 'step.scheduled' ? [event.step] : []));
  }

  succeed(...names: string[]): readonly RunEvent[] {
    return names.flatMap((name) => this.end(name, success()));
  }

  fail(...names: string[]): readonly RunEvent[] {
    return names.flatMap((name) => this.end(name, failure()));
  }

  /** The timer of a waiting step fires. */
  fire(step: string, attempt = this.step(step).attempt): readonly RunEvent[] {
    return this.send({ type: 'timer-fired', at: this.now, step, attempt });
  }

  endDelay(): readonly RunEvent[] {
    return this.send({ type: 'delay-over', at: this.now });
  }

  /** A person answers for a step that waits for approval. */
  answer(step: string, decision: ApprovalAnswer, inputs: Outputs = {}): readonly RunEvent[] {
    return this.send({ type: 'answer', at: this.now, step, decision, by: 'ann', comment: 'a reason', inputs });
  }

  cancel(reason: CancelReason = 'stop', force = false): readonly RunEvent[] {
    return this.send({ type: 'cancel', at: this.now, reason, message: `because of ${reason}`, force });
  }

  step(name: string) {
    return stepState(this.state, name);
  }

  /** Of the steps, and of the handlers that the run has reached. */
  get statuses(): Readonly<Record<string, StepStatus>> {
    const handlers = (this.state.handling?.handlers ?? []).map((kind) => this.step(handlerName(kind)));
    return Object.fromEntries([...steps(this.state), ...handlers].map(({ name, status }) => [name, status]));
  }

  /** How the run ended: status and reason. */
  get ending(): readonly [string, string | null] {
    return [this.state.status, this.state.reason];
  }
}

/** Events as short texts, for tests about their order: `step.scheduled a 1`, `step.finished b failed`, `run.started`. */
export function told(events: readonly RunEvent[]): readonly string[] {
  return events.map((event) => {
    switch (event.type) {
      case 'step.scheduled':
      case 'step.started':
        return `${event.type} ${event.step} ${event.attempt}`;
      case 'step.restored':
      case 'step.finished':
        return `${event.type} ${event.step} ${event.status}`;
      case 'step.waiting':
        return `${event.type} ${event.step} ${event.why} until ${event.until}`;
      case 'step.expanded':
        return [event.type, event.step, ...event.items.map(({ key }) => key)].join(' ');
      case 'step.canceling':
      case 'step.ready':
        return `${event.type} ${event.step}`;
      case 'step.held':
        return `${event.type} ${event.step} until ${event.until}`;
      case 'step.answered':
        return `${event.type} ${event.step} ${event.answer}`;
      case 'run.delayed':
        return `${event.type} until ${event.until}`;
      case 'run.handling':
        return `${event.type} ${event.handlers.join(' ')}`;
      case 'run.finished':
        return event.reason === null
          ? `${event.type} ${event.status}`
          : `${event.type} ${event.status} ${event.reason}`;
      default:
        return event.type;
    }
  });
}
