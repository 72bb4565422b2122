import type { Step } from '#core/workflow.ts';
import { type AttemptSignals, type EndRequest, EndSignal } from '#processes/end-signal.ts';
import type { Clock } from '#system/clock.ts';

type Running = {
  /** The fan-out of an instance; absent: it is a step. */
  readonly fanOut: string | undefined;
  readonly end: EndSignal;
  readonly kill: EndSignal;
  /**
   * Whether a first stop lets it run: set once it has started for a repeating step, whose current repetition a stop
   * lets finish, and for a service, which ends after the steps that use it.
   */
  finishesWhenStopped: boolean;
  /** Whether it runs a child run, which kills its own steps after the grace, and has as long again for its handlers. */
  readonly isRun: boolean;
  readonly graceMs: number;
  /** The time limit of the attempt; 0: none. */
  limitMs: number;
  /** Its grace has begun. */
  isEnding: boolean;
  cancelTimer: () => void;
};

/** Running attempts and how they are ended: a request first, then a kill after the grace period. */
export class RunningAttempts {
  readonly #clock: Clock;
  readonly #graceMs: number;
  readonly #running = new Map<string, Running>();
  #areKilled = false;

  constructor(clock: Clock, graceMs: number) {
    this.#clock = clock;
    this.#graceMs = graceMs;
  }

  /** Whether all attempts were killed at once. */
  get areKilled(): boolean {
    return this.#areKilled;
  }

  /** Adds an attempt that waits to start. */
  enter(step: Pick<Step, 'name' | 'executor' | 'graceMs' | 'instanceOf'>): AttemptSignals {
    const { name, executor, graceMs = this.#graceMs, instanceOf } = step;
    const running: Running = {
      fanOut: instanceOf,
      end: new EndSignal(),
      kill: new EndSignal(),
      finishesWhenStopped: false,
      isRun: executor.type === 'workflow',
      graceMs: Math.min(graceMs, this.#graceMs),
      limitMs: 0,
      isEnding: false,
      cancelTimer: () => {},
    };
    this.#running.set(name, running);
    return { signal: running.end, kill: running.kill };
  }

  /** Marks the attempt at the step as started, unless it was asked to end before. */
  begin({ name, timeoutMs, repeat, service }: Step): void {
    const running = this.#running.get(name);
    if (running === undefined || running.end.aborted) return;
    running.finishesWhenStopped = repeat !== null || service !== undefined;
    this.limit(name, timeoutMs);
  }

  /** Limits the time of a started attempt from now on; 0: no limit. */
  limit(step: string, timeoutMs: number): void {
    const running = this.#running.get(step);
    if (running === undefined || running.end.aborted || running.isEnding || timeoutMs === 0) return;
    running.limitMs = timeoutMs;
    this.#after(running, timeoutMs, () => this.#end(running, 'timeout'));
  }

  /** Suspends the time limit of an attempt that waits, until `resume`. */
  suspend(step: string): void {
    const running = this.#running.get(step);
    if (running !== undefined && !running.isEnding) running.cancelTimer();
  }

  /** Starts the time limit of an attempt again. */
  resume(step: string): void {
    this.limit(step, this.#running.get(step)?.limitMs ?? 0);
  }

  /** Removes an attempt that has ended. */
  leave(step: string): void {
    this.#running.get(step)?.cancelTimer();
    this.#running.delete(step);
  }

  /**
   * Asks all attempts to end, or those at the instances of a fan-out. The last first: an attempt may start when an earlier
   * one ends.
   */
  stop(fanOut?: string): void {
    for (const running of [...this.#running.values()].reverse()) {
      if (fanOut === undefined || running.fanOut === fanOut) this.#stop(running);
    }
  }

  /** Asks the attempt at one step to end, as `stop` does. */
  stopStep(step: string): void {
    const running = this.#running.get(step);
    if (running !== undefined) this.#stop(running);
  }

  /** Asks one attempt to end. The grace of an earlier stop counts. */
  end(step: string, why: EndRequest = 'stop'): void {
    const running = this.#running.get(step);
    if (running === undefined || running.end.aborted) return;
    if (running.isEnding) running.end.abort(why);
    else this.#end(running, why);
  }

  /** Kills all attempts at once. */
  kill(): void {
    this.#areKilled = true;
    for (const running of [...this.#running.values()].reverse()) this.#kill(running);
  }

  /** Kills the attempt at one step at once. */
  killStep(step: string): void {
    const running = this.#running.get(step);
    if (running !== undefined) this.#kill(running);
  }

  #kill(running: Running): void {
    running.cancelTimer();
    running.end.abort('stop');
    running.kill.abort('stop');
  }

  #stop(running: Running): void {
    if (running.end.aborted || running.isEnding) return;
    if (running.finishesWhenStopped) this.#killAfterGrace(running);
    else this.#end(running, 'stop');
  }

  #end(running: Running, why: EndRequest): void {
    this.#killAfterGrace(running);
    running.end.abort(why);
  }

  #killAfterGrace(running: Running): void {
    running.isEnding = true;
    const kill = () => void running.kill.abort('stop');
    this.#after(running, running.graceMs, () => {
      running.end.abort('stop');
      if (running.isRun) this.#after(running, running.graceMs, kill);
      else kill();
    });
  }

  #after(running: Running, ms: number, then: () => void): void {
    running.cancelTimer();
    running.cancelTimer = this.#clock.setTimer(this.#clock.now() + ms, then);
  }
}
