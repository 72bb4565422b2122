import { closeSync, existsSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from 'node:fs';
import type { ProcessIdentity, ProcessOwner } from '#core/run/run.ts';
import type { ProcessMoment } from '#engine/engine.ts';
import { hostName } from '#fast/os.ts';
import { errorCode, tryOr } from '#system/errors.ts';

/** The context in which process numbers are valid. */
type ProcessScope = {
  readonly boot: string | null;
  /** The PID and time namespaces, which process numbers and start times refer to; null if unknown. */
  readonly namespace: string | null;
  /** A digest of the host's name and machine-id(5); null in a container, where many share the ids of their image. */
  readonly machine: string | null;
  /** Whether /proc shows this namespace. `unshare --pid` without `--mount-proc` leaves another's in place. */
  readonly hasOwnProc: boolean;
};

let known: ProcessScope | null = null;

/** The context of this process. Read once. */
export function processScope(): ProcessScope {
  known ??= readScope();
  return known;
}

/** Whether a process was recorded in the context of this process, so that its number is valid here. */
export function isInThisScope({ boot, namespace, machine }: ProcessIdentity & { machine?: string | null }): boolean {
  const here = processScope();
  if (boot !== here.boot || namespace !== here.namespace) return false;
  return boot !== null || machine === undefined || machine === here.machine;
}

/** Whether a process in /proc has its number in this PID namespace, as far as can be known. */
export function isInThisNamespace(pid: number): boolean {
  const theirs = tryOr(null, () => readlinkSync(`/proc/${pid}/ns/pid`));
  return theirs === null || theirs === tryOr(null, () => readlinkSync('/proc/self/ns/pid'));
}

function readScope(): ProcessScope {
  const boot = tryOr(null, () => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim());
  const pids = tryOr(null, () => readlinkSync('/proc/self/ns/pid'));
  const times = tryOr('', () => readlinkSync('/proc/self/ns/time'));
  const self = tryOr(null, () => readlinkSync('/proc/self'));
  return {
    boot,
    namespace: pids && `${digits(pids)}.${digits(times)}`,
    machine: boot === null || pids === FIRST_PID_NAMESPACE ? machineDigest() : null,
    hasOwnProc: self === null || self === String(process.pid),
  };
}

/** Inode of the initial PID namespace, which no container has (`PROC_PID_INIT_INO`). */
const FIRST_PID_NAMESPACE = 'pid:[4026531836]';

function digits(link: string): string {
  return link.replace(/\D/g, '');
}

/** FNV-1a in 32 bits: machine-id(5) forbids exposing the id itself, and loading `node:crypto` takes 2 ms. */
function machineDigest(): string {
  const text = `${hostName()}\n${tryOr('', () => readFileSync('/etc/machine-id', 'latin1').trim())}`;
  let digest = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) digest = Math.imul(digest ^ text.charCodeAt(index), 0x01000193);
  return (digest >>> 0).toString(16).padStart(8, '0');
}

/** A tick of start times in milliseconds: 100 per second on every Linux that Node supports. */
export const TICK_MS = 10;

/** A process according to /proc. Times are in clock ticks since boot. */
export type ProcessEntry = {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  readonly startTime: number;
  /** The process has ended but its parent has not collected it yet. */
  readonly isZombie: boolean;
  /** False for zombies and kernel threads, which have no environment either. */
  readonly hasMemory: boolean;
};

/** /proc/<pid>/environ rarely exceeds this; the buffer grows if needed. */
let buffer = Buffer.alloc(16 * 1024);
const NEWLINE = 10;

/** Null if there is no such process, or no /proc of this namespace. */
export function readProcess(pid: number): ProcessEntry | null {
  return processScope().hasOwnProc ? readEntry(String(pid)) : null;
}

/** This process, even if /proc shows another namespace: only `pid`, `parent`, `group` and `session` are wrong then. */
export function readSelf(): ProcessEntry | null {
  return readEntry('self');
}

function readEntry(name: string): ProcessEntry | null {
  const length = readInto(`/proc/${name}/stat`, 0, isWholeLine);
  return length === null ? null : parseStat(buffer.toString('latin1', 0, length));
}

/** All processes of the machine (or this container), or those with numbers above the given one. Empty without /proc. */
export function listProcesses(above = 0): readonly ProcessEntry[] {
  if (above > 0 && areFree(above)) return [];
  const entries: ProcessEntry[] = [];
  const names = processScope().hasOwnProc ? tryOr([], () => readdirSync('/proc')) : [];
  for (const name of names.filter((each) => each >= '1' && each < ':')) {
    const pid = Number(name);
    const entry = pid > above ? readProcess(pid) : null;
    if (entry !== null) entries.push(entry);
  }
  return entries;
}

/** Up to this count numbers are tried one by one; with more, listing /proc takes less time. */
const FEW_NUMBERS = 32;

/**
 * Whether no process or thread has any of the numbers that were assigned after `above`, and none was assigned meanwhile.
 * That is so at the end of most runs, and listing /proc takes a hundredth of a run.
 */
function areFree(above: number): boolean {
  const last = lastNumber();
  if (last === null || last < above || last > above + FEW_NUMBERS) return false;
  for (let pid = above + 1; pid <= last; pid += 1) if (existsSync(`/proc/${pid}`)) return false;
  return lastNumber() === last;
}

/** The number that was assigned last; null if the system does not report it. */
function lastNumber(): number | null {
  const [, last] = / (\d+)\n$/.exec(processScope().hasOwnProc ? readText('/proc/loadavg') : '') ?? [];
  return last === undefined ? null : Number(last);
}

let shared: readonly ProcessEntry[] | null = null;

/** Like `listProcesses`, but read once per turn of the event loop: a run may stop many steps at once. */
export function listProcessesOnce(): readonly ProcessEntry[] {
  if (shared === null) {
    shared = listProcesses();
    queueMicrotask(() => {
      shared = null;
    });
  }
  return shared;
}

/** Null if the system does not report it. */
export function processMoment(): ProcessMoment | null {
  if (!processScope().hasOwnProc) return null;
  const [, tasks, lastPid] = /\/(\d+) (\d+)\n$/.exec(readText('/proc/loadavg')) ?? [];
  const [, forks] = /^processes (\d+)$/m.exec(readText('/proc/stat')) ?? [];
  return lastPid && forks ? { lastPid: Number(lastPid), forks: Number(forks), tasks: Number(tasks) } : null;
}

/**
 * All processes started since the moment have numbers above this one; 0 if that is uncertain. To wrap around, the
 * system must pass every number up to its maximum, each of which is assigned or in use by a task, group or session.
 */
export function numberBefore(moment: ProcessMoment): number {
  const now = processMoment();
  const highest = Number(readText('/proc/sys/kernel/pid_max'));
  if (now === null || now.lastPid < moment.lastPid) return 0;
  const mostPassed = now.forks - moment.forks + 4 * Math.max(now.tasks, moment.tasks);
  return moment.lastPid + mostPassed < highest ? moment.lastPid : 0;
}

/** Returns an empty text for an unreadable file. */
function readText(path: string): string {
  const length = readInto(path, 0);
  return length === null ? '' : buffer.toString('latin1', 0, length);
}

/** Retries for a process that is between two programs, one millisecond apart. */
const MAX_RETRIES = 50;
const sleeper = new Int32Array(new SharedArrayBuffer(4));

/**
 * The environment with which a process was started, as `NAME=value` entries, each preceded and followed by a NUL. Null
 * for processes of other users, ended ones and those without an environment. The bytes are valid until the next call.
 */
export function readEnvironment(pid: number): Buffer | null {
  for (let looks = 0, before: number | null = null; looks < MAX_RETRIES; looks += 1) {
    const length = readInto(`/proc/${pid}/environ`, 1);
    if (length === null) return null;
    if (length > 1) {
      buffer[0] = 0;
      buffer[length] = 0;
      return buffer.subarray(0, length + 1);
    }
    // In the middle of `execve` the environment does not even have an address.
    const end = environmentEnd(pid);
    if (end === null || (end !== 0 && end === before)) return null;
    before = end;
    if (end === 0) Atomics.wait(sleeper, 0, 0, 1);
  }
  return null;
}

/** The end address of a process's environment; null if the process has ended. */
function environmentEnd(pid: number): number | null {
  const length = readInto(`/proc/${pid}/stat`, 0, isWholeLine);
  const field = length === null ? null : numbers(buffer.toString('latin1', 0, length));
  return field === null || !field(23) ? null : field(51);
}

/** A line of /proc arrives in one read; reading again would cost time for every step. */
const isWholeLine = (end: number): boolean => buffer[end - 1] === NEWLINE;

/** Reads a whole file into the buffer from `start`; returns the index after it and leaves room for one more byte. */
function readInto(path: string, start: number, isWhole = (_end: number) => false): number | null {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return null;
  }
  try {
    let end = start;
    for (let count = -1; count !== 0 && !isWhole(end); ) {
      if (end + 1 >= buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2);
      count = readSync(file, buffer, end, buffer.length - end - 1, null);
      end += count;
    }
    return end;
  } catch {
    return null;
  } finally {
    closeSync(file);
  }
}

/** Parses /proc/<pid>/stat; null for any other text. */
function parseStat(line: string): ProcessEntry | null {
  const field = numbers(line);
  if (Number.isNaN(field(23))) return null;
  return {
    pid: Number.parseInt(line, 10),
    parent: field(4),
    group: field(5),
    session: field(6),
    startTime: field(22),
    isZombie: /^[ZX]/.test(afterName(line)),
    hasMemory: field(23) > 0,
  };
}

/** Returns a numeric field by its number; NaN for missing and other fields. */
function numbers(line: string): (field: number) => number {
  const fields = afterName(line).split(' ');
  return (field) => Number(fields[field - 3] ?? Number.NaN);
}

/** The line from its third field: the second is the program's name in parentheses and may contain any character. */
function afterName(line: string): string {
  return line.slice(line.lastIndexOf(')') + 2);
}

/**
 * The identity of a process, distinguishing it from later ones with the same number; null if there is no such process.
 * A zombie keeps its number. Without /proc of this namespace (macOS) the number is all there is: `startTime` is null.
 */
export function identify(pid: number): ProcessIdentity | null {
  const entry = pid === process.pid ? readSelf() : readProcess(pid);
  if (entry !== null) return identityOf(pid, entry.startTime);
  const { hasOwnProc, boot } = processScope();
  return (!hasOwnProc || boot === null) && answers(pid) ? identityOf(pid, null) : null;
}

/** The identity of a process of this namespace that runs or has just ended; without its start time if that cannot be read. */
export function identityFor(pid: number): ProcessIdentity {
  return identify(pid) ?? identityOf(pid, null);
}

/** The identity of a process of this namespace whose start time is known. */
export function identityOf(pid: number, startTime: number | null): ProcessIdentity {
  const { boot, namespace } = processScope();
  return { pid, startTime, boot, namespace };
}

/** This process as the owner of runs. */
export function thisProcess(): ProcessOwner {
  return { ...identityFor(process.pid), host: hostName(), machine: processScope().machine };
}

/** Whether exactly this process is running, as seen from here. A zombie is not. */
export function isAlive(identity: ProcessIdentity): boolean {
  if (!isInThisScope(identity)) return false;
  const { pid, startTime } = identity;
  const entry = readProcess(pid);
  if (entry !== null) return entry.startTime === startTime && !entry.isZombie;
  if (!processScope().hasOwnProc) return pid === process.pid || (startTime === null && answers(pid));
  return startTime === null && processScope().boot === null && answers(pid);
}

/** Processes of other namespaces or machines known to be gone, by other means than their number. */
const foundGone = new Set<string>();

/** Whether /proc cannot show if the other is running: it belongs to another namespace, boot or machine. */
export function isElsewhere(identity: ProcessIdentity): boolean {
  if (foundGone.has(keyOf(identity))) return false;
  return !isInThisScope(identity) || (!processScope().hasOwnProc && identity.startTime !== null && !isAlive(identity));
}

/** Marks a process of another namespace or machine as gone. */
export function declareGone(identity: ProcessIdentity): void {
  // Without a start time a later process may have the same identity.
  if (identity.startTime !== null) foundGone.add(keyOf(identity));
}

/** False for a process that is certainly gone; true also for one that cannot be seen from here. */
export function mayBeAlive(identity: ProcessIdentity): boolean {
  return isElsewhere(identity) || isAlive(identity);
}

/**
 * Where to look for what a gone process left: a namespace ends with its first process, and everything with the boot.
 */
export function leftBy(identity: ProcessIdentity): 'here' | 'elsewhere' | 'none' {
  if (isInThisScope(identity)) return 'here';
  return identity.boot !== processScope().boot || identity.pid === 1 ? 'none' : 'elsewhere';
}

function keyOf({ pid, startTime, boot, namespace }: ProcessIdentity): string {
  return `${pid} ${startTime} ${boot} ${namespace}`;
}

/** Whether there is a process, or a member of a group for its negative number. */
export function answers(target: number): boolean {
  try {
    process.kill(target, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}
