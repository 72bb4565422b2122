import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { processPlace } from './process-place.ts';

/** A process as /proc shows it. Times are in clock ticks since boot. */
export type ProcessEntry = {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  readonly startTime: number;
  /** It has ended and only waits to be noticed by its parent. */
  readonly isZombie: boolean;
  /** False for zombies and for threads of the kernel, which have no environment either. */
  readonly hasMemory: boolean;
};

/** What /proc/<pid>/environ says is rarely longer; the buffer grows where it is. */
let buffer = Buffer.alloc(16 * 1024);
const newline = 10;

/** Null when there is no such process, or no /proc of this namespace. */
export function readProcess(pid: number): ProcessEntry | null {
  return processPlace().hasOwnProc ? readEntry(String(pid)) : null;
}

/** This process, also where /proc counts in another namespace: only `pid`, `parent`, `group` and `session` are wrong there. */
export function readSelf(): ProcessEntry | null {
  return readEntry('self');
}

function readEntry(name: string): ProcessEntry | null {
  const length = readInto(`/proc/${name}/stat`, 0, isWholeLine);
  return length === null ? null : parseStat(buffer.toString('latin1', 0, length));
}

/**
 * Every process of the machine (or of this container), or those with a number above the given one. Empty on systems
 * without /proc.
 */
export function listProcesses(above = 0): readonly ProcessEntry[] {
  const entries: ProcessEntry[] = [];
  for (const name of processDirectories()) {
    const pid = Number(name);
    const entry = pid > above ? readProcess(pid) : null;
    if (entry !== null) entries.push(entry);
  }
  return entries;
}

let shared: readonly ProcessEntry[] | null = null;

/** As `listProcesses`, with one look for all who ask in the same turn: a run may stop many steps at once. */
export function listProcessesOnce(): readonly ProcessEntry[] {
  if (shared === null) {
    shared = listProcesses();
    queueMicrotask(() => {
      shared = null;
    });
  }
  return shared;
}

/** How far the system has come in giving out numbers of processes. */
export type ProcessMoment = {
  /** The number that was given last. Numbers rise, until they begin again at the lowest that are free. */
  readonly lastPid: number;
  /** How many processes and threads were ever started on the machine. */
  readonly forks: number;
  /** How many there are. */
  readonly tasks: number;
};

/** Null where the system does not tell. */
export function processMoment(): ProcessMoment | null {
  if (!processPlace().hasOwnProc) return null;
  const [, tasks, lastPid] = /\/(\d+) (\d+)\n$/.exec(readText('/proc/loadavg')) ?? [];
  const [, forks] = /^processes (\d+)$/m.exec(readText('/proc/stat')) ?? [];
  return lastPid && forks ? { lastPid: Number(lastPid), forks: Number(forks), tasks: Number(tasks) } : null;
}

/**
 * The number above which everything lies that was started since the moment; 0 where that is not certain. To begin again
 * at the lowest, the system has to pass all numbers up to its highest, of which each is given to somebody or in use, as
 * the number of a task, a group or a session.
 */
export function numberBefore(moment: ProcessMoment): number {
  const now = processMoment();
  const highest = Number(readText('/proc/sys/kernel/pid_max'));
  if (now === null || now.lastPid < moment.lastPid) return 0;
  const mostPassed = now.forks - moment.forks + 4 * Math.max(now.tasks, moment.tasks);
  return moment.lastPid + mostPassed < highest ? moment.lastPid : 0;
}

/** Empty for a file that cannot be read. */
function readText(path: string): string {
  const length = readInto(path, 0);
  return length === null ? '' : buffer.toString('latin1', 0, length);
}

/** How often a process is looked at again that is on its way from one program to the next, a millisecond apart. */
const mostLooks = 50;
const sleeper = new Int32Array(new SharedArrayBuffer(4));

/**
 * The environment with which a process was started, as `NAME=value` entries, each with a NUL before and after it. Null for
 * processes of other users, those that have ended and those that have none. The bytes are good until the next call.
 */
export function readEnvironment(pid: number): Buffer | null {
  for (let looks = 0, before: number | null = null; looks < mostLooks; looks += 1) {
    const length = readInto(`/proc/${pid}/environ`, 1);
    if (length === null) return null;
    if (length > 1) {
      buffer[0] = 0;
      buffer[length] = 0;
      return buffer.subarray(0, length + 1);
    }
    // In the middle of `execve` there is no environment, not even an empty one: it has no address.
    const end = environmentEnd(pid);
    if (end === null || (end !== 0 && end === before)) return null;
    before = end;
    if (end === 0) Atomics.wait(sleeper, 0, 0, 1);
  }
  return null;
}

/** The address at which the environment of a process ends; null for a process that has ended. */
function environmentEnd(pid: number): number | null {
  const length = readInto(`/proc/${pid}/stat`, 0, isWholeLine);
  const field = length === null ? null : numbers(buffer.toString('latin1', 0, length));
  return field === null || !field(23) ? null : field(51);
}

function processDirectories(): readonly string[] {
  if (!processPlace().hasOwnProc) return [];
  try {
    return readdirSync('/proc').filter((name) => name >= '1' && name < ':');
  } catch {
    return [];
  }
}

/** A line of /proc comes at once: asking for more would only cost time, once for every step. */
const isWholeLine = (end: number): boolean => buffer[end - 1] === newline;

/** Reads a whole file to the buffer from `start`; the index after it, with room for one more byte. */
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

/** A line of /proc/<pid>/stat; null for any other text. */
export function parseStat(line: string): ProcessEntry | null {
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

/** The fields of a line by their number, those of them that are numbers; others and missing ones are NaN. */
function numbers(line: string): (field: number) => number {
  const fields = afterName(line).split(' ');
  return (field) => Number(fields[field - 3] ?? Number.NaN);
}

/** From the third field on. The second is the program's name in parentheses and may hold any character, also those. */
function afterName(line: string): string {
  return line.slice(line.lastIndexOf(')') + 2);
}
