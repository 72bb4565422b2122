import type { temporal } from '@temporalio/proto';
import { messageOf, WfError } from '#system/errors.ts';
import type { EngineAccess } from '../connection.ts';
import { timeOf } from '../history.ts';
import { RUN_TYPE } from '../protocol.ts';

/** A run of a namespace. `startedAt`: in milliseconds since 1970-01-01 UTC, by the clock of the server. */
export type ListedRun = { readonly runId: string; readonly startedAt: number; readonly isOpen: boolean };

/** Up to when the runs of a namespace are copied, for the next daemon. Both throw a `WfError` `storage`. */
export type CopyMark = { readonly read: () => number | null; readonly write: (startedAt: number) => void };

type NamespaceParts = {
  /** Lists the runs that were started at a time or later, oldest first; null: all. */
  readonly list: (since: number | null) => Promise<readonly ListedRun[]>;
  /** Begins to copy a run; has no effect on one that has a directory here. */
  readonly copy: (run: ListedRun) => Promise<void>;
  readonly mark: CopyMark;
  /** Receives why runs are not copied. */
  readonly report: (error: unknown) => void;
};

/** A run may be listed this long after its start. */
const LISTED_WITHIN_MS = 120_000;
/** The mark is written at most this often, in time of starts. */
const MARK_EVERY_MS = 60_000;

/**
 * Finds the runs of a namespace that have no copy here. What was started before the mark of the last daemon was copied
 * by it, and may have been removed since.
 */
export class NamespaceRuns {
  readonly #parts: NamespaceParts;
  /** The runs that are copied or refused, and when they were started. */
  readonly #known = new Map<string, number>();
  #since: number | null;
  #marked: number;
  /** The start of the oldest run that could not be copied, which another daemon may. */
  #oldestRefused = Number.POSITIVE_INFINITY;

  constructor(parts: NamespaceParts) {
    this.#parts = parts;
    this.#since = parts.mark.read();
    this.#marked = this.#since ?? 0;
  }

  /** Copies what is new, until the signal is aborted. Rejects if the engine is away or the disk refuses a write. */
  async look(signal: AbortSignal): Promise<void> {
    const refused = new Map<string, number>();
    let newest = 0;
    try {
      for (const run of await this.#parts.list(this.#since)) {
        newest = Math.max(newest, run.startedAt);
        if (signal.aborted) return;
        if (this.#known.has(run.runId)) continue;
        const problem = await this.#copy(run);
        if (problem !== null) refused.set(problem, (refused.get(problem) ?? 0) + 1);
        this.#known.set(run.runId, run.startedAt);
      }
    } finally {
      this.#reportRefused(refused);
    }
    this.#advance(newest - LISTED_WITHIN_MS);
  }

  /** Resolves to why the run cannot be copied, if that does not concern others. */
  async #copy(run: ListedRun): Promise<string | null> {
    try {
      await this.#parts.copy(run);
      return null;
    } catch (error) {
      if (error instanceof WfError && (error.code === 'unreachable' || error.code === 'storage')) throw error;
      this.#oldestRefused = Math.min(this.#oldestRefused, run.startedAt);
      return messageOf(error);
    }
  }

  #reportRefused(refused: ReadonlyMap<string, number>): void {
    for (const [problem, count] of refused) {
      const runs = count === 1 ? '1 run of the engine is' : `${count} runs of the engine are`;
      this.#parts.report(new WfError('conflict', `${runs} not copied: ${problem}`));
    }
  }

  #advance(since: number): void {
    if (since <= (this.#since ?? 0)) return;
    this.#since = since;
    for (const [runId, startedAt] of this.#known) if (startedAt < since) this.#known.delete(runId);
    const mark = Math.min(since, this.#oldestRefused);
    if (mark - this.#marked < MARK_EVERY_MS) return;
    this.#parts.mark.write(mark);
    this.#marked = mark;
  }
}

type Listing = Pick<temporal.api.workflowservice.v1.WorkflowService, 'listWorkflowExecutions'>;
type Connected = {
  readonly workflowService: Listing;
  readonly withDeadline: <T>(deadline: number, call: () => Promise<T>) => Promise<T>;
};

const PAGE_RUNS = 500;
const PAGE_MS = 10_000;
const RUNNING = 1;

/** Lists the runs of a namespace as `NamespaceParts.list`. Rejects with the errors of the connection. */
export async function listRuns(
  { connection, namespace }: Pick<EngineAccess<Connected>, 'connection' | 'namespace'>,
  since: number | null,
): Promise<readonly ListedRun[]> {
  const from = since === null ? '' : ` AND StartTime >= "${new Date(since).toISOString()}"`;
  const query = `WorkflowType = "${RUN_TYPE}"${from}`;
  const found = new Map<string, ListedRun>();
  let nextPageToken: Uint8Array = new Uint8Array();
  do {
    const page = await connection.withDeadline(Date.now() + PAGE_MS, () =>
      connection.workflowService.listWorkflowExecutions({ namespace, query, pageSize: PAGE_RUNS, nextPageToken }),
    );
    nextPageToken = page.nextPageToken;
    for (const { execution, startTime, status } of page.executions) {
      const runId = execution?.workflowId ?? '';
      // The newest comes first: an execution that continued is followed by those before it.
      if (found.has(runId)) continue;
      const startedAt = timeOf(startTime);
      found.set(runId, { runId, startedAt, isOpen: status === RUNNING });
    }
  } while (nextPageToken.length > 0);
  return [...found.values()].reverse();
}
