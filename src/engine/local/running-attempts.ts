import { type AttemptSignals, type EndRequest, EndSignal } from '../../processes/end-signal.ts';
import type { Clock } from '../clock.ts';

type Running = {
  readonly end: EndSignal;
  readonly kill: EndSignal;
  /** True for a repeating step once it has begun: a stop lets it finish the repetition it is in. */
  finishesWhenStopped: boolean;
  cancelTimer: () => void;
};

/** The attempts that are under way, and their ends: the request, then, when the grace is over, the kill. */
export class RunningAttempts {
  readonly #clock: Clock;
  readonly #graceMs: number;
  readonly #running = new Map<string, Running>();

  constructor(clock: Clock, graceMs: number) {
    this.#clock = clock;
    this.#graceMs = graceMs;
  }

  /** Enters an attempt that waits for its start. */
  enter(step: string): AttemptSignals {
    const running: Running = {
      end: new EndSignal(),
      kill: new EndSignal(),
      finishesWhenStopped: false,
      cancelTimer: () => {},
    };
    this.#running.set(step, running);
    return { signal: running.end, kill: running.kill };
  }

  /** It starts, unless it was asked to end before. `timeoutMs` 0: no limit. */
  begin(step: string, options: { timeoutMs: number; finishesWhenStopped: boolean }): void {
    const running = this.#running.get(step);
    if (running === undefined || running.end.aborted) return;
    running.finishesWhenStopped = options.finishesWhenStopped;
    if (options.timeoutMs > 0) this.#after(running, options.timeoutMs, () => this.#end(running, 'timeout'));
  }

  /** Takes an attempt out that has ended. */
  leave(step: string): void {
    this.#running.get(step)?.cancelTimer();
    this.#running.delete(step);
  }

  /** Asks all of them to end. */
  stop(): void {
    for (const running of this.#running.values()) {
      if (running.end.aborted) continue;
      if (running.finishesWhenStopped) this.#killAfterGrace(running);
      else this.#end(running, 'stop');
    }
  }

  /** Ends all of them at once. */
  kill(): void {
    for (const running of this.#running.values()) {
      running.cancelTimer();
      running.end.abort('stop');
      running.kill.abort('stop');
    }
  }

  #end(running: Running, why: EndRequest): void {
    this.#killAfterGrace(running);
    running.end.abort(why);
  }

  #killAfterGrace(running: Running): void {
    this.#after(running, this.#graceMs, () => {
      running.end.abort('stop');
      running.kill.abort('stop');
    });
  }

  #after(running: Running, ms: number, then: () => void): void {
    running.cancelTimer();
    running.cancelTimer = this.#clock.setTimer(this.#clock.now() + ms, then);
  }
}
