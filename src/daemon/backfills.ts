import { given } from '#core/data/collections.ts';
import type { Param } from '#core/run/run.ts';
import type { RunHead } from '#core/summary/summary.ts';
import type { Workflow } from '#core/workflow.ts';
import {
  type BackfillMoment,
  type BackfillView,
  BackfillWork,
  backfillId,
  backfillRange,
  backfillView,
  MAX_MOMENTS,
  momentsSince,
  planBackfill,
  requireMoments,
} from '#service/backfill.ts';
import type { BackfillRequest, ServedBackfills } from '#service/served.ts';
import type { RunActions } from '#service/service.ts';
import { acceptParams } from '#service/start-runs.ts';
import type { DurableText } from '#store/store.ts';
import type { Clock } from '#system/clock.ts';
import { failedAs, messageOf, tryOr, WfError } from '#system/errors.ts';
import { loadCronTimes } from './schedule/cron-times.ts';
import { startsBetween } from './schedule/next-start.ts';

type BackfillParts = {
  readonly clock: Clock;
  readonly start: RunActions['start'];
  readonly read: (runId: string) => Promise<RunHead | null>;
  /** The last moment before another whose run has succeeded; null: none is known. */
  readonly momentBefore: (file: string, before: number) => Promise<number | null>;
  readonly memory: DurableText;
  readonly log: (line: string) => void;
  readonly report: (error: unknown) => void;
};

/** What is stored of a backfill. Its progress is that of its runs. */
type StoredBackfill = Pick<
  BackfillView,
  'id' | 'workflow' | 'file' | 'timeZone' | 'every' | 'max' | 'rerun' | 'createdAt'
> & {
  readonly from: number;
  readonly to: number;
  /** Empty once it has ended. */
  readonly params: readonly Param[];
  readonly plan: readonly Pick<BackfillMoment, 'at' | 'n' | 'runId' | 'isDue'>[];
  readonly before: number | null;
  readonly isStopped: boolean;
  readonly finishedAt: string | null;
  readonly error: string | null;
};

type Active = { readonly work: BackfillWork; readonly stop: AbortController };

const FORMAT = 1;
/** The most backfills that are kept; the oldest ones that have ended are forgotten first. */
const MOST_KEPT = 50;
/** The most backfills that run at once. */
const MOST_ACTIVE = 20;
/** The pause before a start is repeated that was refused for a passing reason, such as a full queue. */
const AGAIN_MS = 5000;

/**
 * The backfills of a daemon. The plan is stored before the first run starts, and the ids of the runs are part of it, so that
 * the next daemon continues it and each moment runs once.
 */
export class Backfills implements ServedBackfills {
  readonly #parts: BackfillParts;
  readonly #stored: Map<string, StoredBackfill>;
  readonly #active = new Map<string, Active>();
  /** Called when a run has finished, by its id. */
  readonly #awaited = new Map<string, () => void>();
  readonly #closing = new AbortController();

  constructor(parts: BackfillParts) {
    this.#parts = parts;
    this.#stored = new Map(readStored(parts.memory).map((backfill) => [backfill.id, backfill]));
  }

  /** Continues the backfills of earlier daemons. */
  async open(): Promise<void> {
    for (const backfill of this.#stored.values()) if (backfill.finishedAt === null) await this.#continue(backfill);
  }

  /** Starts no more runs; what is left remains for the next daemon. */
  close(): void {
    this.#closing.abort();
    for (const { stop } of this.#active.values()) stop.abort();
  }

  /** Notes that a run has finished. */
  over(runId: string): void {
    this.#awaited.get(runId)?.();
  }

  readonly plan = async (workflow: Workflow, request: BackfillRequest): Promise<BackfillView> => {
    const { stored, moments } = await this.#planned(workflow, request);
    return viewOf(stored, moments);
  };

  readonly begin = async (workflow: Workflow, request: BackfillRequest): Promise<BackfillView> => {
    const { stored, moments } = await this.#planned(workflow, request);
    const active = this.#active.get(stored.id);
    if (active !== undefined) {
      if (!active.stop.signal.aborted) return this.#viewOf(stored.id, active);
      throw new WfError('busy', `backfill ${stored.id} is stopping`, { help: 'retry when its runs have ended' });
    }
    if (this.#active.size >= MOST_ACTIVE)
      throw new WfError('busy', `${MOST_ACTIVE} backfills are running, the maximum`, { help: 'retry later' });
    this.#store({ ...stored, before: await this.#parts.momentBefore(stored.file, moments[0]?.at ?? stored.from) });
    this.#parts.log(`backfill ${stored.id} of "${stored.workflow}": ${moments.length} moments`);
    this.#run(stored.id, moments);
    return viewOf(stored, moments);
  };

  readonly find = async (id: string): Promise<BackfillView> => {
    const active = this.#active.get(id);
    if (active !== undefined) return this.#viewOf(id, active);
    const stored = this.#stored.get(id);
    if (stored === undefined) throw new WfError('not-found', `there is no backfill "${id}"`);
    return viewOf(stored, await momentsSince(stored.file, stored.plan, this.#parts.read));
  };

  readonly stop = async (id: string): Promise<BackfillView> => {
    const active = this.#active.get(id);
    const stored = this.#stored.get(id);
    if (active !== undefined && stored !== undefined && !active.stop.signal.aborted) {
      this.#store({ ...stored, isStopped: true });
      active.stop.abort();
      this.#parts.log(`backfill ${id} of "${stored.workflow}" is stopped`);
    }
    return this.find(id);
  };

  async #planned(workflow: Workflow, request: BackfillRequest) {
    const { max, rerun, every } = request;
    const { file, name } = workflow;
    if (file === null) throw new WfError('usage', 'a backfill needs a file');
    const range = backfillRange(request, workflow, (field) => `"${field}"`);
    const params = request.params;
    acceptParams(workflow, params);
    const found = startsBetween(range.schedule, await loadCronTimes(), { ...range, limit: MAX_MOMENTS + 1 });
    requireMoments(found, range);
    const moments = await planBackfill({ file, moments: found, rerun }, this.#parts.read);
    const stored: StoredBackfill = {
      ...{ id: backfillId(file, range, { every, params }), workflow: name, file, every, max, rerun, params },
      ...{
        from: range.from,
        to: range.to,
        timeZone: workflow.schedule.timeZone,
        before: null,
        isStopped: false,
        finishedAt: null,
        error: null,
      },
      createdAt: new Date(this.#parts.clock.now()).toISOString(),
      plan: moments.map(({ at, n, runId, isDue }) => ({ at, n, runId, isDue })),
    };
    return { stored, moments };
  }

  async #continue(backfill: StoredBackfill): Promise<void> {
    const moments = await momentsSince(backfill.file, backfill.plan, this.#parts.read);
    this.#run(backfill.id, moments);
  }

  /** Works in the background until all due runs have ended, the backfill is stopped, or the daemon exits. */
  #run(id: string, moments: readonly BackfillMoment[]): void {
    const stored = this.#stored.get(id) as StoredBackfill;
    const stop = new AbortController();
    if (stored.isStopped) stop.abort();
    const work = new BackfillWork(stored.file, moments, stored.before, {
      changed: () => {},
      start: (runId, moment) => this.#start(stored, runId, moment, stop.signal),
      ended: (runId) => this.#ended(runId),
    });
    this.#active.set(id, { work, stop });
    void this.#settle(id, work, stop.signal).catch(this.#parts.report);
  }

  async #settle(id: string, work: BackfillWork, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#parts;
    let error: string | null = null;
    try {
      await work.run((this.#stored.get(id) as StoredBackfill).max, signal);
    } catch (caught) {
      error = messageOf(caught);
    }
    if (this.#closing.signal.aborted) return;
    const stored = this.#stored.get(id) as StoredBackfill;
    const plan = work.moments.map(({ at, n, runId, isDue }) => ({ at, n, runId, isDue }));
    // A start that the stop has interrupted is no error.
    const problem = stored.isStopped ? null : error;
    const finishedAt = new Date(clock.now()).toISOString();
    this.#store({ ...stored, plan, params: [], finishedAt, error: problem });
    this.#active.delete(id);
    log(`backfill ${id} of "${stored.workflow}" has ended${problem === null ? '' : `: ${problem}`}`);
  }

  async #start(
    { id, file, params }: StoredBackfill,
    runId: string,
    moment: Parameters<ConstructorParameters<typeof BackfillWork>[3]['start']>[1],
    signal: AbortSignal,
  ): Promise<void> {
    const order = { workflow: { name: file }, params, runId, trigger: 'backfill', moment, backfill: id } as const;
    for (;;) {
      try {
        await this.#parts.start(order);
        return;
      } catch (error) {
        if (signal.aborted || !failedAs(error, 'busy', 'storage', 'unreachable')) throw error;
        await this.#pause(signal);
        if (signal.aborted) throw error;
      }
    }
  }

  #pause(signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts;
    return new Promise((resolve) => {
      const cancelTimer = clock.setTimer(clock.now() + AGAIN_MS, resolve);
      signal.addEventListener('abort', () => [cancelTimer(), resolve()], { once: true });
    });
  }

  /** Never resolves after the daemon has begun to exit: the next one watches the run. */
  async #ended(runId: string): Promise<RunHead> {
    const { read } = this.#parts;
    for (;;) {
      const over = new Promise<void>((resolve) => this.#awaited.set(runId, resolve));
      try {
        const run = await read(runId);
        if (run === null) throw new WfError('not-found', `run ${runId} was removed`);
        if (run.finishedAt !== null) return run;
        await over;
      } finally {
        this.#awaited.delete(runId);
      }
    }
  }

  #viewOf(id: string, { work }: Active): BackfillView {
    return viewOf(this.#stored.get(id) as StoredBackfill, work.moments);
  }

  #store(backfill: StoredBackfill): void {
    const others = [...this.#stored.values()].filter(({ id }) => id !== backfill.id);
    const ended = others.filter(({ finishedAt }) => finishedAt !== null);
    const forgotten = new Set(ended.slice(0, Math.max(0, others.length + 1 - MOST_KEPT)));
    const kept = [...others.filter((other) => !forgotten.has(other)), backfill];
    this.#parts.memory.write(`${JSON.stringify({ format: FORMAT, backfills: kept })}\n`);
    this.#stored.clear();
    for (const each of kept) this.#stored.set(each.id, each);
  }
}

function viewOf(stored: StoredBackfill, moments: readonly BackfillMoment[]): BackfillView {
  const { createdAt, finishedAt, isStopped, error } = stored;
  return {
    ...backfillView(stored, moments),
    ...given({ createdAt, error }),
    finishedAt,
    ...(isStopped ? { stopped: true as const } : {}),
  };
}

/** None for a file of another version, or without one. */
function readStored(memory: DurableText): readonly StoredBackfill[] {
  const text = memory.read();
  const found: unknown = text === null ? null : tryOr(null, () => JSON.parse(text));
  const { format, backfills } = Object(found) as { format?: unknown; backfills?: unknown };
  return format === FORMAT && Array.isArray(backfills) ? (backfills as StoredBackfill[]) : [];
}
