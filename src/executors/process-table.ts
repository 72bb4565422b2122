import { closeSync, openSync, readdirSync, readSync } from 'node:fs';

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

/** Null when there is no such process, or no /proc. */
export function readProcess(pid: number): ProcessEntry | null {
  const length = readInto(`/proc/${pid}/stat`, 0, isWholeLine);
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

/**
 * The environment with which a process was started, as `NAME=value` entries, each with a NUL before and after it. Null for
 * processes of other users and those that have ended. The bytes are good until the next call.
 */
export function readEnvironment(pid: number): Buffer | null {
  const length = readInto(`/proc/${pid}/environ`, 1);
  if (length === null || length === 1) return null;
  buffer[0] = 0;
  buffer[length] = 0;
  return buffer.subarray(0, length + 1);
}

function processDirectories(): readonly string[] {
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

/** The second field is the program's name in parentheses and may hold any character, also spaces and parentheses. */
function parseStat(line: string): ProcessEntry | null {
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const field = (number: number) => Number(fields[number - 3]);
  if (fields.length < 22) return null;
  return {
    pid: Number.parseInt(line, 10),
    parent: field(4),
    group: field(5),
    session: field(6),
    startTime: field(22),
    isZombie: fields[0] === 'Z' || fields[0] === 'X',
    hasMemory: field(23) > 0,
  };
}
