import { closeSync, constants, fstatSync, readFileSync, readSync, statSync, writeSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { openRegular } from '#system/files.ts';
import type { LogFile, LogTime } from '../../logs.ts';
import { errorCode, openPrivate, storageError } from '../disk/private-files.ts';

const chunkBytes = 64 * 1024;
/** A step may have replaced its log with a pipe or a device, which must not block. */
const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/** A log in a file, whether or not it exists. Other work can run while it is read. */
export function createLogFile(path: string): LogFile {
  return {
    path,
    size: async () => {
      const stats = await reading(path, () => statSync(path, { throwIfNoEntry: false }));
      return stats?.isFile() ? stats.size : 0;
    },
    read: (from, to = Number.POSITIVE_INFINITY) => readRange(path, from, to),
  };
}

/** The last bytes of a log, read at once; empty for a log that cannot be read. */
export function readEnd(path: string, bytes: number): Buffer {
  let fd: number | null = null;
  try {
    fd = openRegular(path);
    const { size } = fstatSync(fd);
    const buffer = Buffer.allocUnsafe(Math.min(size, bytes));
    return buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, size - buffer.length));
  } catch {
    return Buffer.alloc(0);
  } finally {
    if (fd !== null) closeSync(fd);
  }
}

async function* readRange(path: string, from: number, to: number): AsyncGenerator<Uint8Array, void> {
  const file = await reading(path, () => openIfThere(path));
  if (file === null) return;
  try {
    const stats = await reading(path, () => file.stat());
    // Bytes written while it is read are left to followers.
    const end = stats.isFile() ? Math.min(to, stats.size) : 0;
    const buffer = Buffer.allocUnsafeSlow(Math.max(0, Math.min(chunkBytes, end - from)));
    for (let offset = from; offset < end; ) {
      const length = Math.min(buffer.length, end - offset);
      const { bytesRead } = await reading(path, () => file.read(buffer, 0, length, offset));
      if (bytesRead === 0) return;
      offset += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

async function openIfThere(path: string): Promise<FileHandle | null> {
  // Loaded when the first log is opened: a run with little output opens none and starts its step earlier.
  const { open } = process.getBuiltinModule('node:fs/promises');
  try {
    return await open(path, flags);
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return null;
    throw error;
  }
}

/** Waits for `work`; converts the error of a system call to a `WfError` `storage`. */
async function reading<T>(path: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw errorCode(error) === null ? error : storageError('read', path, error);
  }
}

/** At most four notes a second, and no file for a step that is done sooner. */
const LOOK_MS = 250;
/** The interval of a log doubles each time it has this number of notes more: those of a program that prints for a month take 2 MB. */
const NOTES_PER_INTERVAL = 10_000;

type Watched = { readonly path: string; size: number; notes: number; dueAt: number };

/** Notes the times at which the logs of a run grow: in a file beside each, `00003-load.2.out.times`. */
export class LogTimes {
  readonly #watched = new Set<Watched>();
  #timer: NodeJS.Timeout | null = null;
  #now: () => number = Date.now;

  /** Watches logs until the returned function is called, which notes what was written last. */
  watch(paths: readonly string[], now: () => number): () => void {
    this.#now = now;
    const dueAt = now() + LOOK_MS;
    const own = paths.map((path): Watched => ({ path, size: 0, notes: 0, dueAt }));
    for (const log of own) this.#watched.add(log);
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref();
    return () => {
      for (const log of own) {
        if (now() >= dueAt) note(log, now());
        this.#watched.delete(log);
      }
    };
  }

  #look(): void {
    const at = this.#now();
    for (const log of this.#watched) if (at >= log.dueAt) note(log, at);
    if (this.#watched.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}

/** A disk that takes no more notes costs a log nothing but its times. */
function note(log: Watched, at: number): void {
  const size = statSync(log.path, { throwIfNoEntry: false })?.size ?? 0;
  if (size === log.size) return;
  log.size = size;
  log.notes += 1;
  log.dueAt = at + LOOK_MS * 2 ** Math.floor(log.notes / NOTES_PER_INTERVAL);
  try {
    append(`${log.path}.times`, `${size} ${at}\n`);
  } catch {
    log.dueAt = Number.POSITIVE_INFINITY;
  }
}

function append(path: string, text: string): void {
  const fd = openPrivate(path, 'a');
  try {
    writeSync(fd, text);
  } finally {
    closeSync(fd);
  }
}

/** Returns the notes of a log, in the order of both numbers; null if there are none. */
export function readLogTimes(path: string): readonly LogTime[] | null {
  let text: string;
  try {
    text = readFileSync(`${path}.times`, 'utf8');
  } catch {
    return null;
  }
  const times: LogTime[] = [];
  for (const [, size, at] of text.matchAll(/^(\d{1,15}) (\d{1,15})\n/gm)) {
    // A log that was emptied, as by `> /dev/stderr`, has grown from its start again.
    while ((times.at(-1)?.[0] ?? -1) >= Number(size)) times.pop();
    times.push([Number(size), Number(at)]);
  }
  return times;
}
