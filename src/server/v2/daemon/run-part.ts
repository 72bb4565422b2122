import { nodeAt } from '#core/graph.ts';
import { attemptKey, endsAttempt } from '#core/run/outcome.ts';
import type { StoredEvent } from '#core/run/run.ts';
import { isFinished, type RunState, stepState, steps } from '#core/run/run-state.ts';
import { type AttemptRecord, addToAttempts, attemptHistory } from '#core/summary/attempt-history.ts';
import { summarizeStep, warningTexts } from '#core/summary/summarize.ts';
import { counting, evolveIfFit, MAX_ATTEMPTS, type PastRun, stepViewJson } from '#service/history.ts';
import type { AttemptReference } from '#service/logs.ts';
import type { LogStream } from '#store/logs.ts';
import { eventFrame } from '../../reply/event-stream.ts';
import type { V2Parts } from '../v2-parts.ts';

type RunPartOptions = {
  readonly run: PastRun;
  /** Start after this event; null: only future changes. */
  readonly after: number | null;
  /** Of fan-outs send changed instances only. */
  readonly onlyChanged: boolean;
  readonly signal: AbortSignal;
  readonly wake: () => void;
};

/** Changes of the followed run in a stream: steps, sizes of logs, warnings. Follows it until the signal or `close`. */
export class RunPart {
  readonly #options: RunPartOptions;
  readonly #tools: Pick<V2Parts, 'feeds' | 'history' | 'clock'>;
  /** The changed steps, each with its changed instances; null: the step as a whole. */
  readonly #changed = new Map<string, Set<string> | null>();
  readonly #left = new AbortController();
  readonly #sizes: LogSizes;
  #progress: Progress;
  /** Those that were sent, one a line; null: not known. */
  #warnings: string | null;
  /** What the run waits for in its engine. */
  #waits: readonly string[] = [];
  #sent: number;
  #isFollowing = false;
  /** The run may have changed after its end, which is not delivered yet. */
  #mustReadRest = false;
  #failure: { readonly error: unknown } | null = null;

  constructor(options: RunPartOptions, tools: Pick<V2Parts, 'feeds' | 'history' | 'clock'>) {
    const { run, after, signal, wake } = options;
    this.#options = options;
    this.#tools = tools;
    this.#progress = new Progress(run);
    const events = run.stored?.events ?? [];
    const missed = after === null ? [] : events.filter(({ seq }) => seq > after);
    for (const event of missed) this.#mark(changeOf(event, run.state));
    const mayBeNew = missed.some(({ type }) => type === 'run.warned');
    this.#warnings = mayBeNew ? null : this.#progress.warnings().join('\n');
    this.#sent = this.#progress.position;
    this.#sizes = new LogSizes(run, { clock: tools.clock, wake, fail: this.#fail });
    for (const event of events) this.#sizes.add(event, { isPast: after === null || event.seq <= after });
    signal.addEventListener('abort', this.close, { once: true });
    void this.#follow();
    if (run.state.owner !== null && 'engine' in run.state.owner) this.#lookForWaits();
  }

  get runId(): string {
    return this.#options.run.runId;
  }

  /** The number of the last event of the run included by `take`. */
  get position(): number {
    return this.#sent;
  }

  readonly close = (): void => {
    this.#options.signal.removeEventListener('abort', this.close);
    this.#left.abort();
    this.#sizes.close();
  };

  /** Returns the changes as events, each step once. Throws if the run can no longer be followed. */
  *take(): Iterable<string> {
    if (this.#failure !== null) throw this.#failure.error;
    for (const size of this.#sizes.take()) yield eventFrame({ event: 'log', data: JSON.stringify(size) });
    const warnings = [...this.#progress.warnings(), ...this.#waits];
    const text = warnings.join('\n');
    if (text !== this.#warnings) {
      this.#warnings = text;
      yield eventFrame({ event: 'warnings', data: JSON.stringify({ runId: this.runId, warnings }) });
    }
    const position = this.#progress.position;
    for (const [step, instances] of this.#changed) {
      this.#changed.delete(step);
      yield eventFrame({ event: 'step', data: JSON.stringify(this.#view(step, instances)) });
    }
    this.#sent = position;
  }

  /** To be called when the run may have changed after its end, as by a mark. */
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

  /** What a run of an engine waits for is no event: it is asked for again and again. */
  #lookForWaits(): void {
    const { history, clock } = this.#tools;
    const run = this.#progress.run;
    if (this.#left.signal.aborted) return;
    const asked = history.withWaits(run).then(({ waits = [] }) => {
      const isSame = waits.join('\n') === this.#waits.join('\n');
      this.#waits = waits;
      if (!isSame) this.#options.wake();
      if (isFinished(run.state) || this.#left.signal.aborted) return;
      const cancel = clock.setTimer(clock.now() + LOOK_FOR_WAITS_MS, () => {
        this.#left.signal.removeEventListener('abort', cancel);
        this.#lookForWaits();
      });
      this.#left.signal.addEventListener('abort', cancel, { once: true });
    });
    asked.catch(this.#fail);
  }

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
      for await (const events of this.#tools.feeds.follow(run, this.#progress.position, this.#left.signal)) {
        if (this.#left.signal.aborted) return;
        const [first] = events;
        // The journal was damaged: these events replace everything from their first number on.
        if (first !== undefined && first.seq <= this.#progress.position) await this.#readAgain();
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
    const rest = run?.stored?.events.filter(({ seq }) => seq > this.#progress.position) ?? [];
    if (rest.length === 0 || this.#left.signal.aborted || this.#isFollowing) return;
    this.#add(rest);
    this.#options.wake();
  }

  async #readAgain(): Promise<void> {
    const run = await this.#tools.history.read(this.runId);
    if (run === null) return;
    this.#progress = new Progress(run);
    for (const { name } of steps(run.state)) this.#changed.set(name, null);
  }
}

/** A changed step; `instance`: the changed instance of a fan-out, null for the step itself. */
type StepChange = { readonly step: string; readonly instance: string | null };

/** The state of a followed run after each event. */
class Progress {
  readonly #run: PastRun;
  readonly #attempts: Map<string, AttemptRecord[]>;
  #state: RunState;
  position: number;

  constructor(run: PastRun) {
    const events = run.stored?.events ?? [];
    this.#run = run;
    this.#attempts = attemptHistory(events);
    this.#state = run.state;
    this.position = events.at(-1)?.seq ?? 0;
  }

  get run(): PastRun {
    return { ...this.#run, state: this.#state };
  }

  /** Adds one event and returns its change of a step, if any. */
  add(event: StoredEvent): StepChange | null {
    this.position = event.seq;
    const next = evolveIfFit(this.#state, event);
    if (next === null) return null;
    this.#state = next;
    addToAttempts(this.#attempts, event);
    return changeOf(event, next);
  }

  /** A step or handler as `GET /runs/{id}/view` shows it. `only`: the names of the instances to include; default: all. */
  stepView(name: string, only?: ReadonlySet<string>): object {
    const step = stepState(this.#state, name);
    const logs = this.#run.stored?.logs;
    const logPath = (of: string, attempt: number) => logs?.file(of, attempt, 'stdout').path ?? null;
    const summary = counting(summarizeStep(this.#state, step, logPath, only), this.#state.strict);
    return stepViewJson(summary, step, (of) => (this.#attempts.get(of) ?? []).slice(-MAX_ATTEMPTS));
  }

  warnings(): readonly string[] {
    return [...warningTexts(this.#state), ...this.#run.damage];
  }
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
type StreamSize = AttemptReference & { readonly runId: string; readonly stream: LogStream; readonly size: number };

const LOOK_FOR_WAITS_MS = 5000;
const POLL_MS = 250;
/** Attempts checked at a time; the others are checked next. */
const MAX_ATTEMPTS_PER_LOOK = 200;

type LogSizesTools = Pick<V2Parts, 'clock'> & {
  readonly wake: () => void;
  readonly fail: (error: unknown) => void;
};

/** The log sizes of the running attempts of a run, checked a few times a second regardless of the amount of output. */
export class LogSizes {
  readonly #run: PastRun;
  readonly #tools: LogSizesTools;
  readonly #running = new Map<string, AttemptReference>();
  readonly #known = new Map<string, number>();
  readonly #changed = new Map<string, StreamSize>();
  #cancelTimer: (() => void) | null = null;

  constructor(run: PastRun, tools: LogSizesTools) {
    this.#run = run;
    this.#tools = tools;
  }

  /** `isPast`: add the attempt only if it is still running. */
  add(event: StoredEvent, { isPast }: { readonly isPast: boolean }): void {
    if (event.type !== 'step.started' && !endsAttempt(event)) return;
    const { step, attempt } = event;
    const key = attemptKey({ step, attempt });
    if (event.type === 'step.started') {
      this.#running.set(key, { step, attempt });
      this.#lookLater();
      return;
    }
    this.#running.delete(key);
    const forget = () => {
      for (const stream of ['output', 'stdout', 'stderr']) this.#known.delete(`${stream} ${key}`);
    };
    const { wake, fail } = this.#tools;
    if (isPast) forget();
    else void this.#measure({ step, attempt }).then(forget).then(wake).catch(fail);
  }

  /** The sizes that have changed since the last call. */
  take(): Iterable<StreamSize> {
    const sizes = [...this.#changed.values()];
    this.#changed.clear();
    return sizes;
  }

  close(): void {
    this.#running.clear();
    this.#cancelTimer?.();
  }

  #lookLater(): void {
    if (this.#running.size === 0) return;
    const { clock, fail } = this.#tools;
    this.#cancelTimer ??= clock.setTimer(clock.now() + POLL_MS, () => void this.#look().catch(fail));
  }

  async #look(): Promise<void> {
    for (const [key, attempt] of [...this.#running].slice(0, MAX_ATTEMPTS_PER_LOOK)) {
      if (!this.#running.delete(key)) continue;
      this.#running.set(key, attempt);
      // The size at its end may be known first.
      await this.#measure(attempt, () => this.#running.has(key));
    }
    this.#cancelTimer = null;
    if (this.#changed.size > 0) this.#tools.wake();
    this.#lookLater();
  }

  async #measure({ step, attempt }: AttemptReference, isWanted = () => true): Promise<void> {
    const { runId, stored } = this.#run;
    for (const stream of (await stored?.logs.streams(step, attempt)) ?? []) {
      const size = (await stored?.logs.file(step, attempt, stream).size()) ?? 0;
      const key = `${stream} ${attemptKey({ step, attempt })}`;
      if (size === (this.#known.get(key) ?? 0) || !isWanted()) continue;
      this.#known.set(key, size);
      this.#changed.set(key, { runId, step, attempt, stream, size });
    }
  }
}
