import { autoRetryOf } from '#core/run/policies.ts';
import { isFinished, type RunState } from '#core/run/run-state.ts';
import type { Workflow } from '#core/workflow.ts';
import type { PastRun } from '#service/history.ts';
import type { RunActions } from '#service/service.ts';
import { derivedRunId } from '#service/start-runs.ts';
import type { RunArchive, StoredRunIds } from '#store/store.ts';
import type { Clock } from '#system/clock.ts';
import { failedAs, messageOf, reporting } from '#system/errors.ts';
import { createSlices } from '#system/turns.ts';
import type { RunIndex } from './run-index.ts';

/** The dependencies of retrying runs. */
export type AutoRetryParts = {
  readonly clock: Clock;
  readonly retry: RunActions['retry'];
  readonly read: (runId: string) => PastRun | null;
  readonly isRetried: (state: RunState) => Promise<boolean>;
  /** The ids of the runs that may be retried, for the next daemon. */
  readonly memory: Pick<StoredRunIds, 'read' | 'write'>;
  readonly log: (line: string) => void;
  readonly report: (error: unknown) => void;
};

/** The time before another attempt to start a retry that was refused for a passing reason, such as a full queue. */
const AGAIN_MS = 5000;

/**
 * The retries of failed runs that wait for their time. Only ids are stored: the due times follow from the journals of
 * the runs, and the id of a retry from the run, so that no retry starts twice. A run is stored before it is accepted,
 * so that the next daemon retries it even if it fails while none is running.
 */
export class AutoRetries {
  readonly #parts: AutoRetryParts;
  readonly #stored: Set<string>;
  readonly #timers = new Map<string, () => void>();
  #isOpen = false;

  constructor(parts: AutoRetryParts) {
    this.#parts = parts;
    this.#stored = new Set(parts.memory.read());
  }

  /** Begins to start retries, first those that earlier daemons left. */
  open(): void {
    this.#isOpen = true;
    for (const runId of this.#stored) this.#schedule(runId);
  }

  /** Starts no more retries; those that wait remain for the next daemon. */
  close(): void {
    this.#isOpen = false;
    for (const takeBack of this.#timers.values()) takeBack();
    this.#timers.clear();
  }

  /** Stores a run that is about to be accepted, if its workflow has a policy. A repeated request changes nothing. */
  expect(runId: string, { retry }: Pick<Workflow, 'retry'>): void {
    if (retry !== undefined && this.#parts.read(runId) === null) this.#keep(runId);
  }

  /** Plans the retry of a finished run, if one follows. Never throws. */
  consider({ runId, state }: PastRun): void {
    const retry = autoRetryOf(state);
    const isDue = retry !== null && retry.at !== null;
    // After an error only the next daemon would not find it, or check it in vain.
    reporting(this.#parts.report, () => (isDue ? this.#keep(runId) : this.#drop(runId)));
    if (!isDue) return;
    const number = `retry ${retry.n + 1} of ${retry.limit}`;
    this.#parts.log(`run ${runId} of "${state.workflow}" failed: ${number} at ${new Date(retry.at).toISOString()}`);
    if (this.#isOpen) this.#schedule(runId);
  }

  #schedule(runId: string, notBefore = 0): void {
    const { read, report, clock } = this.#parts;
    reporting(report, () => {
      const run = read(runId);
      // It is planned when the run has finished.
      if (run !== null && !isFinished(run.state)) return;
      const at = run === null ? null : (autoRetryOf(run.state)?.at ?? null);
      if (at === null) return this.#drop(runId);
      this.#timers.get(runId)?.();
      this.#timers.set(
        runId,
        clock.setTimer(Math.max(at, notBefore), () => void this.#start(runId).catch(report)),
      );
    });
  }

  async #start(runId: string): Promise<void> {
    this.#timers.delete(runId);
    const { read, retry, isRetried, clock, log } = this.#parts;
    const run = read(runId);
    const due = run === null ? null : autoRetryOf(run.state);
    // A person may have marked its steps, or removed it.
    if (run === null || due === null || due.at === null) return this.#drop(runId);
    const number = due.n + 1;
    try {
      if (await isRetried(run.state)) return this.#drop(runId);
      if (!this.#isOpen) return;
      await retry({
        runId,
        selection: { steps: 'unfinished' },
        params: null,
        // A workflow that contains secrets is not stored as it is.
        useFile: run.stored?.masked === true,
        newRunId: derivedRunId(runId, number),
        trigger: 'retry',
        retryNumber: number,
      });
      this.#drop(runId);
    } catch (error) {
      // The exit of the daemon may be the cause, for example if it ends the thread that reads the workflow.
      if (!this.#isOpen) return;
      if (failedAs(error, 'busy', 'storage', 'unreachable')) return this.#schedule(runId, clock.now() + AGAIN_MS);
      log(`run ${runId} of "${run.state.workflow}" is not retried: ${messageOf(error)}`);
      this.#drop(runId);
    }
  }

  #keep(runId: string): void {
    if (this.#stored.has(runId)) return;
    this.#parts.memory.write([...this.#stored, runId]);
    this.#stored.add(runId);
  }

  #drop(runId: string): void {
    if (this.#stored.delete(runId)) this.#parts.memory.write([...this.#stored]);
  }
}

/** Whether a retry of a run exists, however it was started. Only newer runs can be retries of it. */
export async function wasRetried(
  { file, runId }: Pick<RunState, 'file' | 'runId'>,
  runIndex: Pick<RunIndex, 'touch' | 'refresh' | 'runIdsOf'>,
  archive: Pick<RunArchive, 'list' | 'readCreated'>,
): Promise<boolean> {
  runIndex.touch();
  await runIndex.refresh();
  const pause = createSlices();
  for (const newer of file === null ? archive.list() : runIndex.runIdsOf(file)) {
    if (newer === runId) return false;
    if (archive.readCreated(newer)?.retryOf === runId) return true;
    await pause();
  }
  return false;
}
