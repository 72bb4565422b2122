import { createHash } from 'node:crypto';
import { given } from '#core/data/collections.ts';
import type { Param, ScheduledMoment } from '#core/run/run.ts';
import { headOf } from '#core/summary/summarize.ts';
import type { RunHead } from '#core/summary/summary.ts';
import type { Schedule, Workflow } from '#core/workflow.ts';
import { parseCron } from '#language/formats.ts';
import { WfError } from '#system/errors.ts';
import { parseTime, TIME_FORMS, zonedText } from '#system/zoned-time.ts';
import { anyRun, type History } from './history/history.ts';
import { derivedRunId } from './runs/derived-run-id.ts';

/** Which moments run again although they have run: those that failed, or all; null: none. */
export type Rerun = 'failed' | 'all' | null;

/** A backfill as it is asked for. Times are texts as `parseTime` reads them. */
export type AskedBackfill = {
  readonly from: string | null;
  readonly to: string | null;
  /** Replaces the starts of the schedule; null: as the file says. */
  readonly every: string | null;
  /** Whether the range may be longer than `MAX_DAYS`. */
  readonly yes: boolean;
};

/** The moments `[from, to)` of a schedule, in milliseconds since 1970-01-01 UTC. */
export type BackfillRange = { readonly from: number; readonly to: number; readonly schedule: Schedule };

/** `left`: the run has not started, and starts when its turn comes. */
export type MomentState = 'done' | 'failed' | 'running' | 'left';

/** A moment of a backfill with its run. */
export type BackfillMoment = {
  readonly at: number;
  /** The number of the run among those of backfills for this moment, from 0. */
  readonly n: number;
  /** The run that counts, or that is to start. */
  readonly runId: string;
  /** Null: it does not exist yet. */
  readonly run: RunHead | null;
  readonly state: MomentState;
  /** Whether the backfill starts the run, or waits for its end. */
  readonly isDue: boolean;
};

/** A backfill as JSON. */
export type BackfillView = {
  readonly id: string;
  readonly workflow: string;
  readonly file: string;
  /** In ISO 8601, as `to`, which is not part of the range. */
  readonly from: string;
  readonly to: string;
  /** The time zone of the workflow; null: that of the machine. */
  readonly timeZone: string | null;
  readonly every: string | null;
  readonly max: number;
  readonly rerun: Rerun;
  /** Of a daemon. */
  readonly createdAt?: string;
  /** Of a daemon; null: it has not ended. */
  readonly finishedAt?: string | null;
  /** Nothing more starts; absent unless a user asked for it. */
  readonly stopped?: true;
  /** Why no more runs start; absent if nothing prevents it. */
  readonly error?: string;
  readonly counts: Readonly<Record<MomentState, number>>;
  readonly moments: readonly MomentView[];
};

/** A moment of a backfill as JSON. */
export type MomentView = {
  readonly scheduledFor: string;
  readonly state: MomentState;
  /** Null: no run of the moment exists. */
  readonly runId: string | null;
  readonly status: RunHead['status'] | null;
  readonly error: string | null;
  readonly durationMs: number | null;
};

/** The most moments of a backfill, and the longest range that needs no confirmation. */
export const MAX_MOMENTS = 10_000;
const MAX_DAYS = 366;
const DAY_MS = 86_400_000;
/** The most runs of a moment that are given up because the process that was to start them died. */
const MOST_LOST = 10;

/**
 * Reads the range of a backfill. `label`: how a message names a field. Throws a `WfError` `usage` for an unreadable time or
 * expression, an empty or too long range, and a workflow without starts.
 */
export function backfillRange(
  { from, to, every, yes }: AskedBackfill,
  { name, schedule }: Pick<Workflow, 'name' | 'schedule'>,
  label: (field: keyof AskedBackfill) => string,
): BackfillRange {
  const time = (field: 'from' | 'to', text: string | null) => {
    if (text === null) throw new WfError('usage', `a backfill needs ${label(field)}`, { help: TIME_FORMS });
    const at = parseTime(text, schedule.timeZone);
    if (at === null) throw new WfError('usage', `${label(field)}: "${text}" is not a time`, { help: TIME_FORMS });
    return at;
  };
  const range = { from: time('from', from), to: time('to', to) };
  if (range.from >= range.to) {
    throw new WfError('usage', `${label('from')} must be before ${label('to')}`, {
      help: `${label('to')} is not part of the range; one day is ${label('from')} 2026-11-26 ${label('to')} 2026-11-27`,
    });
  }
  if (range.to - range.from > MAX_DAYS * DAY_MS && !yes) {
    const days = Math.ceil((range.to - range.from) / DAY_MS);
    throw new WfError('usage', `the range is ${days} days long, more than ${MAX_DAYS}`, {
      help: `add ${label('yes')} if that is what you mean`,
    });
  }
  if (every !== null && parseCron(every) === null) {
    throw new WfError('usage', `${label('every')}: "${every}" is not a cron expression`, {
      help: 'write five fields, such as "0 2 * * *", or @daily',
    });
  }
  if (every === null && schedule.start.length === 0) {
    throw new WfError('usage', `workflow "${name}" has no schedule to take the moments from`, {
      help: `give one with ${label('every')} "0 2 * * *"`,
    });
  }
  return { ...range, schedule: every === null ? schedule : { ...schedule, start: [every] } };
}

/** Throws a `WfError` `usage` for no moment, or too many: `moments` has one more than the limit then. */
export function requireMoments(moments: readonly number[], { from, to, schedule }: BackfillRange): void {
  const range = `${zonedText(from, schedule.timeZone)} and ${zonedText(to, schedule.timeZone)}`;
  if (moments.length === 0) {
    throw new WfError('usage', `the schedule has no moment between ${range}`, {
      help: `it starts at: ${schedule.start.join(', ')}`,
    });
  }
  if (moments.length <= MAX_MOMENTS) return;
  throw new WfError('usage', `the schedule has more than ${MAX_MOMENTS} moments between ${range}`, {
    help: 'fill a shorter range first',
  });
}

/** Returns the id of a backfill: the same for the same command, so that it continues. */
export function backfillId(
  file: string,
  { from, to }: Pick<BackfillRange, 'from' | 'to'>,
  { every, params }: { readonly every: string | null; readonly params: readonly Param[] },
): string {
  const given = params.map(({ name, value }) => [name, value]);
  return createHash('sha256')
    .update(JSON.stringify([file, from, to, every, given]))
    .digest('hex')
    .slice(0, 12);
}

/** Returns the id of run `n` of a moment. It does not depend on the backfill: two with the same moment start one run. */
export function backfillRunId(file: string, at: number, n: number): string {
  return derivedRunId(`backfill\0${file}\0${at}`, n);
}

type ReadRun = (runId: string) => Promise<RunHead | null>;

/** Returns the reader of runs for a plan, which settles lost ones. Most moments have no run, which is fast to find out. */
export function runReader(archive: { readonly readCreated: (runId: string) => unknown }, history: History): ReadRun {
  return async (runId) => {
    if (archive.readCreated(runId) === null) return null;
    const run = await history.read(runId);
    return run === null ? null : headOf(history.summarize(run));
  };
}

/**
 * Finds the runs of moments, and decides which of them are due: those without a run, with an unfinished one, and those that
 * `rerun` names. A run of the schedule counts as well, with its retries by the daemon.
 */
export async function planBackfill(
  { file, moments, rerun }: { readonly file: string; readonly moments: readonly number[]; readonly rerun: Rerun },
  read: ReadRun,
): Promise<BackfillMoment[]> {
  const planned: BackfillMoment[] = [];
  for (const at of moments) planned.push(await planMoment(at, { file, rerun }, read));
  return planned;
}

async function planMoment(
  at: number,
  { file, rerun }: { readonly file: string; readonly rerun: Rerun },
  read: ReadRun,
): Promise<BackfillMoment> {
  let last: RunHead | null = null;
  let n = 0;
  for (let run = await read(backfillRunId(file, at, n)); run !== null; run = await read(backfillRunId(file, at, n))) {
    last = neverBegan(run) ? last : run;
    n += 1;
  }
  const run = last ?? (await scheduledRun(file, at, read));
  const next = { at, n, runId: backfillRunId(file, at, n), run: null, state: 'left', isDue: true } as const;
  if (run === null) return next;
  const state = stateOf(run);
  const isAgain = rerun === 'all' || (rerun === 'failed' && state === 'failed');
  if (state !== 'running' && isAgain) return next;
  return { at, n: n - 1, runId: run.runId, run, state, isDue: state === 'running' };
}

/** Returns the moments of an earlier plan with their present runs. Those that were due have their numbers from it. */
export async function momentsSince(
  file: string,
  plan: readonly Pick<BackfillMoment, 'at' | 'n' | 'runId' | 'isDue'>[],
  read: ReadRun,
): Promise<BackfillMoment[]> {
  const moments: BackfillMoment[] = [];
  for (const planned of plan) {
    let { n, runId } = planned;
    let run = await read(runId);
    while (planned.isDue && run !== null && neverBegan(run)) {
      n += 1;
      runId = backfillRunId(file, planned.at, n);
      run = await read(runId);
    }
    const state = run === null ? 'left' : stateOf(run);
    moments.push({
      at: planned.at,
      n,
      runId,
      run,
      state,
      isDue: planned.isDue && (run === null || state === 'running'),
    });
  }
  return moments;
}

async function scheduledRun(file: string, at: number, read: ReadRun): Promise<RunHead | null> {
  let run = await read(derivedRunId(file, at));
  for (let number = 1; run !== null && run.autoRetry !== undefined && stateOf(run) === 'failed'; number += 1) {
    const retry = await read(derivedRunId(run.runId, number));
    if (retry === null) return run;
    run = retry;
  }
  return run;
}

/** The process that was to start the run died before: nothing of it has run. */
function neverBegan({ reason, startedAt }: RunHead): boolean {
  return reason === 'lost' && startedAt === null;
}

/** The state of a moment by the status of its run. A run that its preconditions skipped is done. */
function stateOf({ status, finishedAt }: Pick<RunHead, 'status' | 'finishedAt'>): MomentState {
  if (finishedAt === null) return 'running';
  return status === 'failed' || status === 'canceled' ? 'failed' : 'done';
}

/** How the runs of a backfill are started and watched. */
export type BackfillTools = {
  /** Starts a run; one that exists stays as it is. */
  readonly start: (runId: string, moment: ScheduledMoment) => Promise<unknown>;
  /** Resolves when a run has finished. */
  readonly ended: (runId: string) => Promise<RunHead>;
  /** Called when a moment has changed, with its index. */
  readonly changed: (moment: BackfillMoment, index: number) => void;
};

/** Runs the due moments in their order, at most `max` at once. */
export class BackfillWork {
  readonly #file: string;
  readonly #moments: BackfillMoment[];
  readonly #before: number | null;
  readonly #tools: BackfillTools;

  /** `before`: the last moment before the first one whose run has succeeded; null: none is known. */
  constructor(file: string, moments: readonly BackfillMoment[], before: number | null, tools: BackfillTools) {
    this.#file = file;
    this.#moments = [...moments];
    this.#before = before;
    this.#tools = tools;
  }

  get moments(): readonly BackfillMoment[] {
    return this.#moments;
  }

  /**
   * Resolves when all due runs have finished, or, once the signal is aborted, those that have started. Throws the first
   * error of a start, after the end of the runs that have started; after it no further run starts.
   */
  async run(max: number, signal: AbortSignal): Promise<void> {
    const due = this.#moments.flatMap(({ isDue }, index) => (isDue ? [index] : [])).values();
    const problems: unknown[] = [];
    const work = async () => {
      for (const index of due) {
        if (signal.aborted || problems.length > 0) return;
        await this.#carryOut(index).catch((error: unknown) => problems.push(error));
      }
    };
    await Promise.all(Array.from({ length: max }, work));
    if (problems.length > 0) throw problems[0];
  }

  async #carryOut(index: number): Promise<void> {
    const { start, ended } = this.#tools;
    for (let lost = 0; ; lost += 1) {
      const { at, n, runId } = this.#moments[index] as BackfillMoment;
      await start(runId, { scheduledFor: at, ...given({ previousFor: this.#previous(at) }) });
      this.#set(index, { state: 'running' });
      const run = await ended(runId);
      if (!neverBegan(run) || lost === MOST_LOST) return this.#set(index, { run, state: stateOf(run), isDue: false });
      this.#set(index, { n: n + 1, runId: backfillRunId(this.#file, at, n + 1), run: null, state: 'left' });
    }
  }

  #set(index: number, change: Partial<BackfillMoment>): void {
    const moment = { ...(this.#moments[index] as BackfillMoment), ...change };
    this.#moments[index] = moment;
    this.#tools.changed(moment, index);
  }

  #previous(at: number): number | null {
    const done = this.#moments.findLast(({ at: other, run }) => other < at && run !== null && hasSucceeded(run));
    return done?.at ?? this.#before;
  }
}

function hasSucceeded({ status }: RunHead): boolean {
  return status === 'succeeded' || status === 'partially_succeeded';
}

/** The most runs that are searched for the moment before a backfill. */
const MOST_SEARCHED = 100;

/** Returns the last moment before another whose run has succeeded, among the last runs; null: none. */
export async function momentBefore(
  file: string,
  before: number,
  { list }: Pick<History, 'list'>,
): Promise<number | null> {
  const statuses = ['succeeded', 'partially_succeeded'] as const;
  let found: number | null = null;
  for await (const { state } of list({ ...anyRun, workflow: file, statuses, limit: MOST_SEARCHED })) {
    const at = state.scheduledFor;
    if (at !== undefined && at < before && at > (found ?? Number.NEGATIVE_INFINITY)) found = at;
  }
  return found;
}

function isoTime(at: number): string {
  return new Date(at).toISOString();
}

/** Returns a moment of a backfill as JSON. */
export function momentView({ at, runId, run, state }: BackfillMoment): MomentView {
  return {
    scheduledFor: isoTime(at),
    state,
    runId: run === null && state === 'left' ? null : runId,
    status: run?.status ?? null,
    error: run?.error ?? null,
    durationMs: run?.durationMs ?? null,
  };
}

/** Returns a backfill as JSON. */
export function backfillView(
  backfill: Pick<BackfillView, 'id' | 'workflow' | 'file' | 'timeZone' | 'every' | 'max' | 'rerun'> &
    Pick<BackfillRange, 'from' | 'to'>,
  moments: readonly BackfillMoment[],
): BackfillView {
  const counts = { done: 0, failed: 0, running: 0, left: 0 };
  for (const { state } of moments) counts[state] += 1;
  const { id, workflow, file, from, to, timeZone, every, max, rerun } = backfill;
  return {
    ...{ id, workflow, file, from: isoTime(from), to: isoTime(to), timeZone, every, max, rerun, counts },
    moments: moments.map(momentView),
  };
}
