import type { ProcessIdentity } from '#core/run/run.ts';
import type { ProcessMoment, RunMark } from '#engine/engine.ts';
import { os } from '#fast/os.ts';
import { areGone, findMarked, groupBy, sendSignal, toIdentities, withDescendants } from './attempt-tree.ts';
import { answers, isInThisScope, listProcesses, numberBefore, type ProcessEntry, TICK_MS } from './process-identity.ts';

/** The leader of a step. With `endedAt`, when its end was noticed, its leftovers are found even without a mark. */
type RecordedProcess = ProcessIdentity & { readonly endedAt?: number | undefined };

/** Where to search. */
type RunProcessesOptions = {
  readonly recorded: readonly RecordedProcess[];
  /** Include only processes of these steps; all if absent. */
  readonly steps?: ReadonlySet<string>;
  readonly spared?: ReadonlySet<string>;
  /** A moment before the run's first process: only later processes are examined. */
  readonly since?: ProcessMoment | null;
};

/** Start times are rounded, and the time of boot is an estimate; error in milliseconds. */
const CLOCK_ERROR_MS = 1000;
/** A process that survives SIGKILL for longer waits for a device that does not respond, in milliseconds. */
const KILL_TIMEOUT_MS = 10_000;
const KILL_ROUND_MS = 1000;

/**
 * The living processes of a run: those with its mark in their environment, the members of its steps' sessions, and the
 * descendants of both, including those of child runs. Never this process or an ancestor. One scan of /proc, about 30
 * microseconds per process of the machine, or per process younger than the run; without /proc (macOS) only the steps'
 * groups. A process that has cleared its environment and left both its session and its parent cannot be found.
 */
export function findRunProcesses(
  run: RunMark,
  { recorded, steps, spared, since }: RunProcessesOptions,
): ProcessIdentity[] {
  // A moment that the run's own processes contradict is ignored: that system counts differently.
  const above = since && recorded.every(({ pid }) => pid > since.lastPid) ? numberBefore(since) : 0;
  const entries = listProcesses(above);
  if (entries.length === 0 && above === 0) {
    return recorded.filter((identity) => isInThisScope(identity) && answers(-identity.pid));
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

/**
 * Asks processes to end, waits unless `kill` cuts that short, then kills the rest with their descendants. A process
 * whose start time, boot or namespace differs is never signalled.
 */
export async function endProcesses(
  processes: readonly ProcessIdentity[],
  { signal, graceMs, kill }: { signal: NodeJS.Signals; graceMs: number; kill?: AbortSignal },
): Promise<void> {
  for (const target of processes) sendSignal(target, signal);
  if (await areGone(processes, graceMs, kill)) return;
  let left = livingTree(processes);
  for (let waitedMs = 0; left.length > 0 && waitedMs < KILL_TIMEOUT_MS; waitedMs += KILL_ROUND_MS) {
    for (const target of left) sendSignal(target, 'SIGKILL');
    await areGone(left, KILL_ROUND_MS);
    left = livingTree(left);
  }
}

/** Living processes with their descendants. */
function livingTree(processes: readonly ProcessIdentity[]): readonly ProcessIdentity[] {
  const entries = listProcesses();
  if (entries.length === 0) return processes.filter((target) => isInThisScope(target) && answers(-target.pid));
  const startTimes = new Map(processes.filter(isInThisScope).map(({ pid, startTime }) => [pid, startTime]));
  const roots = entries.filter(({ pid, startTime }) => startTimes.get(pid) === startTime);
  return toIdentities(withDescendants(entries, roots));
}

/**
 * Sessions that certainly belong to the run. The kernel does not reuse the number of an existing session, so one member
 * known to belong to the run is proof: the recorded leader, a process with the run's id, or one that started while the
 * leader still had the number.
 */
function ownSessions(
  entries: readonly ProcessEntry[],
  recorded: readonly RecordedProcess[],
  marked: ReadonlyMap<number, string>,
): ReadonlySet<number> {
  const members = groupBy(entries, ({ session }) => session);
  const isOwn = ({ endedAt = 0, ...identity }: RecordedProcess) => {
    const { pid, startTime } = identity;
    const session = members.get(pid);
    if (session === undefined || !isInThisScope(identity)) return false;
    const leader = session.find((entry) => entry.pid === pid);
    if (leader !== undefined) return leader.startTime === startTime;
    const ended = endedAt + CLOCK_ERROR_MS - (Date.now() - os().uptime() * 1000);
    return session.some((entry) => marked.has(entry.pid) || entry.startTime * TICK_MS <= ended);
  };
  return new Set(recorded.filter(isOwn).map(({ pid }) => pid));
}
