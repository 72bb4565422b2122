import type { ProcessIdentity } from '#core/run/run.ts';
import type { RunMark } from '#engine/engine.ts';
import type { EndSignal } from './end-signal.ts';
import { findMarked, toIdentities, withDescendants } from './process-selection.ts';
import { areGone, groupAnswers, sendSignal, signalGroup } from './process-signals.ts';
import { listProcesses, listProcessesOnce, type ProcessEntry } from './process-table.ts';

/** The end signals of a tree and the marks of its processes. */
export type AttemptTreeOptions = {
  /** When aborted, the leader's group gets `stopSignal`. */
  readonly signal: EndSignal;
  /** When aborted, every process gets SIGKILL. */
  readonly kill: EndSignal;
  readonly stopSignal: NodeJS.Signals;
  /** Environment variables that mark its processes; null if they carry none. */
  readonly marks: (RunMark & { readonly step: string }) | null;
};

type Member = { readonly identity: ProcessIdentity; readonly group: number };

/**
 * Longest wait after SIGKILL, in milliseconds; a process that lives longer belongs to another user or hangs in the
 * kernel.
 */
const killTimeoutMs = 5000;
const killRoundMs = 500;

/**
 * The processes of one attempt. The first one leads a session of its own. Two requests end the tree:
 *
 *   stop:  signal the leader's group -> the leader ends -> signal the rest outside its group -> all are gone
 *   kill:  kill everything that can be found, until nothing is found
 *
 * Without a request, processes left behind by the leader stay: they may serve later steps.
 */
export class AttemptTree {
  readonly #leader: ProcessIdentity;
  readonly #options: AttemptTreeOptions;
  /** Processes found before their parents ended, by number. */
  readonly #seen = new Map<number, ProcessIdentity>();
  readonly #releases: readonly (() => void)[];
  #patience: NodeJS.Timeout | undefined;
  #giveUp = () => {};

  /** Resolves if the leader survives SIGKILL. */
  readonly immortal: Promise<void>;

  constructor(leader: ProcessIdentity, options: AttemptTreeOptions) {
    this.#leader = leader;
    this.#options = options;
    this.immortal = new Promise((resolve) => {
      this.#giveUp = resolve;
    });
    this.#releases = [options.signal.onAbort(this.#stop), options.kill.onAbort(this.#kill)];
  }

  /** Await it once the leader has ended: resolves at once, or after a request when the whole tree has ended. */
  async settled(): Promise<void> {
    this.release();
    const { signal, kill } = this.#options;
    if (!signal.aborted && !kill.aborted) return;
    const asked = new Set<number>();
    let left = this.#members(listProcesses());
    for (let killedMs = 0; left.length > 0 && killedMs < killTimeoutMs; left = this.#members(listProcesses())) {
      const identities = left.map(({ identity }) => identity);
      if (kill.aborted) {
        for (const identity of identities) sendSignal(identity, 'SIGKILL');
        await areGone(identities, killRoundMs);
        killedMs += killRoundMs;
      } else {
        this.#askOutsiders(left, asked);
        await areGone(identities, Number.POSITIVE_INFINITY, kill.toAbortSignal());
      }
    }
  }

  /** Stops listening for the requests. */
  release(): void {
    for (const release of this.#releases) release();
    clearTimeout(this.#patience);
  }

  readonly #stop = (): void => {
    this.#members(listProcessesOnce());
    signalGroup(this.#leader.pid, this.#options.stopSignal);
    // A stopped process (Ctrl-Z, SIGSTOP) could not handle the signal otherwise.
    signalGroup(this.#leader.pid, 'SIGCONT');
  };

  readonly #kill = (): void => {
    const members = this.#members(listProcessesOnce());
    signalGroup(this.#leader.pid, 'SIGKILL');
    for (const { identity } of members) sendSignal(identity, 'SIGKILL');
    this.#patience = setTimeout(this.#giveUp, killTimeoutMs);
  };

  /**
   * Signals members outside the leader's group. The group got its signal as a whole; what its members start since helps
   * them to end.
   */
  #askOutsiders(members: readonly Member[], asked: Set<number>): void {
    for (const { identity, group } of members) {
      if (group === this.#leader.pid || asked.has(identity.pid)) continue;
      asked.add(identity.pid);
      sendSignal(identity, this.#options.stopSignal);
    }
  }

  /** Finds and remembers all living processes of the tree. Without /proc (macOS) the leader's group stands for all. */
  #members(entries: readonly ProcessEntry[]): readonly Member[] {
    const { pid } = this.#leader;
    if (entries.length === 0) return groupAnswers(pid) ? [{ identity: this.#leader, group: pid }] : [];
    const { marks } = this.#options;
    const marked = marks === null ? null : findMarked(entries, marks);
    const isNumberOurs = entries.every((entry) => entry.pid !== pid || entry.startTime === this.#leader.startTime);
    const roots = entries.filter(
      (entry) =>
        (isNumberOurs && entry.session === pid) ||
        (marks !== null && marked?.get(entry.pid) === marks.step) ||
        this.#seen.get(entry.pid)?.startTime === entry.startTime,
    );
    const living = withDescendants(entries, roots);
    const members = toIdentities(living).map((identity, i) => ({ identity, group: living[i]?.group ?? 0 }));
    for (const { identity } of members) this.#seen.set(identity.pid, identity);
    return members;
  }
}
