import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { addTo } from '#core/data/collections.ts';
import type { ProcessIdentity } from '#core/run/run.ts';
import type { RunMark } from '#engine/engine.ts';
import { errorCode, tryOr } from '#system/errors.ts';
import { pause } from '#system/time-limit.ts';
import { type AttemptSignals, onEnd } from './end-signal.ts';
import {
  answers,
  identityOf,
  isAlive,
  isInThisNamespace,
  isInThisScope,
  listProcesses,
  listProcessesOnce,
  type ProcessEntry,
  readEnvironment,
} from './process-identity.ts';

/** Polling intervals while waiting for processes to end, in milliseconds. */
const FIRST_PAUSE_MS = 4;
const MAX_PAUSE_MS = 100;

/** Sends a signal if the process still has the same identity; to its group if the system cannot tell (macOS). */
export function sendSignal(target: ProcessIdentity, signal: NodeJS.Signals): void {
  if (!isInThisScope(target)) return;
  if (target.startTime === null) signalGroup(target.pid, signal);
  else if (isAlive(target)) trySignal(target.pid, signal);
}

/** Sends a signal to every member of a process group that may be signalled. */
export function signalGroup(group: number, signal: NodeJS.Signals): void {
  trySignal(-group, signal);
}

/**
 * Waits until all have ended, `limitMs` have passed or `cut` is aborted; true if all have ended. Its timer keeps this process
 * alive: nothing else may do so.
 */
export async function areGone(
  processes: readonly ProcessIdentity[],
  limitMs: number,
  cut?: AbortSignal,
): Promise<boolean> {
  let left = processes.filter(isPresent);
  let pauseMs = FIRST_PAUSE_MS;
  for (let waitedMs = 0; left.length > 0 && waitedMs < limitMs && cut?.aborted !== true; waitedMs += pauseMs) {
    pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS, limitMs - waitedMs);
    await pause(pauseMs, cut);
    left = left.filter(isPresent);
  }
  return left.length === 0;
}

function isPresent(target: ProcessIdentity): boolean {
  if (!isInThisScope(target)) return false;
  return target.startTime === null ? answers(-target.pid) : isAlive(target);
}

function trySignal(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal);
  } catch (error) {
    // The process has just ended or belongs to another user; nothing can be done in either case.
    const code = errorCode(error);
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}

/** The roots and their descendants; never this process, its ancestors, or zombies. */
export function withDescendants(
  entries: readonly ProcessEntry[],
  roots: Iterable<ProcessEntry>,
): readonly ProcessEntry[] {
  const children = groupBy(entries, ({ parent }) => parent);
  const spared = selfAndAncestors(entries);
  const found = new Set<ProcessEntry>();
  const add = (entry: ProcessEntry) => {
    if (!spared.has(entry.pid)) found.add(entry);
  };
  for (const root of roots) add(root);
  // A set is iterated in insertion order, including entries added on the way.
  for (const entry of found) for (const child of children.get(entry.pid) ?? []) add(child);
  return [...found].filter(({ isZombie }) => !isZombie);
}

/** Groups processes by a field: parent, session. */
export function groupBy(
  entries: readonly ProcessEntry[],
  key: (entry: ProcessEntry) => number,
): ReadonlyMap<number, readonly ProcessEntry[]> {
  const groups = new Map<number, ProcessEntry[]>();
  for (const entry of entries) addTo(groups, key(entry), entry);
  return groups;
}

/** The identities of processes. */
export function toIdentities(entries: readonly ProcessEntry[]): ProcessIdentity[] {
  return entries.map(({ pid, startTime }) => identityOf(pid, startTime));
}

/** Processes with the run's mark in their environment, and the step named there, by process number. */
export function findMarked(entries: readonly ProcessEntry[], { runId, logs }: RunMark): ReadonlyMap<number, string> {
  const mark = Buffer.from(`\0WF_RUN_ID=${runId}\0`);
  const marked = new Map<number, string>();
  for (const { pid, hasMemory } of entries) {
    const environment = hasMemory ? readEnvironment(pid) : null;
    if (!environment?.includes(mark)) continue;
    const log = variableOf(environment, 'WF_LOG_FILE');
    const step = variableOf(environment, 'WF_STEP');
    if ((log === '' || dirname(log) === logs) && isOfThisHome(pid, logs)) marked.set(pid, step);
  }
  return marked;
}

/**
 * Whether the logs directory named by a process is that of the run: a container may have another home at the same path
 * while its processes are visible from outside.
 */
function isOfThisHome(pid: number, logs: string): boolean {
  if (isInThisNamespace(pid)) return true;
  const ours = statSync(logs, { throwIfNoEntry: false });
  const theirs = tryOr(null, () => statSync(`/proc/${pid}/root${logs}`));
  return ours !== undefined && theirs !== null && ours.ino === theirs.ino && ours.dev === theirs.dev;
}

function variableOf(environment: Buffer, name: string): string {
  const start = environment.indexOf(`\0${name}=`);
  if (start < 0) return '';
  const from = start + name.length + 2;
  return environment.toString('utf8', from, environment.indexOf(0, from));
}

function selfAndAncestors(entries: readonly ProcessEntry[]): ReadonlySet<number> {
  const parents = new Map(entries.map(({ pid, parent }) => [pid, parent]));
  const line = new Set<number>();
  for (let pid: number | undefined = process.pid; pid !== undefined && !line.has(pid); pid = parents.get(pid)) {
    line.add(pid);
  }
  return line;
}

/** `signal` sends `stopSignal` to the leader's group, and `kill` sends SIGKILL to every process. */
type AttemptTreeOptions = AttemptSignals & {
  readonly stopSignal: NodeJS.Signals;
  /** Environment variables that mark its processes; null if they carry none. */
  readonly marks: (RunMark & { readonly step: string }) | null;
};

type Member = { readonly identity: ProcessIdentity; readonly group: number };

/**
 * Longest wait after SIGKILL, in milliseconds; a process that lives longer belongs to another user or hangs in the
 * kernel.
 */
const KILL_TIMEOUT_MS = 5000;
const KILL_ROUND_MS = 500;

/**
 * The processes of one attempt. The first one leads a session of its own. Two requests end the tree:
 *
 *   stop:  signal the leader's group -> the leader ends -> signal the rest outside its group -> all are gone
 *   kill:  kill everything that can be found, until nothing is found
 *
 * Without a request, processes left behind by the leader stay: they may serve later steps.
 */
export class AttemptTree {
  readonly #leader: ProcessIdentity;
  readonly #options: AttemptTreeOptions;
  /** Processes found before their parents ended, by number. */
  readonly #seen = new Map<number, ProcessIdentity>();
  readonly #unsubscribe: () => void;
  #patience: NodeJS.Timeout | undefined;
  #giveUp = () => {};

  /** Resolves if the leader survives SIGKILL. */
  readonly immortal: Promise<void>;

  constructor(leader: ProcessIdentity, options: AttemptTreeOptions) {
    this.#leader = leader;
    this.#options = options;
    this.immortal = new Promise((resolve) => {
      this.#giveUp = resolve;
    });
    this.#unsubscribe = onEnd(options, this.#stop, this.#kill);
  }

  /** Await it once the leader has ended: resolves at once, or after a request when the whole tree has ended. */
  async settled(): Promise<void> {
    this.release();
    const { signal, kill } = this.#options;
    if (!signal.aborted && !kill.aborted) return;
    const asked = new Set<number>();
    let left = this.#members(listProcesses());
    for (let killedMs = 0; left.length > 0 && killedMs < KILL_TIMEOUT_MS; left = this.#members(listProcesses())) {
      const identities = left.map(({ identity }) => identity);
      if (kill.aborted) {
        for (const identity of identities) sendSignal(identity, 'SIGKILL');
        await areGone(identities, KILL_ROUND_MS);
        killedMs += KILL_ROUND_MS;
      } else {
        this.#askOutsiders(left, asked);
        await areGone(identities, Number.POSITIVE_INFINITY, kill.toAbortSignal());
      }
    }
  }

  release(): void {
    this.#unsubscribe();
    clearTimeout(this.#patience);
  }

  readonly #stop = (): void => {
    this.#members(listProcessesOnce());
    signalGroup(this.#leader.pid, this.#options.stopSignal);
    // A stopped process (Ctrl-Z, SIGSTOP) could not handle the signal otherwise.
    signalGroup(this.#leader.pid, 'SIGCONT');
  };

  readonly #kill = (): void => {
    const members = this.#members(listProcessesOnce());
    signalGroup(this.#leader.pid, 'SIGKILL');
    for (const { identity } of members) sendSignal(identity, 'SIGKILL');
    this.#patience = setTimeout(this.#giveUp, KILL_TIMEOUT_MS);
  };

  /**
   * Signals members outside the leader's group. The group got its signal as a whole; what its members start since helps
   * them to end.
   */
  #askOutsiders(members: readonly Member[], asked: Set<number>): void {
    for (const { identity, group } of members) {
      if (group === this.#leader.pid || asked.has(identity.pid)) continue;
      asked.add(identity.pid);
      sendSignal(identity, this.#options.stopSignal);
    }
  }

  /** Finds and remembers all living processes of the tree. Without /proc (macOS) the leader's group stands for all. */
  #members(entries: readonly ProcessEntry[]): readonly Member[] {
    const { pid } = this.#leader;
    if (entries.length === 0) return answers(-pid) ? [{ identity: this.#leader, group: pid }] : [];
    const { marks } = this.#options;
    const marked = marks === null ? null : findMarked(entries, marks);
    const isNumberOurs = entries.every((entry) => entry.pid !== pid || entry.startTime === this.#leader.startTime);
    const roots = entries.filter(
      (entry) =>
        (isNumberOurs && entry.session === pid) ||
        (marks !== null && marked?.get(entry.pid) === marks.step) ||
        this.#seen.get(entry.pid)?.startTime === entry.startTime,
    );
    const living = withDescendants(entries, roots);
    const members = toIdentities(living).map((identity, i) => ({ identity, group: living[i]?.group ?? 0 }));
    for (const { identity } of members) this.#seen.set(identity.pid, identity);
    return members;
  }
}
