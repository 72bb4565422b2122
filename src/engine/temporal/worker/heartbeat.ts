import type { Clock } from '#system/clock.ts';

/** One beat a second: the server answers with a request to end. */
const BEAT_MS = 1000;
/** The parts of the time after which an attempt is lost, at which the worker ends and kills it if it hears nothing. */
const [END_AFTER, KILL_AFTER, DEADLINE] = [0.6, 0.8, 0.25];
/** gRPC: the attempt timed out, or its run is gone. */
const NOT_FOUND = 5;

/** What a heartbeat needs. */
export type HeartbeatParts = {
  readonly clock: Clock;
  readonly lostAfterMs: number;
  /** Sends a beat within this number of milliseconds; resolves to whether the attempt is to end. */
  readonly send: (limitMs: number) => Promise<boolean>;
  /** Called at every beat that asks the attempt to end. */
  readonly onEnd: () => void;
  /** The attempt is lost to the run: called first to end it, then to kill it. */
  readonly onLost: (how: 'end' | 'kill') => void;
};

/**
 * Tells Temporal that an attempt is alive, and the worker that Temporal still counts on it: an attempt that was not heard
 * ends before another worker can get it.
 */
export class Heartbeat {
  readonly #parts: HeartbeatParts;
  #heardAt: number;
  #loss: 'end' | 'kill' | null = null;
  #cancelTimer: () => void = () => {};
  #isClosed = false;

  constructor(parts: HeartbeatParts) {
    this.#parts = parts;
    this.#heardAt = parts.clock.elapsed();
  }

  /** Whether the attempt may have been given to another worker. */
  get isLost(): boolean {
    return this.#loss !== null;
  }

  /** Resolves to whether Temporal knows that the attempt begins; then beats until `close`. */
  async begin(): Promise<boolean> {
    while (!(await this.#beat())) {
      if (this.isLost) return false;
      await this.#pause();
    }
    void this.#goOn();
    this.#look();
    return true;
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelTimer();
  }

  async #goOn(): Promise<void> {
    await this.#pause();
    while (!this.#isClosed && this.#loss !== 'kill') {
      await this.#beat();
      await this.#pause();
    }
  }

  #pause(): Promise<void> {
    const { clock } = this.#parts;
    return new Promise((resolve) => {
      clock.setTimer(clock.now() + BEAT_MS, resolve);
    });
  }

  async #beat(): Promise<boolean> {
    const { clock, lostAfterMs, send, onEnd } = this.#parts;
    const sentAt = clock.elapsed();
    try {
      const isEndAsked = await send(lostAfterMs * DEADLINE);
      this.#heardAt = Math.max(this.#heardAt, sentAt);
      if (isEndAsked && !this.#isClosed) onEnd();
      return true;
    } catch (error) {
      if ((error as { readonly code?: unknown }).code === NOT_FOUND) this.#lose('kill');
      else this.#judge();
      return false;
    }
  }

  /** Looks often: a beat may wait for its answer meanwhile. */
  #look(): void {
    const { clock } = this.#parts;
    this.#cancelTimer = clock.setTimer(clock.now() + BEAT_MS / 4, () => {
      this.#judge();
      if (!this.#isClosed) this.#look();
    });
  }

  #judge(): void {
    const { clock, lostAfterMs } = this.#parts;
    const silence = (clock.elapsed() - this.#heardAt) / lostAfterMs;
    if (silence >= KILL_AFTER) this.#lose('kill');
    else if (silence >= END_AFTER) this.#lose('end');
  }

  #lose(how: 'end' | 'kill'): void {
    if (this.#isClosed || this.#loss === how || this.#loss === 'kill') return;
    this.#loss = how;
    this.#parts.onLost(how);
  }
}
