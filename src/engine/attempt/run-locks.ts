import { given } from '#core/data/collections.ts';
import { failed } from '#core/run/outcome.ts';
import type { BlockedBy, LockHolder, Outcome, RunInput } from '#core/run/run.ts';
import { expandText } from '#core/words/interpolate.ts';
import { PathProblem } from '#core/words/json-path.ts';
import { handlerKind, type Lock, lockNameProblem, type Step } from '#core/workflow.ts';
import type { Scope } from '#executors/executor.ts';
import { EndSignal } from '#processes/end-signal.ts';
import type { HeldLock, LockRequest, LockStore } from '#store/store.ts';
import type { Clock } from '#system/clock.ts';
import { unlessRefused, WfError } from '#system/errors.ts';
import type { OuterLock } from '../engine.ts';

/** The locks and queues of this home, or of an engine. */
export type LockOptions = {
  /** Opens them; loads their module. */
  readonly open: () => Promise<Pick<LockStore, 'acquire' | 'take'>>;
  /** The slots of a lock or a queue. */
  readonly sizeOf: (kind: BlockedBy, name: string) => number;
  /** How often a lock may be taken a minute; null: as often as it is free. */
  readonly perMinute: (name: string) => number | null;
};

/** A slot of a queue. A run that waits only for approvals gives it back, and takes it again even beyond the limit. */
export type QueueSlot = {
  readonly hold: (isHeld: boolean) => void;
  readonly leave: () => void;
};

/** Locks that an attempt or a run holds. `release` returns the names of those that were broken before. */
export type TakenLocks = { readonly locks: readonly OuterLock[]; readonly release: () => readonly string[] };

/** Who takes locks, and how long that may take: `limitMs` 0: as long as necessary. */
export type LockAsker = {
  readonly by: LockRequest['by'];
  readonly stop: EndSignal;
  readonly limitMs: number;
  readonly blocked: (why: BlockedBy, name: string, holder: LockHolder | null) => void;
};

/** An attempt that waits. */
type WaitingAttempt = { readonly step: { readonly name: string }; readonly number: number; readonly signal: EndSignal };

/** Why locks are not taken; null: the wait was stopped. */
type Refusal = { readonly refusal: Extract<Outcome, { status: 'failed' }> | null };

/** Takes the locks of a run and its attempts, and reports their waits as inputs of the run. */
export class RunLocks {
  readonly #locks: LockOptions;
  readonly #clock: Clock;
  #outer: readonly OuterLock[];
  readonly #post: (input: RunInput) => void;
  /** How often the present attempt at a step reported that it waits. */
  readonly #reports = new Map<string, { readonly attempt: number; count: number }>();
  readonly #ofSteps = new Map<string, readonly OuterLock[]>();

  /** `outer`: the locks of the runs above, and of their steps that run this one. */
  constructor(
    options: { readonly locks: LockOptions; readonly clock: Clock },
    outer: readonly OuterLock[],
    post: (input: RunInput) => void,
  ) {
    this.#locks = options.locks;
    this.#clock = options.clock;
    this.#outer = outer;
    this.#post = post;
  }

  /** Takes the locks of the run, within which its steps run. */
  async ofRun(locks: readonly Lock[], asker: LockAsker): Promise<TakenLocks | Refusal> {
    const taken = await this.#take(locks, asker);
    if ('locks' in taken) this.#outer = [...this.#outer, ...taken.locks];
    return taken;
  }

  /** The locks within which a sub-workflow of the step runs. */
  around(step: string): readonly OuterLock[] {
    return [...this.#outer, ...(this.#ofSteps.get(step) ?? [])];
  }

  /** Takes the locks of an attempt, whose names have been evaluated. */
  async ofAttempt(
    locks: readonly Lock[],
    { step, number, signal }: WaitingAttempt,
    asker: Pick<LockAsker, 'by' | 'limitMs'>,
  ): Promise<TakenLocks | Refusal> {
    const waits = this.#waitsOf(step.name, number);
    const taken = await this.#take(locks, { ...asker, stop: signal, blocked: waits.blocked });
    if ('refusal' in taken) return taken;
    waits.end();
    this.#ofSteps.set(step.name, taken.locks);
    return {
      ...taken,
      release: () => {
        this.#ofSteps.delete(step.name);
        return taken.release();
      },
    };
  }

  /**
   * Waits for a slot in the queue of a sub-workflow; null if the attempt was stopped meanwhile. Rejects with a `WfError`
   * `storage`.
   */
  async enterQueue(name: string, by: LockRequest['by'], attempt: WaitingAttempt): Promise<QueueSlot | null> {
    const store = await this.#locks.open();
    const request = this.#queue(name, by);
    const { step, number, signal } = attempt;
    const waits = this.#waitsOf(step.name, number);
    const blocked = (holder: LockHolder | null) => waits.blocked('queue', name, holder);
    const lock = await store.acquire(request, { stop: signal, blocked });
    if (lock !== null) waits.end();
    return lock && slotOf(store, request, lock);
  }

  /** Enters the queue of a run that no other run started. `waits`: it waits until there is a slot, or `stop` is aborted. */
  async enterOwnQueue(
    name: string,
    { by, stop, blocked }: Omit<LockAsker, 'limitMs'>,
    waits: boolean,
  ): Promise<QueueSlot | null> {
    const store = await this.#locks.open();
    const request = this.#queue(name, by);
    const wait = { stop, blocked: (holder: LockHolder | null) => blocked('queue', name, holder) };
    const lock = waits ? await store.acquire(request, wait) : store.take(request);
    return lock && slotOf(store, request, lock);
  }

  /** Takes locks one after another, in the order of their names, so that two askers never wait for each other. */
  async #take(locks: readonly Lock[], { by, stop, limitMs, blocked }: LockAsker): Promise<TakenLocks | Refusal> {
    const end = new EndSignal();
    const forget = stop.onAbort(() => end.abort('stop'));
    const cancelTimer =
      limitMs === 0 ? () => {} : this.#clock.setTimer(this.#clock.now() + limitMs, () => end.abort('timeout'));
    const taken: { readonly lock: OuterLock; readonly held: HeldLock }[] = [];
    const release = () => taken.flatMap(({ lock, held }) => (unlessRefused(true, held.release) ? [] : [lock.name]));
    let holder: LockHolder | null = null;
    try {
      const store = await this.#locks.open();
      const sorted = [...locks].sort((one, other) => (one.name < other.name ? -1 : 1));
      for (const [index, lock] of sorted.entries()) {
        if (lock.name === sorted[index - 1]?.name)
          throw new WfError('usage', `the lock "${lock.name}" is taken twice: two of its texts have this value`);
        const held = await store.acquire(this.#request(lock, by), {
          stop: end,
          blocked: (by) => {
            holder = by;
            blocked('lock', lock.name, by);
          },
        });
        if (held === null) {
          release();
          return { refusal: end.reason === 'timeout' ? tooLate(lock.name, limitMs, holder) : null };
        }
        taken.push({ lock: { ...lock, id: held.id }, held });
      }
      return { locks: taken.map(({ lock }) => lock), release };
    } catch (error) {
      release();
      if (!(error instanceof WfError)) throw error;
      return { refusal: failed(error.message) as Extract<Outcome, { status: 'failed' }> };
    } finally {
      forget();
      cancelTimer();
    }
  }

  /** Throws a `WfError` `usage` for more than a lock has. */
  #request({ name, slots, mode }: Lock, by: LockRequest['by']): LockRequest {
    const size = this.#locks.sizeOf('lock', name);
    const perMinute = this.#locks.perMinute(name);
    const request = { kind: 'lock', name, size, mode, slots, by, ...given({ perMinute }) } as const;
    const outer = this.#outer.findLast((lock) => lock.name === name);
    if (outer === undefined) {
      if (slots <= size) return request;
      const has = `${size} ${size === 1 ? 'slot' : 'slots'}`;
      throw new WfError(
        'usage',
        `the lock "${name}" has ${has}, but "slots: ${slots}" is asked for: see the setting "pools"`,
      );
    }
    const within = { ...request, size: outer.mode === 'read' ? 1 : outer.slots, within: outer.id };
    if (outer.mode === 'read' ? mode === 'read' : slots <= outer.slots && (mode === 'write' || outer.slots === size))
      return within;
    throw new WfError('usage', `a run above holds the lock "${name}" with less: it would wait for itself`);
  }

  #queue(name: string, by: LockRequest['by']): LockRequest {
    return { kind: 'queue', name, size: this.#locks.sizeOf('queue', name), mode: 'write', slots: 1, by };
  }

  /** Reports the waits of an attempt. */
  #waitsOf(step: string, attempt: number): { readonly blocked: LockAsker['blocked']; readonly end: () => void } {
    const reports = this.#reports.get(step);
    const counted = reports?.attempt === attempt ? reports : { attempt, count: 0 };
    this.#reports.set(step, counted);
    const before = counted.count;
    const own = () => ({ at: this.#clock.now(), step, attempt });
    return {
      blocked: (why, name, holder) => {
        counted.count += 1;
        this.#post({ type: 'attempt-blocked', ...own(), why, name, holder, report: counted.count });
      },
      end: () => {
        if (counted.count > before) this.#post({ type: 'attempt-acquired', ...own(), report: counted.count });
      },
    };
  }
}

/** Locks with the values of the variables in their names. Throws a `WfError` `usage` for a text that cannot be a name. */
export function namedLocks(locks: readonly Lock[], scope: Scope, holdsSecret: (text: string) => boolean): Lock[] {
  return locks.map((lock) => {
    const name = nameOf(lock.name, scope);
    if (holdsSecret(name)) throw new WfError('usage', `the name of the lock "${lock.name}" contains a secret`);
    const problem = lockNameProblem(name);
    if (problem !== null) throw new WfError('usage', `${problem} (of "${lock.name}")`);
    return { ...lock, name };
  });
}

function nameOf(template: string, scope: Scope): string {
  try {
    return expandText(template, scope);
  } catch (error) {
    throw error instanceof PathProblem ? new WfError('usage', error.message) : error;
  }
}

/** Longest wait of a handler of a run that is being ended for its locks. */
const HANDLER_LOCK_MS = 10_000;

/** How long an attempt may wait for its locks; 0: as long as necessary. `isRunEnding`: the run is being ended. */
export function lockLimitMs(
  { name, lockTimeoutMs = 0 }: Pick<Step, 'name' | 'lockTimeoutMs'>,
  isRunEnding: boolean,
): number {
  if (!isRunEnding || handlerKind(name) === null) return lockTimeoutMs;
  return Math.min(lockTimeoutMs || HANDLER_LOCK_MS, HANDLER_LOCK_MS);
}

function tooLate(name: string, limitMs: number, holder: LockHolder | null): Extract<Outcome, { status: 'failed' }> {
  const step = holder?.step == null ? '' : `, step "${holder.step}"`;
  const held = holder === null ? '' : `, held by run ${holder.runId} of "${holder.workflow}"${step}`;
  const message = `waited ${limitMs / 1000}s for the lock "${name}"${held}`;
  return { status: 'failed', reason: 'lock', message, exitCode: null, signal: null, outputs: {} };
}

function slotOf(store: Pick<LockStore, 'take'>, request: LockRequest, first: HeldLock): QueueSlot {
  let lock: HeldLock | null = first;
  let isLeft = false;
  return {
    hold: (isHeld) => {
      if (isLeft || isHeld === (lock === null)) return;
      // If the disk refuses, the slot is not counted, but the run continues as it does for its journal.
      unlessRefused(null, () => lock?.release());
      lock = isHeld ? null : unlessRefused(null, () => store.take(request));
    },
    leave: () => {
      isLeft = true;
      unlessRefused(null, () => lock?.release());
      lock = null;
    },
  };
}
