/** The limits that apply to a run. */
export type RunLine = {
  readonly queue: string | null;
  /** The file of its workflow, else its name. */
  readonly workflow: string;
  readonly maxConcurrent: number;
  /** Whether all other waiting runs start before it. */
  readonly isLow?: boolean;
};

const unlimited: RunLine = { queue: null, workflow: '', maxConcurrent: Number.POSITIVE_INFINITY };

/** The limits of the waiting and running runs. */
export class RunLines {
  readonly #lineOf: (runId: string) => RunLine;
  readonly #queues: ReadonlyMap<string, number>;
  readonly #lines = new Map<string, RunLine>();

  /** `queues`: the maximum number of concurrent runs of a queue, by its name; 1 for any other. */
  constructor(lineOf: (runId: string) => RunLine, queues: ReadonlyMap<string, number> = new Map()) {
    this.#lineOf = lineOf;
    this.#queues = queues;
  }

  /** Reads the limits of a run once. A run that cannot be read has none: its start will report the error. */
  add(runId: string): RunLine | null {
    const known = this.#lines.get(runId);
    if (known !== undefined) return known;
    try {
      const line = this.#lineOf(runId);
      this.#lines.set(runId, line);
      return line;
    } catch {
      return null;
    }
  }

  remove(runId: string): void {
    this.#lines.delete(runId);
  }

  limitOf(queue: string): number {
    return this.#queues.get(queue) ?? 1;
  }

  queueOf(runId: string): string | null {
    return this.#lines.get(runId)?.queue ?? null;
  }

  isLow(runId: string): boolean {
    return this.#lines.get(runId)?.isLow === true;
  }

  /** Gives a run the priority of all others. */
  raise(runId: string): void {
    const line = this.#lines.get(runId);
    if (line !== undefined) this.#lines.set(runId, { ...line, isLow: false });
  }

  /**
   * The free slots beside the running runs of each workflow (`running`) and of each queue (`queued`). Runs are counted only
   * for a run that has a limit; a run that is taken must be among them by then.
   */
  roomBeside(running: () => Iterable<string>, queued: () => Iterable<string>) {
    let counted: { readonly workflows: Map<string, number>; readonly queues: Map<string | null, number> } | null = null;
    const counts = () => {
      counted ??= {
        workflows: this.#count(running(), ({ workflow }) => workflow),
        queues: this.#count(queued(), ({ queue }) => queue),
      };
      return counted;
    };
    return {
      /** Whether the workflow and the queue of a run have a free slot. */
      fits: (runId: string): boolean => {
        const { workflow, queue, maxConcurrent } = this.#lines.get(runId) ?? unlimited;
        if (maxConcurrent !== unlimited.maxConcurrent && (counts().workflows.get(workflow) ?? 0) >= maxConcurrent)
          return false;
        return queue === null || (counts().queues.get(queue) ?? 0) < this.limitOf(queue);
      },
      take: (runId: string): void => {
        const line = this.#lines.get(runId);
        if (line === undefined || counted === null) return;
        countOne(counted.workflows, line.workflow);
        countOne(counted.queues, line.queue);
      },
    };
  }

  #count<Key>(runIds: Iterable<string>, keyOf: (line: RunLine) => Key): Map<Key, number> {
    const counts = new Map<Key, number>();
    for (const runId of runIds) {
      const line = this.#lines.get(runId);
      if (line !== undefined) countOne(counts, keyOf(line));
    }
    return counts;
  }
}

function countOne<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
