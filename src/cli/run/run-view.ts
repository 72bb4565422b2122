import type { App } from '../../app.ts';
import { originsOf } from '../../core/run/origin.ts';
import type { StoredEvent } from '../../core/run/run.ts';
import type { RunState } from '../../core/run/run-state.ts';
import { summarize } from '../../core/run/summarize.ts';
import type { RunSummary } from '../../core/run/summary.ts';
import type { ActiveRun, ChildWatcher, OnChild } from '../../engine/engine.ts';
import { locateSteps } from '../../language/locate.ts';
import type { ChildReporter, Recap, Reporter } from '../../render/reporters/reporter.ts';
import type { LoadedWorkflow } from '../../service/workflows/workflows.ts';
import type { Output } from '../terminal/output.ts';

/** A slower reader gets nothing new until it has caught up; the logs are complete. */
const mostPendingBytes = 4 * 1024 * 1024;

/**
 * Passes one run to one reporter: its stored events, with the output of the steps between them, and the events of child runs,
 * all in the order in which they happened.
 */
export class RunView {
  readonly #reporter: Reporter;
  readonly #root: ShownRun;
  readonly #runs = new Map<string, ShownRun>();
  readonly #app: App;
  readonly #out: Output;
  readonly #due: { readonly shown: ShownRun; readonly event: StoredEvent; readonly state: RunState }[] = [];
  #isShowing = false;
  #done: Promise<void> = Promise.resolve();

  constructor(app: App, reporter: Reporter, loaded: ShownRun['loaded'], out: Output) {
    this.#app = app;
    this.#out = out;
    this.#reporter = reporter;
    this.#root = this.#open(loaded, [], null);
    this.#root.target = reporter;
  }

  /** Call it in the turn of the event loop in which the run starts; steps start later. */
  attach(run: ActiveRun): void {
    this.#attach(this.#root, run);
  }

  readonly watch = (event: StoredEvent, state: RunState): void => this.#take(this.#root, event, state);

  /** Shows a child run; `loaded` contains no secret in plain text. */
  child(parent: Parameters<OnChild>[0], loaded: ShownRun['loaded']): ChildWatcher {
    const around = this.#runs.get(parent.runId) ?? this.#root;
    const shown = this.#open(loaded, [...around.path, parent.step], {
      shown: around,
      step: parent.step,
      attempt: parent.attempt,
    });
    around.children.set(parent.step, shown);
    return {
      watch: (event, state) => this.#take(shown, event, state),
      attach: (run) => this.#attach(shown, run),
    };
  }

  /** Prints the recap after everything before it. */
  async end(state: RunState, { kept }: { kept: boolean }): Promise<RunSummary> {
    await this.#done;
    const recap = recapOf(this.#root, state, kept);
    this.#reporter.end(recap);
    return recap.summary;
  }

  close(): void {
    for (const { follower } of [this.#root, ...this.#runs.values()]) follower?.close();
  }

  #open(loaded: ShownRun['loaded'], path: readonly string[], around: ShownRun['around']): ShownRun {
    const shown: ShownRun = {
      loaded,
      path,
      around,
      tails: new Map(),
      children: new Map(),
      follower: this.#reporter.wantsOutput
        ? this.#app.followLogs({
            deliver: (chunk) => shown.target?.output(chunk),
            isBlocked: () => this.#out.pending() > mostPendingBytes,
          })
        : null,
      target: null,
      run: null,
      state: null,
    };
    return shown;
  }

  #attach(shown: ShownRun, run: ActiveRun): void {
    shown.run = run;
    this.#runs.set(run.runId, shown);
  }

  #take(shown: ShownRun, event: StoredEvent, state: RunState): void {
    this.#due.push({ shown, event, state });
    if (this.#isShowing) return;
    this.#isShowing = true;
    this.#done = this.#showDue();
  }

  /** An event waits for the output before it, and output waits for a slow reader; the run waits for neither. */
  async #showDue(): Promise<void> {
    for (let next = this.#due.shift(); next; next = this.#due.shift()) {
      const { shown, event, state } = next;
      if (event.type === 'step.waiting' || event.type === 'step.finished') {
        while (shown.follower?.finish(event.step, event.attempt) === false) await this.#readerIsNear();
      }
      showEvent(shown, event, state, this.#reporter, this.#app);
    }
    this.#isShowing = false;
  }

  async #readerIsNear(): Promise<void> {
    // Give the reporter time to write its batch of lines.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#out.pending() > mostPendingBytes) await this.#out.drained();
  }
}

/** Lines of a failed step's output in the recap. */
const tailLines = 10;

/** A run of a view: the run itself or a child run. */
type ShownRun = {
  readonly loaded: Pick<LoadedWorkflow, 'workflow' | 'sources'>;
  /** The steps that lead to it; empty for the run itself. */
  readonly path: readonly string[];
  /** The last lines of its steps. */
  readonly tails: Map<string, readonly string[]>;
  /** The last run of each step that carries out another one. */
  readonly children: Map<string, ShownRun>;
  /** The attempt that carries it out; null for the run itself. */
  readonly around: { readonly shown: ShownRun; readonly step: string; readonly attempt: number } | null;
  readonly follower: ReturnType<App['followLogs']> | null;
  /** Where its events go; null where only the step that carries it out is shown. */
  target: ChildReporter | null;
  run: ActiveRun | null;
  state: RunState | null;
};

/** Shows an event, and keeps the last lines of a step that ended with it. */
function showEvent(shown: ShownRun, event: StoredEvent, state: RunState, reporter: Reporter, app: App): void {
  const { loaded, path, tails, run, around } = shown;
  shown.state = state;
  if (event.type === 'run.created') {
    if (path.length === 0) reporter.begin(loaded.workflow, event.runId);
    // What the step has printed so far stands above the first line of its run.
    around?.shown.follower?.catchUp(around.step, around.attempt);
    if (path.length > 0)
      shown.target = reporter.child?.({ runId: event.runId, workflow: loaded.workflow, path }) ?? null;
  }
  const wantsTail = event.type === 'step.finished' && (event.status === 'failed' || reporter.wantsTails === true);
  if (wantsTail && event.attempt > 0) {
    const paths = run?.journal.logPaths(event.step, event.attempt);
    if (paths) tails.set(event.step, app.readTail(paths, tailLines));
  }
  shown.target?.event(event, state);
  // Not when the step starts: events may be waiting here for the output of another step, and this one's would pass them.
  if (event.type === 'step.started') follow(shown, event.step, event.attempt);
}

function follow({ follower, run, target }: ShownRun, step: string, attempt: number): void {
  const paths = target === null ? undefined : run?.journal.logPaths(step, attempt);
  if (paths) follower?.follow(step, attempt, paths);
}

/** What a reporter closes with, for the run and for those that its failed steps carried out. */
function recapOf({ loaded, tails, children, run }: ShownRun, state: RunState, kept: boolean): Recap {
  const logPath = (step: string, attempt: number) =>
    (kept ? run?.journal.logPaths(step, attempt).stdoutPath : null) ?? null;
  const summary = summarize(state, logPath);
  const failed = [...summary.steps, ...summary.handlers].filter(({ status }) => status === 'failed');
  const names = failed.map(({ name }) => name);
  const inner = names.flatMap((name) => {
    const child = children.get(name);
    return child?.state ? [[name, recapOf(child, child.state, kept)] as const] : [];
  });
  const places = names.length > 0 ? locateSteps(loaded.sources, names) : new Map();
  return {
    summary,
    places,
    tails,
    origins: originsOf(state),
    kept,
    children: new Map(inner),
    ...(run?.isMasked ? { masked: true as const } : {}),
  };
}
