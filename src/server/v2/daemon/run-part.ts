import { nodeAt } from '#core/graph.ts';
import { endsAttempt } from '#core/run/outcome.ts';
import type { StoredEvent } from '#core/run/run.ts';
import { type RunState, stepState, steps } from '#core/run/run-state.ts';
import { type AttemptRecord, addToAttempts, attemptHistory } from '#core/summary/attempt-history.ts';
import { summarizeStep } from '#core/summary/summarize.ts';
import { counting, evolveIfFit, MAX_ATTEMPTS, type PastRun, stepViewJson } from '#service/history.ts';
import type { LogStream } from '#store/logs.ts';
import { eventFrame } from '../../reply/event-stream.ts';
import type { V2Parts } from '../v2-parts.ts';

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

/** The state of a followed run after each event, and the steps that changed. */
type FollowedProgress = {
  /** The number of the last event that was added. */
  readonly position: () => number;
  /** Adds one event and returns its change of a step, if any. */
  readonly add: (event: StoredEvent) => StepChange | null;
  readonly state: () => RunState;
  /** A step or handler as `GET /runs/{id}/view` shows it. `only`: the names of the instances to include; default: all. */
  readonly stepView: (step: string, only?: ReadonlySet<string>) => object;
  readonly warnings: () => readonly string[];
};

/** A changed step; `instance`: the changed instance of a fan-out, null for the step itself. */
type StepChange = { readonly step: string; readonly instance: string | null };

/** Creates the progress of a run, beginning with the events already read. */
function followProgress({ state: read, stored, damage }: PastRun): FollowedProgress {
  const attempts: Map<string, AttemptRecord[]> = attemptHistory(stored?.events ?? []);
  let state = read;
  let position = stored?.events.at(-1)?.seq ?? 0;
  const logPath = (step: string, attempt: number) => stored?.logs.file(step, attempt, 'stdout').path ?? null;
  return {
    position: () => position,
    state: () => state,
    add: (event) => {
      position = event.seq;
      const next = evolveIfFit(state, event);
      if (next === null) return null;
      state = next;
      addToAttempts(attempts, event);
      return changeOf(event, state);
    },
    stepView: (name, only) => {
      const step = stepState(state, name);
      return stepViewJson(counting(summarizeStep(state, step, logPath, only), state.strict), step, (of) =>
        (attempts.get(of) ?? []).slice(-MAX_ATTEMPTS),
      );
    },
    warnings: () => [
      ...state.warnings.map(({ step, message }) => (step === null ? message : `${step}: ${message}`)),
      ...damage,
    ],
  };
}

/** Returns the step whose view an event changes; null if it changes none, or a step that the run does not have. */
function changeOf(event: StoredEvent, { graph }: Pick<RunState, 'graph'>): StepChange | null {
  if (!('step' in event) || event.type === 'run.warned' || event.step === null) return null;
  const index = graph.index.get(event.step);
  if (index === undefined) return null;
  const { instanceOf } = nodeAt(graph, index);
  return instanceOf === undefined ? { step: event.step, instance: null } : { step: instanceOf, instance: event.step };
}

/** The current size of a stream of an attempt, in bytes. */
type StreamSize = {
  readonly runId: string;
  readonly step: string;
  readonly attempt: number;
  readonly stream: LogStream;
  readonly size: number;
};

/** The log sizes of running attempts, checked a few times a second regardless of the amount of output. */
type LogSizes = {
  /** `isPast`: add the attempt only if it is still running. */
  readonly add: (event: StoredEvent, options: { readonly isPast: boolean }) => void;
  /** The sizes that have changed since the last call. */
  readonly take: () => Iterable<StreamSize>;
  readonly close: () => void;
};

type LogSizesParts = Pick<V2Parts, 'clock'> & {
  readonly wake: () => void;
  readonly fail: (error: unknown) => void;
};

const pollMs = 250;
/** Attempts checked at a time; the others are checked next. */
const MAX_ATTEMPTS_PER_LOOK = 200;

type Attempt = { readonly step: string; readonly attempt: number };

/** Creates the sizes for the attempts of one run. */
export function createLogSizes({ runId, stored }: PastRun, { clock, wake, fail }: LogSizesParts): LogSizes {
  const running = new Map<string, Attempt>();
  const known = new Map<string, number>();
  const changed = new Map<string, StreamSize>();
  let cancelTimer: (() => void) | null = null;
  const measure = async ({ step, attempt }: Attempt, isWanted = () => true) => {
    for (const stream of (await stored?.logs.streams(step, attempt)) ?? []) {
      const size = (await stored?.logs.file(step, attempt, stream).size()) ?? 0;
      const key = `${stream} ${attempt} ${step}`;
      if (size === (known.get(key) ?? 0) || !isWanted()) continue;
      known.set(key, size);
      changed.set(key, { runId, step, attempt, stream, size });
    }
  };
  const look = async () => {
    for (const [key, attempt] of [...running].slice(0, MAX_ATTEMPTS_PER_LOOK)) {
      if (!running.delete(key)) continue;
      running.set(key, attempt);
      // The size at its end may be known first.
      await measure(attempt, () => running.has(key));
    }
    cancelTimer = null;
    if (changed.size > 0) wake();
    lookLater();
  };
  const lookLater = () => {
    if (running.size > 0) cancelTimer ??= clock.setTimer(clock.now() + pollMs, () => void look().catch(fail));
  };
  return {
    add: (event, { isPast }) => {
      if (event.type !== 'step.started' && !endsAttempt(event)) return;
      const { step, attempt } = event;
      const key = `${attempt} ${step}`;
      if (event.type === 'step.started') {
        running.set(key, { step, attempt });
        lookLater();
        return;
      }
      running.delete(key);
      const forget = () => {
        for (const stream of ['output', 'stdout', 'stderr']) known.delete(`${stream} ${key}`);
      };
      if (isPast) return forget();
      void measure({ step, attempt }).then(forget).then(wake).catch(fail);
    },
    take: () => {
      const sizes = [...changed.values()];
      changed.clear();
      return sizes;
    },
    close: () => {
      running.clear();
      cancelTimer?.();
    },
  };
}
