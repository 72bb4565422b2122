import type { App } from '../app.ts';
import { originsOf } from '../core/origin.ts';
import type { SettledStatus, StoredEvent } from '../core/run.ts';
import type { RunState } from '../core/run-state.ts';
import { summarize } from '../core/summarize.ts';
import type { RunSummary } from '../core/summary.ts';
import type { ActiveRun } from '../engine/engine.ts';
import type { Reporter } from '../render/reporter.ts';
import type { LoadedWorkflow } from '../service/workflows/workflows.ts';
import { locateSteps } from '../spec/locate.ts';
import type { Output } from './output.ts';

/** A reader that is this far behind gets nothing new until it has caught up; the logs keep it all. */
const mostPendingBytes = 4 * 1024 * 1024;
/** How much of a step's output the recap has. */
const tailLines = 10;

/** One run as one reporter shows it: the events as they are stored, and between them the output of the steps. */
export class RunView {
  readonly #reporter: Reporter;
  readonly #loaded: LoadedWorkflow;
  readonly #tails = new Map<string, readonly string[]>();
  readonly #follower: ReturnType<App['followLogs']> | null;
  readonly #app: App;
  readonly #out: Output;
  readonly #due: { readonly event: StoredEvent; readonly state: RunState }[] = [];
  #isShowing = false;
  #shown: Promise<void> = Promise.resolve();
  #run: ActiveRun | null = null;

  constructor(app: App, reporter: Reporter, loaded: LoadedWorkflow, out: Output) {
    this.#app = app;
    this.#out = out;
    this.#reporter = reporter;
    this.#loaded = loaded;
    this.#follower = reporter.wantsOutput
      ? app.followLogs({ deliver: reporter.output, isBlocked: () => out.pending() > mostPendingBytes })
      : null;
  }

  /** To be called in the same turn as the start of the run: steps start later. */
  attach(run: ActiveRun): void {
    this.#run = run;
  }

  readonly watch = (event: StoredEvent, state: RunState): void => {
    this.#due.push({ event, state });
    if (this.#isShowing) return;
    this.#isShowing = true;
    this.#shown = this.#showDue();
  };

  /** Prints the recap, once everything before it is shown. */
  async end(state: RunState, { kept }: { kept: boolean }): Promise<RunSummary> {
    await this.#shown;
    const logPath = (step: string, attempt: number) =>
      (kept ? this.#run?.journal.logPaths(step, attempt).stdoutPath : null) ?? null;
    const summary = summarize(state, logPath);
    const failed = [...summary.steps, ...summary.handlers].filter(({ status }) => status === 'failed');
    const names = failed.map(({ name }) => name);
    const places = names.length > 0 ? locateSteps(this.#loaded.sources, names) : new Map();
    this.#reporter.end({ summary, places, tails: this.#tails, origins: originsOf(state), kept });
    return summary;
  }

  close(): void {
    this.#follower?.close();
  }

  /** An event waits for the output before it, and that for a reader who is far behind; the run itself waits for neither. */
  async #showDue(): Promise<void> {
    for (let next = this.#due.shift(); next; next = this.#due.shift()) {
      const { event, state } = next;
      if (event.type === 'step.waiting' || event.type === 'step.finished') {
        while (this.#follower?.finish(event.step, event.attempt) === false) await this.#readerIsNear();
      }
      this.#show(event, state);
    }
    this.#isShowing = false;
  }

  async #readerIsNear(): Promise<void> {
    // The reporter gathers lines before it hands them on: let it.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#out.pending() > mostPendingBytes) await this.#out.drained();
  }

  #show(event: StoredEvent, state: RunState): void {
    if (event.type === 'run.created') this.#reporter.begin(this.#loaded.workflow, event.runId);
    if (event.type === 'step.finished' && event.attempt > 0 && this.#wantsTail(event.status)) {
      const paths = this.#run?.journal.logPaths(event.step, event.attempt);
      if (paths) this.#tails.set(event.step, this.#app.readTail(paths, tailLines));
    }
    this.#reporter.event(event, state);
    // Not when the step starts: events may be waiting here for the output of another step, and this one's would pass them.
    if (event.type === 'step.started') this.#follow(event.step, event.attempt);
  }

  #wantsTail(status: SettledStatus): boolean {
    return status === 'failed' || this.#reporter.wantsTails === true;
  }

  #follow(step: string, attempt: number): void {
    const paths = this.#run?.journal.logPaths(step, attempt);
    if (paths) this.#follower?.follow(step, attempt, paths);
  }
}
