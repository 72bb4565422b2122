import type { FinishedStatus } from '#core/run/run.ts';
import type { JournalStats } from '../journal/journal-stamp.ts';
import { decodeStatuses, type StatusEntry } from './status-lines.ts';

/**
 * The statuses of runs by their position in a list. Kept in columns: objects and texts for tens of thousands of runs take
 * longer to make and to collect than the file takes to read.
 */
export class StatusTable {
  readonly #ids: readonly string[];
  readonly #statuses: (FinishedStatus | null)[];
  readonly #sizes: Float64Array;
  readonly #times: Float64Array;
  /** NaN: unknown. */
  readonly #durations: Float64Array;

  constructor(ids: readonly string[]) {
    this.#ids = ids;
    this.#statuses = new Array(ids.length).fill(null);
    this.#sizes = new Float64Array(ids.length);
    this.#times = new Float64Array(ids.length);
    this.#durations = new Float64Array(ids.length);
  }

  /**
   * Takes the entries of the listed runs from the content of a file, and returns the numbers of its lines and entries.
   * Positions are looked up here, all at once: between system calls, a look-up takes three times as long.
   */
  load(content: string): { readonly lines: number; readonly entries: number } {
    const positions = new Map<string, number>();
    this.#ids.forEach((runId, at) => {
      positions.set(runId, at);
    });
    let entries = 0;
    const lines = decodeStatuses(content, (entry) => {
      const at = positions.get(entry.runId);
      if (at !== undefined) this.set(at, entry);
      entries += 1;
    });
    return { lines, entries };
  }

  /** Replaces an earlier entry. */
  set(at: number, { status, size, mtimeMs, durationMs }: Omit<StatusEntry, 'runId'>): void {
    this.#statuses[at] = status;
    this.#sizes[at] = size;
    this.#times[at] = mtimeMs;
    this.#durations[at] = durationMs ?? Number.NaN;
  }

  /** Null without an entry, and if the journal has changed since. */
  statusAt(at: number, { size, mtimeMs }: JournalStats): FinishedStatus | null {
    if (this.#sizes[at] !== size || this.#times[at] !== mtimeMs) return null;
    return this.#statuses[at] ?? null;
  }

  /** The duration of the run at a position with a status. */
  durationAt(at: number): number | null {
    const durationMs = this.#durations[at] ?? Number.NaN;
    return Number.isNaN(durationMs) ? null : durationMs;
  }

  *entries(): Iterable<StatusEntry> {
    for (const [at, runId] of this.#ids.entries()) {
      const [status = null, size = 0, mtimeMs = 0] = [this.#statuses[at], this.#sizes[at], this.#times[at]];
      if (status !== null) yield { runId, status, size, mtimeMs, durationMs: this.durationAt(at) };
    }
  }
}
