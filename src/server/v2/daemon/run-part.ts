import type { StoredEvent } from '#core/run/run.ts';
import { steps } from '#core/run/run-state.ts';
import type { PastRun } from '#service/history/past-run.ts';
import { changeOf, type FollowedProgress, followProgress, type StepChange } from '#service/history/run-progress.ts';
import { eventFrame } from '../../reply/event-stream.ts';
import type { V2Parts } from '../v2-parts.ts';
import { createLogSizes, type LogSizes } from './log-sizes.ts';

/** Changes of the followed run in a stream: steps, sizes of logs, warnings. */
export type RunPart = {
  readonly runId: string;
  /**
   * Returns the changes since the last call, as events. A slow reader gets the newest state of each step, once. Throws
   * if the run can no longer be followed.
   */
  readonly take: () => Iterable<string>;
  /** The number of the last event of the run included by `take`. */
  readonly position: () => number;
  /** Call when the run may have changed after its end, as by a mark. */
  readonly look: () => void;
  readonly close: () => void;
};

type RunPartOptions = {
  readonly run: PastRun;
  /** Start after this event; null: only future changes. */
  readonly after: number | null;
  /** Of fan-outs send changed instances only. */
  readonly onlyChanged: boolean;
  readonly signal: AbortSignal;
  readonly wake: () => void;
};

type RunPartTools = Pick<V2Parts, 'feeds' | 'history' | 'clock'>;

/** Follows a run until the signal is aborted or it is closed. */
export function followRunPart(options: RunPartOptions, tools: RunPartTools): RunPart {
  return new FollowedRun(options, tools);
}

class FollowedRun implements RunPart {
  readonly #options: RunPartOptions;
  readonly #tools: RunPartTools;
  /** The changed steps, each with its changed instances; null: the step as a whole. */
  readonly #changed = new Map<string, Set<string> | null>();
  readonly #left = new AbortController();
  readonly #sizes: LogSizes;
  #progress: FollowedProgress;
  #warnings: number;
  #sent: number;
  #isFollowing = false;
  /** The run may have changed after its end, which is not delivered yet. */
  #mustReadRest = false;
  #failure: { readonly error: unknown } | null = null;

  constructor(options: RunPartOptions, tools: RunPartTools) {
    const { run, after, signal, wake } = options;
    this.#options = options;
    this.#tools = tools;
    this.#progress = followProgress(run);
    const events = run.stored?.events ?? [];
    const missed = after === null ? [] : events.filter(({ seq }) => seq > after);
    for (const event of missed) this.#mark(changeOf(event, run.state));
    this.#warnings = missed.some(({ type }) => type === 'run.warned') ? -1 : this.#progress.warnings().length;
    this.#sent = this.#progress.position();
    this.#sizes = createLogSizes(run, { ...tools, wake, fail: this.#fail });
    for (const event of events) this.#sizes.add(event, { isPast: after === null || event.seq <= after });
    signal.addEventListener('abort', this.close, { once: true });
    void this.#follow();
  }

  get runId(): string {
    return this.#options.run.runId;
  }

  readonly position = (): number => this.#sent;

  readonly close = (): void => {
    this.#options.signal.removeEventListener('abort', this.close);
    this.#left.abort();
    this.#sizes.close();
  };

  *take(): Iterable<string> {
    if (this.#failure !== null) throw this.#failure.error;
    for (const size of this.#sizes.take()) yield eventFrame({ event: 'log', data: JSON.stringify(size) });
    const warnings = this.#progress.warnings();
    if (warnings.length !== this.#warnings) {
      this.#warnings = warnings.length;
      yield eventFrame({ event: 'warnings', data: JSON.stringify({ runId: this.runId, warnings }) });
    }
    const position = this.#progress.position();
    for (const [step, instances] of this.#changed) {
      this.#changed.delete(step);
      yield eventFrame({ event: 'step', data: JSON.stringify(this.#view(step, instances)) });
    }
    this.#sent = position;
  }

  readonly look = (): void => {
    if (this.#isFollowing) this.#mustReadRest = true;
    else this.#readRest().catch(this.#fail);
  };

  #view(step: string, instances: ReadonlySet<string> | null): object {
    if (instances === null) return { runId: this.runId, step: this.#progress.stepView(step) };
    return { runId: this.runId, step: this.#progress.stepView(step, instances), partial: true };
  }

  readonly #fail = (error: unknown): void => {
    this.#failure = { error };
    this.#options.wake();
  };

  #mark(change: StepChange | null): void {
    if (change === null) return;
    const { step, instance } = change;
    const known = this.#changed.get(step);
    if (instance === null || !this.#options.onlyChanged) this.#changed.set(step, null);
    else if (known === undefined) this.#changed.set(step, new Set([instance]));
    else known?.add(instance);
  }

  async #follow(): Promise<void> {
    const { run, wake } = this.#options;
    this.#isFollowing = true;
    try {
      for await (const events of this.#tools.feeds.follow(run, this.#progress.position(), this.#left.signal)) {
        if (this.#left.signal.aborted) return;
        const [first] = events;
        // The journal was damaged: these events replace everything from their first number on.
        if (first !== undefined && first.seq <= this.#progress.position()) await this.#readAgain();
        else this.#add(events);
        wake();
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#isFollowing = false;
      if (this.#mustReadRest) this.look();
    }
  }

  #add(events: readonly StoredEvent[]): void {
    for (const event of events) {
      this.#mark(this.#progress.add(event));
      this.#sizes.add(event, { isPast: false });
    }
  }

  async #readRest(): Promise<void> {
    const run = await this.#tools.history.read(this.runId);
    const rest = run?.stored?.events.filter(({ seq }) => seq > this.#progress.position()) ?? [];
    if (rest.length === 0 || this.#left.signal.aborted || this.#isFollowing) return;
    this.#add(rest);
    this.#options.wake();
  }

  async #readAgain(): Promise<void> {
    const run = await this.#tools.history.read(this.runId);
    if (run === null) return;
    this.#progress = followProgress(run);
    for (const { name } of steps(run.state)) this.#changed.set(name, null);
  }
}
