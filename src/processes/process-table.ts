import { closeSync, existsSync, openSync, readdirSync, readSync } from 'node:fs';
import type { ProcessMoment } from '#engine/engine.ts';
import { processPlace } from './process-place.ts';

/** A tick of start times in milliseconds: 100 per second on every Linux that Node supports. */
export const tickMs = 10;

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
const newline = 10;

/** Null if there is no such process, or no /proc of this namespace. */
export function readProcess(pid: number): ProcessEntry | null {
  return processPlace().hasOwnProc ? readEntry(String(pid)) : null;
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
  for (const name of processDirectories()) {
    const pid = Number(name);
    const entry = pid > above ? readProcess(pid) : null;
    if (entry !== null) entries.push(entry);
  }
  return entries;
}

/** Up to this count numbers are tried one by one; with more, listing /proc takes less time. */
const fewNumbers = 32;

/**
 * Whether no process or thread has any of the numbers that were assigned after `above`, and none was assigned meanwhile.
 * That is so at the end of most runs, and listing /proc takes a hundredth of a run.
 */
function areFree(above: number): boolean {
  const last = lastNumber();
  if (last === null || last < above || last > above + fewNumbers) return false;
  for (let pid = above + 1; pid <= last; pid += 1) if (existsSync(`/proc/${pid}`)) return false;
  return lastNumber() === last;
}

/** The number that was assigned last; null if the system does not report it. */
function lastNumber(): number | null {
  const [, last] = processPlace().hasOwnProc ? (/ (\d+)\n$/.exec(readText('/proc/loadavg')) ?? []) : [];
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
  if (!processPlace().hasOwnProc) return null;
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
const maxRetries = 50;
const sleeper = new Int32Array(new SharedArrayBuffer(4));

/**
 * The environment with which a process was started, as `NAME=value` entries, each preceded and followed by a NUL. Null
 * for processes of other users, ended ones and those without an environment. The bytes are valid until the next call.
 */
export function readEnvironment(pid: number): Buffer | null {
  for (let looks = 0, before: number | null = null; looks < maxRetries; looks += 1) {
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

function processDirectories(): readonly string[] {
  if (!processPlace().hasOwnProc) return [];
  try {
    return readdirSync('/proc').filter((name) => name >= '1' && name < ':');
  } catch {
    return [];
  }
}

/** A line of /proc arrives in one read; reading again would cost time for every step. */
const isWholeLine = (end: number): boolean => buffer[end - 1] === newline;

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

/**
 * The line from its third field. The second is the program's name in parentheses and may contain any character,
 * parentheses included.
 */
function afterName(line: string): string {
  return line.slice(line.lastIndexOf(')') + 2);
}
