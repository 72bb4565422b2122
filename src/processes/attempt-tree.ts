import type { ProcessIdentity } from '../core/run/run.ts';
import type { EndSignal } from './end-signal.ts';
import { findMarked, type RunMark, toIdentities, withDescendants } from './process-selection.ts';
import { areGone, groupAnswers, sendSignal, signalGroup } from './process-signals.ts';
import { listProcesses, listProcessesOnce, type ProcessEntry } from './process-table.ts';

/** What asks for the end of a tree, and how its processes can be told besides by descent. */
export type AttemptTreeOptions = {
  /** Aborted: the leader's group gets `stopSignal`. */
  readonly signal: EndSignal;
  /** Aborted: everything gets SIGKILL. */
  readonly kill: EndSignal;
  readonly stopSignal: NodeJS.Signals;
  /** What its processes have in their environment; null where they have nothing of it. */
  readonly marks: (RunMark & { readonly step: string }) | null;
};

type Member = { readonly identity: ProcessIdentity; readonly group: number };

/** How long an end by SIGKILL may take; what takes longer belongs to another user or hangs in the kernel. */
const killPatienceMs = 5000;
const killRoundMs = 500;

/**
 * The processes of one attempt. The first leads a session of its own; the tree follows two requests until it is settled:
 *
 *   stop:  the leader's group is asked -> the leader ends -> what is left outside its group is asked -> all are gone
 *   kill:  everything that can be found is killed, again until nothing is found
 *
 * Without a request nothing is looked for: what the leader leaves behind may serve later steps.
 */
export class AttemptTree {
  readonly #leader: ProcessIdentity;
  readonly #options: AttemptTreeOptions;
  /** Found before an end broke their line of descent, by number. */
  readonly #seen = new Map<number, ProcessIdentity>();
  readonly #releases: readonly (() => void)[];
  #patience: NodeJS.Timeout | undefined;
  #giveUp = () => {};

  /** Resolves when the leader lives on although it was killed. */
  readonly immortal: Promise<void>;

  constructor(leader: ProcessIdentity, options: AttemptTreeOptions) {
    this.#leader = leader;
    this.#options = options;
    this.immortal = new Promise((resolve) => {
      this.#giveUp = resolve;
    });
    this.#releases = [options.signal.onAbort(this.#stop), options.kill.onAbort(this.#kill)];
  }

  /** To be awaited once the leader has ended: resolves at once, or after a request when the whole tree has ended. */
  async settled(): Promise<void> {
    this.release();
    const { signal, kill } = this.#options;
    if (!signal.aborted && !kill.aborted) return;
    const asked = new Set<number>();
    let left = this.#members(listProcesses());
    for (let killedMs = 0; left.length > 0 && killedMs < killPatienceMs; left = this.#members(listProcesses())) {
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

  /** Stops following the requests. */
  release(): void {
    for (const release of this.#releases) release();
    clearTimeout(this.#patience);
  }

  readonly #stop = (): void => {
    this.#members(listProcessesOnce());
    signalGroup(this.#leader.pid, this.#options.stopSignal);
    // What was stopped (Ctrl-Z, SIGSTOP) could not take it otherwise.
    signalGroup(this.#leader.pid, 'SIGCONT');
  };

  readonly #kill = (): void => {
    const members = this.#members(listProcessesOnce());
    signalGroup(this.#leader.pid, 'SIGKILL');
    for (const { identity } of members) sendSignal(identity, 'SIGKILL');
    this.#patience = setTimeout(this.#giveUp, killPatienceMs);
  };

  /** The leader's group was asked as a whole, and what its members start meanwhile helps them to end. */
  #askOutsiders(members: readonly Member[], asked: Set<number>): void {
    for (const { identity, group } of members) {
      if (group === this.#leader.pid || asked.has(identity.pid)) continue;
      asked.add(identity.pid);
      sendSignal(identity, this.#options.stopSignal);
    }
  }

  /** Everything of the tree that lives; remembers it. Without /proc (macOS): the leader's group stands for all. */
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
