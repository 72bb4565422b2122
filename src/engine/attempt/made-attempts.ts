import type { RunInput } from '#core/run/run.ts';
import type { Step } from '#core/workflow.ts';
import type { RunSecrets } from '#environment/run-secrets.ts';
import type { StartedChild } from '#executors/executor.ts';
import type { AttemptSignals } from '#processes/end-signal.ts';
import type { Clock } from '#system/clock.ts';
import { type AttemptReport, attemptEnd, type StepTask } from '../driver/step-task.ts';
import type { Background } from './background.ts';
import type { RunningAttempts } from './running-attempts.ts';
import type { AttemptTools, StepRunner } from './step-runner.ts';

/** The dependencies of the attempts of a run, where they are made. */
export type MadeAttemptsParts = {
  readonly clock: Clock;
  /** The time that a service gets to end, in milliseconds. */
  readonly graceMs: number;
  readonly secrets: RunSecrets;
  readonly runner: StepRunner;
  readonly running: RunningAttempts;
  readonly background: Background;
  /** Takes what comes of an attempt. */
  readonly post: (input: RunInput) => void;
  readonly warn: (step: string | null, message: string) => void;
};

/** The attempts of a run, made here and reported as inputs of the run. */
export class MadeAttempts {
  readonly #parts: MadeAttemptsParts;

  constructor(parts: MadeAttemptsParts) {
    this.#parts = parts;
  }

  /** Makes an attempt and reports its start; `onStart` is called first. */
  run(
    task: StepTask,
    made: Pick<AttemptTools, 'signals' | 'flush' | 'slot'>,
    onStart: () => void = () => {},
  ): Promise<AttemptReport> {
    const { runner, running, background, clock, post } = this.#parts;
    const { step, number } = task;
    const { name } = step;
    const own = () => ({ at: clock.now(), step: name, attempt: number });
    return runner.attempt(task, {
      ...made,
      started: (process, child) => {
        onStart();
        if (process) background.add(name, process);
        post({ type: 'attempt-started', ...own(), process, ...childOf(child) });
      },
      contained: ({ container, daemon }) => post({ type: 'attempt-contained', ...own(), container, daemon }),
      checked: (reasons) => post({ type: 'attempt-checked', ...own(), ...reasons }),
      service: {
        ready: () => post({ type: 'attempt-serving', ...own() }),
        giveUp: () => running.end(name, 'unready'),
      },
      limitTime: (timeoutMs) => running.limit(name, timeoutMs),
    });
  }

  /** Reports the end of an attempt. */
  end({ step, number }: StepTask, report: AttemptReport, signals: AttemptSignals): void {
    const { running, secrets, background, clock, post } = this.#parts;
    const { name } = step;
    running.leave(name);
    this.#warnOfKill(step, signals);
    if ('outputs' in report.outcome) secrets.learn(report.outcome.outputs);
    const at = clock.now();
    background.ended(name, at);
    post(attemptEnd(report, { at, step: name, attempt: number }));
  }

  #warnOfKill({ name, service, graceMs }: Step, { kill }: AttemptSignals): void {
    const { running, warn, graceMs: longestMs } = this.#parts;
    if (service === undefined || !kill.aborted || running.areKilled) return;
    warn(name, `killed: it did not end within ${Math.min(graceMs ?? longestMs, longestMs) / 1000}s`);
  }
}

function childOf(
  child: StartedChild | undefined,
): Pick<Extract<RunInput, { type: 'attempt-started' }>, 'child' | 'childWorkflow'> {
  if (child === undefined) return {};
  return { child: child.runId, ...(child.workflow === undefined ? {} : { childWorkflow: child.workflow }) };
}
