import { fstatSync } from 'node:fs';
import { dirname } from 'node:path';
import { type FinishedStatus, runStatuses } from '#core/run/run.ts';
import { tryOr } from '#system/errors.ts';
import type { RunStatuses } from '../../store.ts';
import { type JournalStats, journalStats } from '../run-directory.ts';
import { appendToCache, decodeGroups, encodeGroups, readCache, replaceCache } from './cache.ts';

/**
 * A cache of the statuses of finished runs: `failed<tab>id=size.time~duration id=size.time`; the duration may be unknown. An
 * entry counts only while the journal has not changed since. A later line of a run replaces an earlier one.
 */
const STATUSES = '.statuses';

/** This many surplus lines or runs are cheaper to read than to remove. */
const SPARE = 1000;
const BATCH_SIZE = 1000;

/** Adds the status of a run that has just finished; `fd` is its open journal. If it fails, the next reader adds the status. */
export function addStatus(
  directory: string,
  runId: string,
  { status, durationMs, fd }: { status: FinishedStatus; durationMs: number | null; fd: number },
): void {
  tryOr(null, () => {
    const { size, mtimeMs } = fstatSync(fd);
    append(dirname(directory), [{ runId, status, size, mtimeMs, durationMs }]);
  });
}

/** The statuses of the runs with these ids, which must be all runs. */
export function openStatuses(runsDir: string, ids: readonly string[]): RunStatuses {
  const table = new StatusTable(ids);
  // Valid lines are ASCII, which is read fastest as Latin-1; any other byte makes the checksum wrong.
  const { lines, entries } = table.load(readCache(runsDir, STATUSES, 'latin1'));
  const isLarge = lines > 2 * SPARE || entries > 2 * ids.length + SPARE;
  let at = 0;
  let unknown: JournalStats | null = null;
  let found: StatusEntry[] = [];
  const save = () => {
    if (found.length > 0) tryOr(null, () => append(runsDir, found));
    found = [];
  };
  return {
    of: (runId) => {
      const stats = journalStats(`${runsDir}/${runId}`);
      // Asked for in their order, a run is found within a few steps.
      at = ids.indexOf(runId, at);
      if (at === -1) at = ids.indexOf(runId);
      const status = stats === null ? null : table.statusAt(at, stats);
      unknown = status === null ? stats : null;
      return status;
    },
    durationOf: (runId) => (unknown === null && ids[at] === runId ? table.durationAt(at) : null),
    keep: (runId, status, durationMs) => {
      if (unknown === null || ids[at] !== runId) return;
      const { size, mtimeMs } = unknown;
      const entry = { runId, status, size, mtimeMs, durationMs };
      unknown = null;
      table.set(at, entry);
      if (isLarge) return;
      found.push(entry);
      if (found.length >= BATCH_SIZE) save();
    },
    save: () => {
      // Lines that other processes add meanwhile are lost, and added again by the next reader.
      if (isLarge) tryOr(null, () => replaceCache(runsDir, STATUSES, encodeStatuses(table.entries())));
      else save();
    },
  };
}

function append(runsDir: string, entries: readonly StatusEntry[]): void {
  appendToCache(runsDir, STATUSES, encodeStatuses(entries));
}

/** Statuses by their position in a list, in columns: objects for many runs take longer than reading them. */
class StatusTable {
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

  /** Takes the entries of the listed runs, whose positions are looked up all at once, which is faster. */
  load(content: string): { readonly lines: number; readonly entries: number } {
    const positions = new Map<string, number>();
    for (const [at, runId] of this.#ids.entries()) positions.set(runId, at);
    let entries = 0;
    const lines = decodeStatuses(content, (entry) => {
      const at = positions.get(entry.runId);
      if (at !== undefined) this.set(at, entry);
      entries += 1;
    });
    return { lines, entries };
  }

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

/** The status of a finished run, and the attributes of the journal that it was read from. */
type StatusEntry = JournalStats & {
  readonly runId: string;
  readonly status: FinishedStatus;
  /** Null: unknown, or the run was never started. */
  readonly durationMs: number | null;
};

function encodeStatuses(entries: Iterable<StatusEntry>): string {
  return encodeGroups(
    Array.from(entries, ({ runId, status, size, mtimeMs, durationMs }) => {
      return [status, `${runId}=${size}.${mtimeMs}${durationMs === null ? '' : `~${durationMs}`}`] as const;
    }),
  );
}

function decodeStatuses(content: string, visit: (entry: StatusEntry) => void): number {
  return decodeGroups(content, (word, entries) => {
    const status = finishedStatuses.find((known) => known === word);
    // A status of another version of wf.
    if (status === undefined) return;
    for (const entry of entries) {
      const idEnd = entry.indexOf('=');
      const sizeEnd = entry.indexOf('.', idEnd);
      const size = Number(entry.slice(idEnd + 1, sizeEnd));
      const [time, duration] = entry.slice(sizeEnd + 1).split('~');
      const durationMs = duration === undefined ? null : Number(duration);
      visit({ runId: entry.slice(0, idEnd), status, size, mtimeMs: Number(time), durationMs });
    }
  });
}

const finishedStatuses = runStatuses.filter(
  (status): status is FinishedStatus => !['queued', 'running', 'canceling', 'handling'].includes(status),
);
