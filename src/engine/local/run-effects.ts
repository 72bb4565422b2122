import type { FinishedStatus, Outputs, RunEvent, RunInput } from '#core/run/run.ts';
import { stepNode } from '#core/run/run-state.ts';
import type { Step } from '#core/workflow.ts';
import type { EndSignal } from '#processes/end-signal.ts';
import type { Clock } from '#system/clock.ts';
import { WfError } from '#system/errors.ts';
import type { GivenAnswer, RunRequest } from '../engine.ts';
import type { Notices } from './notices.ts';
import type { RunRecord } from './run-record.ts';
import type { RunLimit, RunTimers } from './run-timers.ts';
import type { RunningAttempts, StepAttempts } from './step-attempts.ts';
import type { StepRunner } from './step-runner.ts';

/** Longest wait before a result that no step depends on is flushed to disk. */
const flushDelayMs = 10;

/** The time of a timer that does not fire. */
const never = Number.MAX_SAFE_INTEGER;

/** The dependencies of the effects of a run. */
type EffectParts = {
  readonly clock: Clock;
  readonly request: RunRequest;
  readonly record: RunRecord;
  readonly runner: StepRunner;
  readonly attempts: RunningAttempts;
  readonly stepAttempts: StepAttempts;
  readonly timers: RunTimers;
  readonly limit: RunLimit;
  readonly notices: Notices;
  /** Ends the evaluation of the environment. */
  readonly preparation: EndSignal;
  readonly post: (input: RunInput) => void;
  /** Closes the run. */
  readonly finish: (status: FinishedStatus) => Promise<void>;
  /** Fails the run if the work fails. */
  readonly guard: (work: Promise<void>) => void;
};

/** The effects of a run's events: each starts, ends or delays something, whose result is posted as the next input. */
export class RunEffects {
  readonly #parts: EffectParts;
  #isFlushDue = false;

  constructor(parts: EffectParts) {
    this.#parts = parts;
  }

  /** Acts on an event that has been recorded. */
  act(event: RunEvent): void {
    const { record, attempts, stepAttempts, timers, limit, notices, preparation, post, guard } = this.#parts;
    switch (event.type) {
      case 'run.started':
        limit.start(record.state.policies.timeoutMs ?? 0);
        break;
      case 'step.scheduled':
        guard(stepAttempts.make(event.step, event.attempt));
        break;
      case 'step.ending':
        attempts.end(event.step);
        break;
      case 'step.waiting': {
        const { step, attempt } = event;
        this.#publish(step, 'outputs' in event.outcome ? event.outcome.outputs : {});
        timers.at(event.until, (at) => post({ type: 'timer-fired', at, step, attempt }));
        break;
      }
      case 'step.held':
        this.#hold(event);
        break;
      case 'step.finished':
        this.#publish(event.step, event.outputs);
        this.#flushSoon();
        guard(notices.ofStep(stepNode(record.state, event.step), event.status));
        break;
      case 'step.canceling':
        attempts.stop((step) => stepNode(record.state, step).instanceOf === event.step);
        break;
      case 'run.delayed':
        timers.at(event.until, (at) => post({ type: 'delay-over', at }));
        break;
      case 'run.canceling':
        preparation.abort('stop');
        if (event.force) attempts.kill();
        else attempts.stop();
        break;
      case 'run.handling':
        limit.stop();
        break;
      case 'run.finished':
        preparation.abort('stop');
        guard(this.#parts.finish(event.status));
        break;
      case 'run.created':
      case 'run.queued':
      case 'run.owned':
      case 'run.prepared':
      case 'run.warned':
      case 'step.restored':
      case 'step.started':
      case 'step.expanded':
      case 'step.ready':
      case 'step.contained':
      case 'step.serving':
      case 'step.answered':
      case 'step.marked':
        break;
    }
  }

  /**
   * Sets the outputs of a step as variables. Those of an instance are part of the output of its fan-out, and published
   * ones belong to the result of their step.
   */
  #publish(step: string, outputs: Outputs): void {
    const { instanceOf, published } = stepNode(this.#parts.record.state, step);
    if (instanceOf === undefined && published === undefined) this.#set(outputs);
  }

  /** If the disk refuses a large output, no step may start without it: the run fails as for its journal. */
  #set(outputs: Outputs): void {
    const { clock, runner, post } = this.#parts;
    try {
      runner.set(outputs);
    } catch (error) {
      if (!(error instanceof WfError)) throw error;
      post({ type: 'cancel', at: clock.now(), reason: 'storage', message: error.message, force: false });
    }
  }

  #hold({ step, attempt, until, outputs }: Extract<RunEvent, { type: 'step.held' }>): void {
    const { clock, request, record, timers, notices, post, guard } = this.#parts;
    this.#set(outputs);
    this.#flushSoon();
    // Without a limit, the timer only keeps this process alive until the run ends.
    timers.at(until ?? never, (at) => post({ type: 'timer-fired', at, step, attempt }));
    const given = unattendedAnswer(stepNode(record.state, step), request.onApproval);
    if (given !== null) post({ type: 'answer', at: clock.now(), step, ...given });
    else guard(notices.send(null, 'waiting'));
  }

  /** Flushes results that no step waits for together. */
  #flushSoon(): void {
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    const { clock, record, timers, guard } = this.#parts;
    timers.at(clock.now() + flushDelayMs, () => {
      this.#isFlushDue = false;
      guard(record.flush());
    });
  }
}

/** The answer to an approval of a run for which no person is asked; null if one is. */
function unattendedAnswer(
  { approval }: Pick<Step, 'approval'>,
  onApproval: RunRequest['onApproval'],
): Omit<GivenAnswer, 'step'> | null {
  const inputs = approval?.inputs ?? [];
  const missing = inputs.find(({ default: value, rule }) => rule.required === true && value === '');
  if (onApproval === undefined) return null;
  if (onApproval === 'reject')
    return { decision: 'rejected', by: null, comment: 'the run is not interactive', inputs: {} };
  if (missing !== undefined) {
    return { decision: 'rejected', by: null, comment: `the input "${missing.name}" is required`, inputs: {} };
  }
  const defaults = Object.fromEntries(inputs.map((input) => [input.name, input.default]));
  return { decision: 'approved', by: null, comment: 'by --on-approval', inputs: defaults };
}
