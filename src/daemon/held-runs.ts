import { isHeld } from '#core/run/run-state.ts';
import { readPastRun } from '#service/history/past-run.ts';
import type { RunArchive } from '#store/store.ts';
import type { RunStamps } from './run-list.ts';

/** The dependencies; `changed` receives each change of a run. */
export type HeldRunsParts = {
  readonly archive: RunArchive;
  readonly stamps: RunStamps;
  readonly changed: (runId: string, isHeld: boolean) => void;
};

type Seen = {
  readonly stamp: string;
  /** The run was read with this stamp. */
  readonly isRead: boolean;
  readonly isHeld: boolean;
  readonly mayHold: boolean;
};

/**
 * The running runs that wait only for approvals. Such a run writes no events, so a run is read only once its journal has
 * not changed between two checks, and again when it changes.
 */
export class HeldRuns {
  readonly #parts: HeldRunsParts;
  readonly #seen = new Map<string, Seen>();

  constructor(parts: HeldRunsParts) {
    this.#parts = parts;
  }

  /** Checks a run that a process owns. */
  check(runId: string): void {
    const known = this.#seen.get(runId);
    if (known?.mayHold === false) return;
    const stamp = this.#parts.stamps.ofRun(runId);
    if (known?.stamp === stamp) {
      if (!known.isRead) this.#read(runId, stamp);
    } else if (known?.isHeld) this.#read(runId, stamp);
    else this.#seen.set(runId, { stamp, isRead: false, isHeld: false, mayHold: true });
  }

  /** Forgets a run that no process owns any more. */
  forget(runId: string): void {
    this.#seen.delete(runId);
  }

  #read(runId: string, stamp: string): void {
    const wasHeld = this.#seen.get(runId)?.isHeld ?? false;
    const run = readPastRun(this.#parts.archive, runId);
    if (run === null || run.stored === null) {
      // Its steps are unknown; the next check reads it again.
      this.#seen.set(runId, { stamp, isRead: false, isHeld: wasHeld, mayHold: true });
      return;
    }
    const mayHold = run.state.graph.nodes.some(({ approval }) => approval !== undefined);
    const isNowHeld = isHeld(run.state);
    this.#seen.set(runId, { stamp, isRead: true, isHeld: isNowHeld, mayHold });
    if (isNowHeld !== wasHeld) this.#parts.changed(runId, isNowHeld);
  }
}
