import { uptime } from 'node:os';
import type { ProcessIdentity } from '../core/run/run.ts';
import { isOfThisPlace } from './process-place.ts';
import { findMarked, groupBy, type RunMark, toIdentities, withDescendants } from './process-selection.ts';
import { areGone, groupAnswers, sendSignal } from './process-signals.ts';
import { listProcesses, numberBefore, type ProcessEntry, type ProcessMoment } from './process-table.ts';

/**
 * A process that led the processes of a step. With `endedAt`, milliseconds since 1970 at which its end was known, what it
 * left behind is found even when nothing in the environment tells where it comes from.
 */
export type RecordedProcess = ProcessIdentity & { readonly endedAt?: number | undefined };

/** Where to look: the processes that led steps of the run, and which steps count. */
export type RunProcessesOptions = {
  readonly recorded: readonly RecordedProcess[];
  /** Only processes that name one of these steps; absent: of every step. */
  readonly steps?: ReadonlySet<string>;
  /** No process that names one of these steps. */
  readonly spared?: ReadonlySet<string>;
  /** A moment before the first process of the run was started: only those that came later are looked at. */
  readonly since?: ProcessMoment | null;
};

/** The signal to ask with and how long to wait before SIGKILL; `kill` cuts the wait short. */
export type EndProcessesOptions = {
  readonly signal: NodeJS.Signals;
  readonly graceMs: number;
  readonly kill?: AbortSignal;
};

/** Start times are counted in ticks of a clock: 100 a second on every Linux that Node runs on. */
const tickMs = 10;
/** Start times are rounded, and the time of boot is an estimate. */
const clockErrorMs = 1000;
/** What stays longer after SIGKILL waits for a device that does not answer. */
const killPatienceMs = 10_000;
const killRoundMs = 1000;

/**
 * The processes of a run that still live: those with its mark in their environment, the members of its steps'
 * sessions, and the descendants of both, so also what a run within the run has started. Never this process or one above
 * it. One look at /proc, about 30 microseconds for each process of the machine, or for each that is younger than the run;
 * without /proc (macOS): the steps' groups only. What has cleaned or overwritten its environment and has left its session and its parent too cannot be found.
 */
export function findRunProcesses(
  run: RunMark,
  { recorded, steps, spared, since }: RunProcessesOptions,
): ProcessIdentity[] {
  const above = since ? firstNumber(since, recorded) : 0;
  const entries = listProcesses(above);
  if (entries.length === 0 && above === 0) {
    return recorded.filter((identity) => isOfThisPlace(identity) && groupAnswers(identity.pid));
  }
  const marked = findMarked(entries, run);
  const sessions = ownSessions(entries, recorded, marked);
  const isOther = ({ pid }: ProcessEntry) => {
    const step = marked.get(pid);
    return step !== undefined && (spared?.has(step) === true || steps?.has(step) === false);
  };
  const roots = entries.filter((entry) => marked.has(entry.pid) || sessions.has(entry.session));
  const own = roots.filter((entry) => !isOther(entry));
  return toIdentities(withDescendants(entries, own).filter((entry) => !isOther(entry)));
}

/** A moment that the run's own processes contradict was told by a system that counts in another way. */
function firstNumber(since: ProcessMoment, recorded: readonly RecordedProcess[]): number {
  return recorded.every(({ pid }) => pid > since.lastPid) ? numberBefore(since) : 0;
}

/**
 * Asks processes to end, waits, then kills those that stay together with their descendants; resolves when they are gone.
 * A process that is not the one that was meant (its start time, boot or namespace differs) is never signalled.
 */
export async function endProcesses(
  processes: readonly ProcessIdentity[],
  { signal, graceMs, kill }: EndProcessesOptions,
): Promise<void> {
  for (const target of processes) sendSignal(target, signal);
  if (await areGone(processes, graceMs, kill)) return;
  let left = livingTree(processes);
  for (let waitedMs = 0; left.length > 0 && waitedMs < killPatienceMs; waitedMs += killRoundMs) {
    for (const target of left) sendSignal(target, 'SIGKILL');
    await areGone(left, killRoundMs);
    left = livingTree(left);
  }
}

/** Those that still live, with what descends from them. */
function livingTree(processes: readonly ProcessIdentity[]): readonly ProcessIdentity[] {
  const entries = listProcesses();
  if (entries.length === 0) return processes.filter((target) => isOfThisPlace(target) && groupAnswers(target.pid));
  const startTimes = new Map(processes.filter(isOfThisPlace).map(({ pid, startTime }) => [pid, startTime]));
  return toIdentities(
    withDescendants(
      entries,
      entries.filter(({ pid, startTime }) => startTimes.get(pid) === startTime),
    ),
  );
}

/**
 * The sessions that are certainly the run's. The kernel gives no number away while a session has it, so one member that
 * is known to belong to the run is proof: the leader as it was recorded, one with the run's id, or one that began while
 * the leader still had the number.
 */
function ownSessions(
  entries: readonly ProcessEntry[],
  recorded: readonly RecordedProcess[],
  marked: ReadonlyMap<number, string>,
): ReadonlySet<number> {
  const members = groupBy(entries, ({ session }) => session);
  const bootedAt = Date.now() - uptime() * 1000;
  const isOwn = ({ endedAt = 0, ...identity }: RecordedProcess) => {
    const { pid, startTime } = identity;
    const session = members.get(pid);
    if (session === undefined || !isOfThisPlace(identity)) return false;
    const leader = session.find((entry) => entry.pid === pid);
    if (leader !== undefined) return leader.startTime === startTime;
    const ended = endedAt + clockErrorMs - bootedAt;
    return session.some((entry) => marked.has(entry.pid) || entry.startTime * tickMs <= ended);
  };
  return new Set(recorded.filter(isOwn).map(({ pid }) => pid));
}
