import type { RunCreated } from '#core/run/run.ts';
import type { Clock } from '#system/clock.ts';

type LateStartParts = {
  readonly clock: Pick<Clock, 'now'>;
  readonly readCreated: (runId: string) => RunCreated | null;
  /** Whether the run waits for its turn: one that is being started records itself that it is late. */
  readonly isQueued: (runId: string) => boolean;
  /** Records that a run is late; false if it no longer waits, or is late already. */
  readonly record: (runId: string) => Promise<boolean>;
  readonly log: (line: string) => void;
  readonly report: (error: unknown) => void;
};

/** Finds waiting runs that are late, since no process runs them that would know it. Each is recorded once. */
export class LateStarts {
  readonly #parts: LateStartParts;
  /** The time at which each waiting run is late. */
  readonly #times = new Map<string, number>();

  constructor(parts: LateStartParts) {
    this.#parts = parts;
  }

  /** Call it at each check of a waiting run. */
  readonly check = (runId: string): void => {
    const { clock, isQueued, record, log, report } = this.#parts;
    const time = this.#times.get(runId) ?? this.#timeOf(runId);
    this.#times.set(runId, time);
    if (clock.now() < time || !isQueued(runId)) return;
    this.#times.set(runId, Number.POSITIVE_INFINITY);
    record(runId).then((isNew) => {
      if (isNew) log(`run ${runId} is late: it has not started`);
    }, report);
  };

  /** Forgets a run that no longer waits. */
  readonly forget = (runId: string): void => {
    this.#times.delete(runId);
  };

  #timeOf(runId: string): number {
    const { startBy, lateBy } = this.#parts.readCreated(runId) ?? {};
    return Math.min(startBy ?? Number.POSITIVE_INFINITY, lateBy ?? Number.POSITIVE_INFINITY);
  }
}
