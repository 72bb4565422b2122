import type { StoredEvent } from '#core/run/run.ts';
import type { RunState } from '#core/run/run-state.ts';
import { type Failures, failedNodes, failedSteps, originsOf, type RunSummary } from '#core/summary/summary.ts';
import type { Workflow } from '#core/workflow.ts';
import type { ActiveRun } from '#engine/engine.ts';
import type { Source } from '#language/diagnostic.ts';
import { locateSteps } from '#language/locate.ts';
import type { ChildReporter, OutputChunk, Recap, Reporter } from '#render/reporters.ts';
import { type FailedRun, failuresAt, withFailures } from '#render/text.ts';
import { type StopSignal, stopSignals } from '../exit-codes.ts';

/** The workflow of a run, with secrets masked. */
export type PresentedWorkflow = { readonly workflow: Workflow; readonly sources: readonly Source[] };

/** An event of a run with the resulting state, and on request the last lines of the attempt that it ends. */
export type PresentedEvent = {
  readonly event: StoredEvent;
  readonly state: RunState;
  readonly tail: readonly string[] | null;
};

/** The result of a run for its recap. */
export type PresentedResult = Pick<Recap, 'summary' | 'kept' | 'masked' | 'childFailures'>;

/** The place of a child run: the presenter of its parent, and the step that runs it. */
type Parent = {
  readonly presenter: Presenter;
  readonly step: string;
  /** Returns the result of the child run for the recap of its parent. */
  readonly resultOf: (state: RunState) => PresentedResult;
};

/** Presents one run, from this machine or a daemon, with one reporter. Call it with the items of the run in their order. */
export class Presenter {
  readonly #reporter: Reporter;
  readonly #loaded: PresentedWorkflow;
  readonly #parent: Parent | null;
  readonly #path: readonly string[];
  readonly #tails = new Map<string, readonly string[]>();
  readonly #children = new Map<string, Presenter>();
  /** Null for a child run of which only the step is shown. */
  #target: ChildReporter | null;
  #state: RunState | null = null;

  constructor(reporter: Reporter, loaded: PresentedWorkflow, parent: Parent | null = null) {
    this.#reporter = reporter;
    this.#loaded = loaded;
    this.#parent = parent;
    this.#path = parent === null ? [] : [...parent.presenter.#path, parent.step];
    this.#target = parent === null ? reporter : null;
    if (parent !== null) parent.presenter.#children.set(parent.step, this);
  }

  get isShown(): boolean {
    return this.#target !== null;
  }

  /** Whether the last lines of the attempt that an event ends are needed. */
  wantsTail(event: StoredEvent): event is Extract<StoredEvent, { type: 'step.finished' }> {
    if (event.type !== 'step.finished' || event.attempt === 0) return false;
    return event.status === 'failed' || this.#reporter.wantsTails === true;
  }

  event({ event, state, tail }: PresentedEvent): void {
    this.#state = state;
    if (event.type === 'run.created') this.#begin(event.runId);
    if (event.type === 'step.finished' && tail !== null) this.#tails.set(event.step, tail);
    this.#target?.event(event, state);
  }

  output(chunk: OutputChunk): void {
    this.#target?.output(chunk);
  }

  end(state: RunState, result: PresentedResult): void {
    const run = this.#failedRun(state, result.summary);
    const { wantsTails } = this.#reporter;
    this.#reporter.end({
      ...(wantsTails === true ? { childFailures: this.#childFailures(run, result.kept) } : {}),
      ...result,
      summary: withFailures(run, result.kept),
      positions: run.positions,
      tails: this.#tails,
    });
  }

  #begin(runId: string): void {
    const { workflow } = this.#loaded;
    if (this.#parent === null) this.#reporter.begin(workflow, runId);
    else this.#target = this.#reporter.child?.({ runId, workflow, path: this.#path }) ?? null;
  }

  #childFailures(run: FailedRun, kept: boolean): ReadonlyMap<string, Failures> {
    const nodes = failedSteps(run.summary).flatMap(failedNodes);
    const ran = nodes.filter(({ name }) => this.#children.has(name));
    return new Map(ran.map((node) => [node.name, failuresAt(node, run, [], kept)]));
  }

  /** Returns the run with what is known of the child runs of its failed steps. */
  #failedRun(state: RunState, summary: RunSummary): FailedRun {
    const names = failedSteps(summary).map(({ name }) => name);
    return {
      summary,
      positions: names.length > 0 ? locateSteps(this.#loaded.sources, names) : new Map(),
      tails: this.#tails,
      origins: originsOf(state),
      children: { get: (name) => this.#failedChild(name) },
    };
  }

  #failedChild(step: string): FailedRun | null {
    const child = this.#children.get(step);
    if (child === undefined || child.#state === null || child.#parent === null) return null;
    return child.#failedRun(child.#state, child.#parent.resultOf(child.#state).summary);
  }
}

/** Passes signals on to a run: the first stops it, and its handlers still run; the second kills at once. */
export function listenForSignals() {
  let first: StopSignal | null = null;
  let forced: AbortController | null = null;
  let active: Pick<ActiveRun, 'cancel'> | null = null;
  const controller = () => {
    forced ??= new AbortController();
    return forced;
  };
  const cancel = (signal: StopSignal, force: boolean) => {
    active?.cancel({ reason: 'stop', message: `stopped by ${signal}`, force });
  };
  const listeners = (Object.keys(stopSignals) as StopSignal[]).map((signal) => {
    const listener = () => {
      const force = first !== null;
      if (force) controller().abort();
      first ??= signal;
      cancel(signal, force);
    };
    process.on(signal, listener);
    return { signal, listener };
  });
  return {
    attach: (run: Pick<ActiveRun, 'cancel'>) => {
      active = run;
      if (first !== null) cancel(first, false);
    },
    signal: () => first,
    /** Aborted by the second signal: the user does not want to wait. Made when asked for: Node loads a module for the first one. */
    get forced() {
      return controller().signal;
    },
    close: () => {
      for (const { signal, listener } of listeners) process.off(signal, listener);
    },
  };
}
