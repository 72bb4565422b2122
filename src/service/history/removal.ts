import { given } from '#core/data/collections.ts';
import type { RunStatus } from '#core/run/run.ts';
import { isFinished } from '#core/run/run-state.ts';
import type { RunArchive, RunLabel, RunRemoval } from '#store/store.ts';
import { ifRefused, WfError } from '#system/errors.ts';
import { createSlices, someAtOnce } from '#system/turns.ts';
import type { History } from './history.ts';
import { isLost, type LostRunTools } from './lost-run.ts';
import { mayBeActive, type PastRun, readFinished, readPastRun, requireRun } from './past-run.ts';
import { namesWorkflow, type Reach } from './run-reference.ts';

export type RetentionRequest = {
  readonly rule: RetentionRule;
  /** A workflow, by its name or file; null: all of them. */
  readonly workflow: string | null;
  readonly dryRun: boolean;
  /** A run that is never removed. */
  readonly spare: string | null;
  /** Aborting keeps the runs that are not removed yet. */
  readonly signal: AbortSignal;
  /** Called before each of the runs that may go. */
  readonly progress?: (done: number, total: number) => void;
};

/** The maximum number of runs whose files are removed at once, which keeps the thread pool of Node busy. */
const MOST_AT_ONCE = 16;

/** A removed run; of a dry run, a run that would be removed. */
export type RemovedRun = {
  readonly runId: string;
  /** Null if nothing of the run could be read. */
  readonly status: RunStatus | null;
  readonly label: RunLabel | null;
  /** Its time of creation. */
  readonly time: number;
  /** The freed disk space. */
  readonly bytes: number;
  /** Only its artifacts were removed; absent: all of it. */
  readonly part?: 'artifacts';
};

export type RetentionReport = {
  readonly removed: readonly RemovedRun[];
  /** Includes the files of interrupted removals. */
  readonly freedBytes: number;
  /** The failed removals with their reasons, as sentences. */
  readonly problems: readonly string[];
};

type RetentionTools = Pick<LostRunTools, 'clock' | 'judge'> & {
  readonly archive: RunArchive & RunRemoval;
  readonly history: Pick<History, 'read'>;
  readonly reach: Reach;
};

/**
 * Removes surplus runs with their logs, and the artifacts of runs that keep them for a shorter time. It always keeps the last run of each workflow, every running or waiting run, and
 * the runs that one of these retries. The report lists what the disk refused.
 */
export async function applyRetention(request: RetentionRequest, tools: RetentionTools): Promise<RetentionReport> {
  const left = request.dryRun ? { bytes: 0, problems: [] } : await tools.archive.finishRemovals();
  const problems = [...left.problems];
  const surplus = [...groupsOf(request.workflow, tools)].flatMap((group) => {
    const { isTooMany, isTooOld } = retentionOf(group.ids, request.rule, tools.archive);
    const whole = candidatesOf(group, isTooMany, tools).map((candidate): Surplus => ({ candidate, isTooMany }));
    if (isTooOld === null) return whole;
    const removed = new Set(whole.map(({ candidate }) => candidate.runId));
    const parts = candidatesOf(group, isTooOld, tools).filter(
      ({ runId }) => !removed.has(runId) && tools.archive.sizeOf(runId, 'artifacts') > 0,
    );
    return [...whole, ...parts.map((candidate): Surplus => ({ candidate, isTooMany: isTooOld, part: 'artifacts' }))];
  });
  const removed = new Map<number, RemovedRun>();
  const pause = createSlices();
  await someAtOnce(MOST_AT_ONCE, surplus.entries(), async ([position, { candidate, isTooMany, part }]) => {
    request.progress?.(position, surplus.length);
    // Most of the work is synchronous: without a pause no signal would be handled.
    await pause();
    if (request.signal.aborted || candidate.runId === request.spare) return;
    try {
      const run = await removeIfOver(candidate, { dryRun: request.dryRun, isTooMany, ...given({ part }) }, tools);
      if (run !== null) removed.set(position, run);
    } catch (error) {
      if (!(error instanceof WfError)) throw error;
      problems.push(error.message);
    }
  });
  // The oldest runs of a workflow first, whichever removal ended first.
  const runs = [...removed].sort(([a], [b]) => a - b).map(([, run]) => run);
  return { removed: runs, freedBytes: runs.reduce((sum, { bytes }) => sum + bytes, left.bytes), problems };
}

/** The runs of one workflow, newest first. */
type Group = { readonly label: RunLabel | null; readonly ids: readonly string[] };

/** A run that may be surplus, judged by its time of creation. */
type Candidate = Pick<RemovedRun, 'runId' | 'label' | 'time'> & { readonly position: number };

/** A run, or a part of it, that may be removed. */
type Surplus = { readonly candidate: Candidate; readonly isTooMany: IsTooMany } & Pick<RemovedRun, 'part'>;

function groupsOf(workflow: string | null, { archive, reach }: RetentionTools): Iterable<Group> {
  const ids = archive.list();
  const labelOf = archive.labels(ids);
  const isMeant = workflow === null ? () => true : namesWorkflow(workflow, reach);
  const groups = new Map<string, Group & { readonly ids: string[] }>();
  for (const runId of ids) {
    const label = labelOf(runId);
    if (!isMeant(label)) continue;
    const key = label === null ? '' : (label.file ?? `${label.group}/${label.workflow}`);
    const group = groups.get(key) ?? { label, ids: [] };
    group.ids.push(runId);
    groups.set(key, group);
  }
  return groups.values();
}

/** Returns the oldest first, so that an interruption keeps the newest. */
function candidatesOf(
  { ids, label }: Group,
  isTooMany: IsTooMany,
  { archive, clock }: RetentionTools,
): readonly Candidate[] {
  const now = clock.now();
  const all = ids.map((runId, position): Candidate => ({ runId, label, position, time: archive.timeOf(runId) }));
  const candidates = all.filter(({ position, time }) => isTooMany(position, now - time));
  if (candidates.length === 0) return [];
  const goingOn = ids.filter((runId) => mayBeActive(runId, archive));
  const retried = new Set(goingOn.map((runId) => archive.readCreated(runId)?.retryOf));
  return candidates.filter(({ runId }) => !retried.has(runId)).reverse();
}

async function removeIfOver(
  { runId, label, position, time }: Candidate,
  { dryRun, isTooMany, part }: Omit<Surplus, 'candidate'> & { readonly dryRun: boolean },
  { archive, history, clock, judge }: RetentionTools,
): Promise<RemovedRun | null> {
  const stamp = archive.stampOf(runId);
  const run = readForRemoval(archive, runId);
  const isKnownOver = run !== null && isFinished(run.state);
  const wasLost = run !== null && !isKnownOver && (await isLost(run, { judge }));
  const isOver = (found: PastRun | null) => found === null || isFinished(found.state) || wasLost;
  // A run may have taken long: its age counts from its last known event.
  const lastAt = Math.max(time, run?.state.finishedAt ?? run?.stored?.events.at(-1)?.at ?? 0);
  if (!isOver(run) || !isTooMany(position, clock.now() - lastAt)) return null;
  const removed = { runId, status: run?.state.status ?? null, label, time, ...given({ part }) };
  if (dryRun) return { ...removed, bytes: archive.sizeOf(runId, part) };
  // Processes that a dead owner left running must be ended before their record is removed.
  if (wasLost) await history.read(runId);
  const mayGo = () => {
    if (isKnownOver && archive.stampOf(runId) === stamp) return true;
    const found = readForRemoval(archive, runId);
    return isOver(found) && found?.state.createdAt === run?.state.createdAt;
  };
  let bytes = await archive.remove(runId, mayGo, { isChecked: isKnownOver, ...given({ part }) });
  if (bytes === null && !wasLost) {
    // An owner in another namespace may have died after its last event and before it released the run. The removal meets
    // and reports an error of the disk again.
    await archive.judgeOwner(runId).catch(ifRefused(null));
    bytes = await archive.remove(runId, mayGo, given({ part }));
  }
  return bytes === null ? null : { ...removed, bytes };
}

/** The workflow of a finished run does not matter. */
function readForRemoval(archive: RunArchive, runId: string): PastRun | null {
  return readFinished(archive, runId) ?? readPastRun(archive, runId);
}

/** Selects the surplus runs of a workflow. */
export type RetentionRule =
  /**
   * By the file and the settings: runs older than `histRetentionDays` or beyond the newest `histRetentionRuns`, and those
   * beyond the newest `keepRuns` (null: unlimited).
   */
  | { readonly type: 'settings'; readonly keepRuns: number | null }
  /** By options: runs older than `olderThanMs` and beyond the newest `keep`. Null: no limit. */
  | { readonly type: 'asked'; readonly keep: number | null; readonly olderThanMs: number | null };

/** Whether a run is surplus, by its position among the runs of its workflow (the newest is 0) and its age. */
type IsTooMany = (position: number, ageMs: number) => boolean;

/** The default of `histRetentionDays`, for workflows of which no stored file is left. */
const USUAL_DAYS = 30;
const DAY_MS = 86_400_000;

/** The rules for the runs of one workflow, and for their artifacts; null: those stay with their run. */
type Retention = { readonly isTooMany: IsTooMany; readonly isTooOld: IsTooMany | null };

/** Returns the rules for the runs of one workflow, newest first. The last run is never surplus. */
function retentionOf(ids: readonly string[], rule: RetentionRule, archive: RunArchive): Retention {
  switch (rule.type) {
    case 'asked': {
      const { keep, olderThanMs } = rule;
      const isTooMany: IsTooMany = (position, ageMs) =>
        position > 0 && (keep === null || position >= keep) && (olderThanMs === null || ageMs > olderThanMs);
      return { isTooMany, isTooOld: null };
    }
    case 'settings': {
      const { days, runs, artifactDays } = retentionIn(ids, archive);
      // As in Dagu: no run is too old.
      const limitMs = days < 0 || runs !== null ? Number.POSITIVE_INFINITY : days * DAY_MS;
      const most = Math.min(rule.keepRuns ?? Number.POSITIVE_INFINITY, runs ?? Number.POSITIVE_INFINITY);
      return {
        isTooMany: (position, ageMs) => position > 0 && (ageMs > limitMs || position >= most),
        isTooOld: artifactDays === null ? null : (position, ageMs) => position > 0 && ageMs > artifactDays * DAY_MS,
      };
    }
  }
}

function retentionIn(
  ids: readonly string[],
  archive: RunArchive,
): { readonly days: number; readonly runs: number | null; readonly artifactDays: number | null } {
  for (const runId of ids) {
    const workflow = readPastRun(archive, runId)?.stored?.workflow;
    if (workflow === undefined) continue;
    const { histRetentionDays, histRetentionRuns = null, artifactRetentionDays = null } = workflow;
    return { days: histRetentionDays, runs: histRetentionRuns, artifactDays: artifactRetentionDays };
  }
  return { days: USUAL_DAYS, runs: null, artifactDays: null };
}

/**
 * Removes a finished run with its logs; returns the freed bytes of disk space. Throws a `WfError`: `not-found`,
 * `run-active`, `conflict` while another process holds the run, `storage`.
 */
export async function removePastRun(
  runId: string,
  { archive, history }: Pick<RetentionTools, 'archive' | 'history'>,
): Promise<number> {
  // A run whose process died is settled first: its remaining processes must not outlive its record.
  const run = requireRun(runId, await history.read(runId));
  const isOver = (found: PastRun | null) => found === null || isFinished(found.state) || !archive.mayGoOn(runId);
  if (!isOver(run)) throw new WfError('run-active', `run ${runId} is running`, { help: 'stop it first' });
  await archive.judgeOwner(runId);
  const bytes = await archive.remove(runId, () => {
    const found = readPastRun(archive, runId);
    return isOver(found) && found?.state.createdAt === run.state.createdAt;
  });
  if (bytes !== null) return bytes;
  throw new WfError('conflict', `run ${runId} is held by another process`, { help: 'retry in a moment' });
}
