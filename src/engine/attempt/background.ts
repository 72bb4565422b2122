import type { ProcessIdentity } from '#core/run/run.ts';
import type { BackgroundProcesses, Leader, ProcessMoment, RunMark } from '../engine.ts';

/** Longest time that leftover processes may delay the end of a run after SIGTERM. */
const MAX_GRACE_MS = 5000;

/** Ending one process may reveal others; this limits the rounds of searching. */
const MAX_SEARCHES = 5;

/** Records the processes led by a run's attempts, so that their leftovers can be found and ended. */
export class Background {
  readonly #processes: BackgroundProcesses;
  readonly #mark: RunMark;
  readonly #leaders = new Map<string, Leader[]>();
  readonly #since: ProcessMoment | null;

  /** Create it before anything of the run starts. */
  constructor(processes: BackgroundProcesses, mark: RunMark) {
    this.#processes = processes;
    this.#mark = mark;
    this.#since = processes.moment();
  }

  /** Whether any process of the run may have left others behind. */
  get isUsed(): boolean {
    return this.#leaders.size > 0;
  }

  /** Records that an attempt at a step has started with this process. */
  add(step: string, process: ProcessIdentity): void {
    const leaders = this.#leaders.get(step);
    if (leaders) leaders.push(process);
    else this.#leaders.set(step, [process]);
  }

  /** Records that the attempt at a step has ended. */
  ended(step: string, endedAt: number): void {
    const leaders = this.#leaders.get(step);
    const last = leaders?.at(-1);
    if (leaders && last && last.endedAt === undefined) leaders.splice(-1, 1, { ...last, endedAt });
  }

  /** Ends the processes that steps left behind, except those of the steps in `spared`. */
  async end(spared: ReadonlySet<string>, graceMs: number): Promise<void> {
    const recorded = [...this.#leaders].flatMap(([step, leaders]) => (spared.has(step) ? [] : leaders));
    await this.#endFound({ recorded, spared }, graceMs);
    await this.#processes.sweep?.(this.#mark.runId, spared.size > 0);
  }

  async #endFound(
    which: { readonly recorded: readonly Leader[]; readonly spared: ReadonlySet<string> },
    graceMs: number,
  ): Promise<void> {
    const known = new Set<number>();
    // Repeated, since a process found here may start another before the signal reaches it.
    for (let searches = 0; searches < MAX_SEARCHES; searches += 1) {
      const found = this.#processes.find(this.#mark, { ...which, since: this.#since });
      const left = found.filter(({ pid }) => !known.has(pid));
      if (left.length === 0) return;
      for (const { pid } of left) known.add(pid);
      await this.#processes.end(left, { signal: 'SIGTERM', graceMs: Math.min(graceMs, MAX_GRACE_MS) });
    }
  }
}
