import type { Owner, StoredEvent } from '#core/run/run.ts';
import { isFinished, isHeld, type Promised } from '#core/run/run-state.ts';
import { type History, type JudgeOwner, type PastRun, readPastRun, releaseFinished } from '#service/history.ts';
import type { RunArchive, StoredRunIds } from '#store/store.ts';
import type { Clock } from '#system/clock.ts';
import { reporting } from '#system/errors.ts';
import { createSlices } from '#system/turns.ts';
import { LONGEST_BIRTH_MS } from './run-list.ts';

type LifecycleListener = {
  /** A daemon has promised to start the run; called at every check. */
  readonly waits: (runId: string) => void;
  /** A process owns the run. `isOurs`: for a daemon. */
  readonly begun: (runId: string, isOurs: boolean) => void;
  /** An owned run waits only for approvals, or no longer does. */
  readonly held: (runId: string, isHeld: boolean) => void;
  /** The run has finished; called once, also for runs that finished between two daemons. */
  readonly over: (run: PastRun) => void;
  /** The process of the run died before the first step, and the run waits again. */
  readonly waitsAgain: (run: PastRun) => void;
  readonly gone: (runId: string) => void;
};

export type LifecycleParts = {
  readonly archive: RunArchive;
  readonly history: Pick<History, 'read'>;
  readonly judge: JudgeOwner;
  readonly clock: Clock;
  /** The runs whose finish is not reported yet, for the next daemon. */
  readonly memory: Pick<StoredRunIds, 'read' | 'writeInBackground'>;
  readonly listener: LifecycleListener;
  readonly report: (error: unknown) => void;
};

type Life =
  /** Its journal has no useful event yet. */
  | { readonly kind: 'new' }
  | { readonly kind: 'waiting'; readonly promise: Promised; readonly stamp: string }
  | { readonly kind: 'owned'; readonly owner: Owner }
  /** Its last event is being written or read. */
  | { readonly kind: 'ending' };

/**
 * The unfinished runs of all processes, from their directory to their last event, and the settling of runs whose process has
 * died. It does not search for runs: the index adds them, and calls `check`.
 */
export class RunLifecycle {
  readonly #parts: LifecycleParts;
  readonly #lives = new Map<string, Life>();
  /** The unfinished runs in `memory`, in lines; null: unknown. */
  #remembered: string | null = '';
  #remembering: Promise<void> | null = null;
  readonly #settling = new Set<Promise<void>>();
  readonly #judging = new Set<string>();
  readonly #held: HeldRuns;
  #isOpen = false;

  constructor(parts: LifecycleParts) {
    this.#parts = parts;
    this.#held = new HeldRuns(parts.archive, parts.listener.held);
  }

  /** Begins to settle runs and to notify the listener. */
  open(): void {
    this.#isOpen = true;
  }

  /** Resolves when the last run is settled; no other begins. */
  async close(): Promise<void> {
    const wasOpen = this.#isOpen;
    this.#isOpen = false;
    await Promise.all(this.#settling);
    await this.#remembering;
    if (wasOpen) this.#remember();
    await this.#remembering;
  }

  /** Returns the ids of all unfinished runs, in the order of `add`. */
  ids(): readonly string[] {
    return [...this.#lives.keys()];
  }

  /** Returns the number of runs that a process runs. */
  running(): number {
    return [...this.#lives.values()].filter(({ kind }) => kind === 'owned').length;
  }

  add(runId: string): void {
    if (!this.#lives.has(runId)) this.#lives.set(runId, { kind: 'new' });
  }

  keep(exists: (runId: string) => boolean): void {
    for (const runId of this.#lives.keys()) {
      if (exists(runId)) continue;
      this.#lives.delete(runId);
      this.#held.forget(runId);
      if (this.#isOpen) this.#parts.listener.gone(runId);
    }
  }

  /** Checks the processes of all runs, reads the runs that wait, and stores which runs are unfinished. */
  async check(): Promise<void> {
    const pause = createSlices();
    for (const [runId, life] of this.#lives) {
      if (!this.#isOpen) return;
      reporting(this.#parts.report, () => this.#checkOne(runId, life));
      await pause();
    }
    this.#remember();
  }

  /** Takes the events of a run that the index has read; `stamp` is older than they are. */
  learn(runId: string, events: readonly StoredEvent[], stamp: string): void {
    const kind = this.#lives.get(runId)?.kind ?? 'ending';
    if (!this.#isOpen || kind === 'ending') return;
    reporting(this.#parts.report, () => this.#learn(runId, events, stamp));
  }

  #checkOne(runId: string, life: Life): void {
    switch (life.kind) {
      case 'new':
        this.#read(runId);
        break;
      case 'waiting':
        if ((this.#parts.archive.stampOf(runId) ?? '') === life.stamp) this.#wait(runId, life.promise);
        else this.#read(runId);
        break;
      case 'owned':
        this.#attend(runId, life.owner);
        if (this.#lives.get(runId)?.kind === 'owned') this.#held.check(runId);
        break;
      case 'ending':
        break;
    }
  }

  /** Reads only the events of a run; its workflow can be large and is not needed. */
  #read(runId: string): void {
    const stamp = this.#parts.archive.stampOf(runId) ?? '';
    this.#learn(runId, this.#parts.archive.readEvents(runId).events, stamp);
  }

  #learn(runId: string, events: readonly StoredEvent[], stamp: string): void {
    const { archive, clock } = this.#parts;
    const owner = ownerIn(events);
    const promise = promiseIn(events);
    if (events.some(({ type }) => type === 'run.finished')) {
      this.#settle(runId);
    } else if (owner !== null) {
      this.#begin(runId, owner, promise?.lasting ?? false);
    } else if (promise !== null) {
      this.#lives.set(runId, { kind: 'waiting', promise, stamp });
      this.#wait(runId, promise);
    } else if (Math.abs(clock.now() - archive.timeOf(runId)) > LONGEST_BIRTH_MS) {
      this.#settle(runId);
    }
  }

  #begin(runId: string, owner: Owner, isOurs: boolean): void {
    const isNew = this.#lives.get(runId)?.kind !== 'owned';
    this.#lives.set(runId, { kind: 'owned', owner });
    if (isNew) this.#parts.listener.begun(runId, isOurs);
    this.#attend(runId, owner);
  }

  #wait(runId: string, promise: Promised): void {
    if (promise.lasting) this.#parts.listener.waits(runId);
    else if (this.#parts.judge({ runId, owner: null, promise }) === 'gone') this.#settle(runId);
  }

  #attend(runId: string, owner: Owner): void {
    const { judge, archive } = this.#parts;
    if (this.#judging.has(runId)) return;
    const verdict = judge({ runId, owner, promise: null });
    if (verdict === 'gone' || !archive.mayGoOn(runId)) this.#settle(runId);
    if (typeof verdict !== 'string') this.#await(runId, owner, verdict);
  }

  /** An owner elsewhere is asked at each check, without waiting for it. */
  #await(runId: string, owner: Owner, asked: ReturnType<JudgeOwner>): void {
    this.#judging.add(runId);
    this.#inBackground(async () => {
      try {
        const verdict = await asked;
        // No process copies this run of another engine: reading it begins to.
        if (verdict === 'unknown' && 'engine' in owner && this.#isOpen) await this.#parts.history.read(runId);
        if (verdict === 'gone' && this.#isOpen && this.#lives.get(runId)?.kind === 'owned') this.#settle(runId);
      } catch (error) {
        this.#parts.report(error);
      } finally {
        this.#judging.delete(runId);
      }
    });
  }

  /** Settles a lost run in the background, since its remaining processes may take seconds to end. */
  #settle(runId: string): void {
    this.#lives.set(runId, { kind: 'ending' });
    this.#held.forget(runId);
    this.#inBackground(async () => {
      try {
        await this.#end(runId);
      } catch (error) {
        this.#parts.report(error);
        this.#lives.set(runId, { kind: 'new' });
      }
    });
  }

  #inBackground(work: () => Promise<void>): void {
    const settling = work().finally(() => this.#settling.delete(settling));
    this.#settling.add(settling);
  }

  async #end(runId: string): Promise<void> {
    const { archive, history, listener } = this.#parts;
    const found = readPastRun(archive, runId);
    let run = found === null || isFinished(found.state) ? found : await history.read(runId);
    if (run !== null && !isFinished(run.state) && archive.mayGoOn(runId)) {
      // Another process has claimed the run, or has just created it.
      this.#lives.set(runId, { kind: 'new' });
      if (found?.state.owner != null && run.state.promise !== null) listener.waitsAgain(run);
      return;
    }
    // The run may have finished while its owner was checked.
    if (run !== null && !isFinished(run.state)) run = readPastRun(archive, runId);
    if (run !== null) await releaseFinished(run, this.#parts);
    this.#lives.delete(runId);
    if (run !== null && isFinished(run.state)) listener.over(run);
    else listener.gone(runId);
  }

  /** Returns at once: while many runs end, the disk may take a second, and the event loop must not wait for it. */
  #remember(): void {
    const ids = this.ids();
    const text = ids.join('\n');
    if (text === this.#remembered || this.#remembering !== null) return;
    this.#remembered = text;
    this.#remembering = this.#parts.memory
      .writeInBackground(ids)
      .catch((error: unknown) => {
        this.#remembered = null;
        this.#parts.report(error);
      })
      .finally(() => {
        this.#remembering = null;
      });
  }
}

/** Returns the process that owns the run; null while the run waits for one. */
export function ownerIn(events: readonly StoredEvent[]): Owner | null {
  const last = events.findLast(({ type }) => type === 'run.owned' || type === 'run.queued');
  return last?.type === 'run.owned' ? last.owner : null;
}

function promiseIn(events: readonly StoredEvent[]): Promised | null {
  for (const event of events) if (event.type === 'run.queued') return { by: event.by, lasting: event.lasting };
  return null;
}

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
class HeldRuns {
  readonly #archive: RunArchive;
  readonly #changed: (runId: string, isHeld: boolean) => void;
  readonly #seen = new Map<string, Seen>();

  constructor(archive: RunArchive, changed: (runId: string, isHeld: boolean) => void) {
    this.#archive = archive;
    this.#changed = changed;
  }

  check(runId: string): void {
    const known = this.#seen.get(runId);
    if (known?.mayHold === false) return;
    const stamp = this.#archive.stampOf(runId) ?? '';
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
    const run = readPastRun(this.#archive, runId);
    if (run === null || run.stored === null) {
      // Its steps are unknown; the next check reads it again.
      this.#seen.set(runId, { stamp, isRead: false, isHeld: wasHeld, mayHold: true });
      return;
    }
    const mayHold = run.state.graph.nodes.some(({ approval }) => approval !== undefined);
    const isNowHeld = isHeld(run.state);
    this.#seen.set(runId, { stamp, isRead: true, isHeld: isNowHeld, mayHold });
    if (isNowHeld !== wasHeld) this.#changed(runId, isNowHeld);
  }
}
