import type { Connection } from '@temporalio/client';
import { endsAttempt } from '#core/run/outcome.ts';
import type { StoredEvent } from '#core/run/run.ts';
import type { RunState } from '#core/run/run-state.ts';
import type { ParentStep, RunWatcher } from '../../engine.ts';
import type { EngineAccess } from '../connection.ts';
import type { EngineRun } from '../protocol.ts';
import { isAway } from './mirror.ts';
import { readStartedRun } from './start-run.ts';

/** The workflow of a child run exists soon after the event that names it. */
const LOOK_EVERY_MS = 200;

/** The run whose events are shown. `start`: starts the copy of a child run, and resolves when it has ended. */
type ShownRun = {
  readonly access: EngineAccess<Connection>;
  readonly watcher: RunWatcher;
  readonly start: (parent: ParentStep, run: EngineRun) => Promise<unknown> | null;
  /** Called with an internal error, or a wrong key. */
  readonly fail: (error: unknown) => void;
};

type Shown = { readonly event: StoredEvent; readonly state: RunState };

/**
 * Passes the events of a run on, and starts the copies of its child runs. Each has its own history, which may be read later:
 * what follows the end of its step waits for it, as it does in a run without an engine.
 */
export class ShownChildren {
  readonly #run: ShownRun;
  /** The copies in progress, by step. */
  readonly #copies = new Map<string, Promise<void>>();
  readonly #due: Shown[] = [];
  #showing: Promise<void> | null = null;
  #hasEnded = false;

  constructor(run: ShownRun) {
    this.#run = run;
  }

  /** Takes the next event. */
  watch(event: StoredEvent, state: RunState): void {
    this.#due.push({ event, state });
    if (this.#showing === null) this.#show();
  }

  /** Resolves when everything was passed on: the run has ended, or is left to its engine. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    while (this.#showing !== null) await this.#showing;
    await Promise.all(this.#copies.values());
  }

  #show(): void {
    for (let next = this.#due[0]; next !== undefined; next = this.#due[0]) {
      const { event, state } = next;
      const copy = endsAttempt(event) ? this.#copies.get(event.step) : undefined;
      if (copy !== undefined) {
        this.#showing = copy.then(() => {
          this.#showing = null;
          this.#show();
        });
        return;
      }
      this.#due.shift();
      this.#run.watcher(event, state);
      if (event.type !== 'step.started' || event.child === undefined) continue;
      const { step, attempt, child } = event;
      const parent = { runId: state.runId, step, attempt };
      this.#copies.set(
        step,
        this.#copy(parent, child)
          .catch(this.#run.fail)
          .finally(() => this.#copies.delete(step)),
      );
    }
  }

  async #copy(parent: ParentStep, runId: string): Promise<void> {
    for (;;) {
      // What has ended by now has been started before.
      const isLast = this.#hasEnded;
      const run = await readStartedRun(this.#run.access, runId).catch((error: unknown) => {
        if (isAway(error)) return null;
        throw error;
      });
      if (run !== null) return void (await this.#run.start(parent, run));
      if (isLast) return;
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
  }
}
