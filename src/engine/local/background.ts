import type { ProcessIdentity } from '../../core/run/run.ts';
import type { RunMark } from '../../processes/process-selection.ts';
import type { ProcessMoment } from '../../processes/process-table.ts';

/** A process that led an attempt; `endedAt` once it has ended, in milliseconds since 1970-01-01 UTC. */
export type Leader = ProcessIdentity & { readonly endedAt?: number };

/** How the processes that a run has left behind are found and ended. */
export type BackgroundProcesses = {
  /** The present moment, before which none of the processes was started that a run starts later. */
  readonly moment: () => ProcessMoment | null;
  /** Those of the run that still live. `spared`: names of steps whose processes are none of our business. */
  readonly find: (
    run: RunMark,
    options: {
      readonly recorded: readonly Leader[];
      readonly spared: ReadonlySet<string>;
      readonly since: ProcessMoment | null;
    },
  ) => readonly ProcessIdentity[];
  /** The signal, then SIGKILL after the grace; resolves when they are gone. */
  readonly end: (
    processes: readonly ProcessIdentity[],
    options: { readonly signal: NodeJS.Signals; readonly graceMs: number },
  ) => Promise<void>;
  /** After that: ends what cannot be found, where something holds all processes of a run. `spares`: some may live on. */
  readonly sweep?: (runId: string, spares: boolean) => Promise<void>;
};

/** The longest that leftovers may hold the end of a run after their SIGTERM. */
const longestGraceMs = 5000;

/** How often is looked for what comes to light only when others were ended. */
const mostLooks = 5;

/** The processes that a run's attempts have led, so that what they leave behind can be found and ended. */
export class Background {
  readonly #processes: BackgroundProcesses;
  readonly #markOf: (step: string) => RunMark;
  readonly #leaders = new Map<string, Leader[]>();
  readonly #since: ProcessMoment | null;

  /** To be made before anything of the run is started. `markOf`: the mark of the run, as one of its steps has it. */
  constructor(processes: BackgroundProcesses, markOf: (step: string) => RunMark) {
    this.#processes = processes;
    this.#markOf = markOf;
    this.#since = processes.moment();
  }

  /** Whether any process of the run may have left others. */
  get isUsed(): boolean {
    return this.#leaders.size > 0;
  }

  /** An attempt at a step has begun with this process. */
  add(step: string, process: ProcessIdentity): void {
    const leaders = this.#leaders.get(step);
    if (leaders) leaders.push(process);
    else this.#leaders.set(step, [process]);
  }

  /** The attempt at a step is over. */
  ended(step: string, endedAt: number): void {
    const leaders = this.#leaders.get(step);
    const last = leaders?.at(-1);
    if (leaders && last && last.endedAt === undefined) leaders.splice(-1, 1, { ...last, endedAt });
  }

  /** Ends what the steps left behind, but not what those of `spared` did. */
  async end(spared: ReadonlySet<string>, graceMs: number): Promise<void> {
    const recorded = [...this.#leaders].flatMap(([step, leaders]) => (spared.has(step) ? [] : leaders));
    const [first] = this.#leaders.keys();
    if (first === undefined) return;
    const mark = this.#markOf(first);
    await this.#endFound(mark, { recorded, spared }, graceMs);
    await this.#processes.sweep?.(mark.runId, spared.size > 0);
  }

  async #endFound(
    mark: RunMark,
    which: { readonly recorded: readonly Leader[]; readonly spared: ReadonlySet<string> },
    graceMs: number,
  ): Promise<void> {
    const known = new Set<number>();
    // More than once, since what is found may start something else before it gets the signal.
    for (let looks = 0; looks < mostLooks; looks += 1) {
      const found = this.#processes.find(mark, { ...which, since: this.#since });
      const left = found.filter(({ pid }) => !known.has(pid));
      if (left.length === 0) return;
      for (const { pid } of left) known.add(pid);
      await this.#processes.end(left, { signal: 'SIGTERM', graceMs: Math.min(graceMs, longestGraceMs) });
    }
  }
}
