import { endsAttempt } from '#core/run/outcome.ts';
import type { StoredEvent } from '#core/run/run.ts';
import type { RunState } from '#core/run/run-state.ts';
import { summarize } from '#core/summary/summarize.ts';
import type { RunSummary } from '#core/summary/summary.ts';
import type { ActiveRun, ChildWatcher, OnChild } from '#engine/engine.ts';
import type { Reporter } from '#render/reporters/reporter.ts';
import type { LogFollower } from '#store/logs.ts';
import { nextTurn } from '#system/turns.ts';
import type { Output } from '../terminal/output.ts';
import { type PresentedEvent, type PresentedResult, type PresentedWorkflow, Presenter } from './presenter.ts';

/** A slower reader gets nothing new until it has caught up; the logs are complete. */
const mostPendingBytes = 4 * 1024 * 1024;

/** Where the run is shown. */
export type EngineFeedTools = {
  readonly reporter: Reporter;
  readonly out: Output;
  /** Whether the run is stored. */
  readonly kept: boolean;
};

/**
 * The feed of a run of this process: its stored events, with the output of the steps between them, and the events of child
 * runs, all in the order in which they happened.
 */
export class EngineFeed {
  readonly #tools: EngineFeedTools;
  readonly #root: FedRun;
  readonly #runs = new Map<string, FedRun>();
  readonly #due: { readonly fed: FedRun; readonly event: StoredEvent; readonly state: RunState }[] = [];
  #isShowing = false;
  #isPlanned = false;
  #done: Promise<void> = Promise.resolve();

  constructor(tools: EngineFeedTools, loaded: PresentedWorkflow) {
    this.#tools = tools;
    this.#root = this.#open(new Presenter(tools.reporter, loaded), null);
  }

  /** Call it in the turn of the event loop in which the run starts; steps start later. */
  attach(run: ActiveRun): void {
    this.#attach(this.#root, run);
  }

  readonly watch = (event: StoredEvent, state: RunState): void => this.#take(this.#root, event, state);

  /** Adds a child run; `loaded` contains no secret in plain text. */
  child({ runId, step, attempt }: Parameters<OnChild>[0], loaded: PresentedWorkflow): ChildWatcher {
    const parent = this.#runs.get(runId) ?? this.#root;
    const resultOf = (state: RunState) => this.#resultOf(fed, state);
    const presenter = new Presenter(this.#tools.reporter, loaded, { presenter: parent.presenter, step, resultOf });
    const fed: FedRun = this.#open(presenter, () => parent.follower?.catchUp(step, attempt));
    return {
      watch: (event, state) => this.#take(fed, event, state),
      attach: (run) => this.#attach(fed, run),
    };
  }

  /** Prints the recap after everything before it. */
  async end(state: RunState): Promise<RunSummary> {
    await this.#done;
    const result = this.#resultOf(this.#root, state);
    this.#root.presenter.end(state, result);
    return result.summary;
  }

  close(): void {
    for (const { follower } of [this.#root, ...this.#runs.values()]) follower?.close();
  }

  #open(presenter: Presenter, catchUpParent: FedRun['catchUpParent']): FedRun {
    return { presenter, catchUpParent, follower: null, run: null };
  }

  #attach(fed: FedRun, run: ActiveRun): void {
    const { reporter, out } = this.#tools;
    fed.run = run;
    if (reporter.wantsOutput) {
      fed.follower = run.logs.follow({
        deliver: (chunk) => fed.presenter.output(chunk),
        isBlocked: () => out.pending() > mostPendingBytes,
      });
    }
    this.#runs.set(run.runId, fed);
  }

  #take(fed: FedRun, event: StoredEvent, state: RunState): void {
    this.#due.push({ fed, event, state });
    if (this.#isShowing) return;
    // A run that is not stored may remove its logs in this turn.
    if (!this.#tools.kept) this.#done = this.#showDue();
    else if (!this.#isPlanned) this.#done = this.#showNextTurn();
  }

  /** Reading a log and formatting lines wait until the next step is started. */
  async #showNextTurn(): Promise<void> {
    this.#isPlanned = true;
    await nextTurn();
    this.#isPlanned = false;
    if (!this.#isShowing) await this.#showDue();
  }

  /** An event waits for the output before it, and output waits for a slow reader; the run waits for neither. */
  async #showDue(): Promise<void> {
    this.#isShowing = true;
    for (let next = this.#due.shift(); next; next = this.#due.shift()) {
      const { fed, event, state } = next;
      if (endsAttempt(event)) {
        while (fed.follower?.finish(event.step, event.attempt) === false) await this.#readerIsNear();
      }
      const { presenter, run } = fed;
      const tail = run !== null && presenter.wantsTail(event) ? run.logs.tail(event) : null;
      this.#show(fed, { event, state, tail });
    }
    this.#isShowing = false;
  }

  async #readerIsNear(): Promise<void> {
    const { out } = this.#tools;
    // Give the reporter time to write its batch of lines.
    await nextTurn();
    if (out.pending() > mostPendingBytes) await out.drained();
  }

  #show({ presenter, follower, catchUpParent }: FedRun, { event, state, tail }: PresentedEvent): void {
    // The output of the step so far comes before the first line of its run.
    if (event.type === 'run.created') catchUpParent?.();
    presenter.event({ event, state, tail });
    // Not when the step starts: events may be waiting here for the output of another step, and this one's would pass them.
    if (event.type === 'step.started' && presenter.isShown) follower?.follow(event.step, event.attempt);
  }

  #resultOf({ run }: FedRun, state: RunState): PresentedResult {
    const { kept } = this.#tools;
    const logPath = (step: string, attempt: number) =>
      (kept ? run?.logs.file(step, attempt, 'stdout').path : null) ?? null;
    return { summary: summarize(state, logPath), kept, ...(run?.isMasked ? { masked: true } : {}) };
  }
}

/** A run of a feed: the run itself or a child run. */
type FedRun = {
  readonly presenter: Presenter;
  /** Null if the reporter shows no output. */
  follower: LogFollower | null;
  /** Shows the output so far of the step that carries it out; null for the run itself. */
  readonly catchUpParent: (() => void) | null;
  run: ActiveRun | null;
};
