import { closeSync, fstatSync, readSync, statSync } from 'node:fs';
import { attemptKey } from '#core/run/outcome.ts';
import { reservedDescriptors } from '#system/descriptors.ts';
import { tryOr } from '#system/errors.ts';
import { openRegular } from '#system/files.ts';
import type { LogFollower, LogFollowerOptions, LogOffsets, LogPace, LogStream } from '../../logs.ts';

/** Most steps end before the second look: the first one comes soon, so that a short step shows no delay. */
const FIRST_POLL_MS = 10;
const POLL_MS = 100;
/** Maximum number of bytes that one step delivers per look, so that none delays the others and the run itself. */
const MOST_BYTES_AT_ONCE = 1024 * 1024;
const BUFFER_BYTES = 64 * 1024;
const start: LogOffsets = { stdout: 0, stderr: 0 };

/** The logs of a run. */
export type LogPaths = {
  readonly pathOf: (step: string, attempt: number, stream: LogStream) => string;
  readonly streams: (step: string, attempt: number) => readonly LogStream[];
};

type Followed = {
  readonly step: string;
  readonly attempt: number;
  readonly logs: readonly { readonly stream: LogStream; readonly file: FollowedFile }[];
};

/** Polls the files: a watch on each would cost more, and is not available on every file system. */
export class FileFollower implements LogFollower {
  readonly #paths: LogPaths;
  readonly #options: LogFollowerOptions;
  readonly #followed = new Map<string, Followed>();
  /** Attempts due before the next common look: new ones, and those with more to deliver. */
  #early = new Set<Followed>();
  #earlyTimer: NodeJS.Timeout | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Shared by all: the more memory a process has, the longer it takes to start another. */
  #buffer: Buffer | null = null;

  constructor(paths: LogPaths, options: LogFollowerOptions) {
    this.#paths = paths;
    this.#options = options;
  }

  readonly follow = (step: string, attempt: number, read: LogOffsets = start): void => {
    if (this.#followed.has(attemptKey({ step, attempt }))) return;
    const logs = this.#paths.streams(step, attempt).map((stream) => {
      const path = this.#paths.pathOf(step, attempt, stream);
      return { stream, file: new FollowedFile(path, stream === 'stderr' ? read.stderr : read.stdout) };
    });
    const entry = { step, attempt, logs };
    this.#followed.set(attemptKey({ step, attempt }), entry);
    this.#comeSoonTo(entry);
    this.#timer ??= setTimeout(() => this.#lookAtAll(), POLL_MS).unref();
  };

  readonly finish = (step: string, attempt: number): boolean => {
    const entry = this.#followed.get(attemptKey({ step, attempt }));
    if (entry === undefined) return true;
    const hasMore = this.#read(entry, this.#options.pace?.bytes ?? MOST_BYTES_AT_ONCE).left > 0;
    if (!hasMore) this.#forget(entry);
    return !hasMore;
  };

  readonly catchUp = (step: string, attempt: number): void => {
    const entry = this.#followed.get(attemptKey({ step, attempt }));
    if (entry !== undefined) this.#read(entry, MOST_BYTES_AT_ONCE);
  };

  readonly close = (): void => {
    for (const entry of [...this.#followed.values()]) this.#forget(entry);
    clearTimeout(this.#timer);
    clearTimeout(this.#earlyTimer);
    this.#timer = undefined;
    this.#earlyTimer = undefined;
  };

  #lookAtAll(): void {
    this.#timer = this.#followed.size === 0 ? undefined : setTimeout(() => this.#lookAtAll(), POLL_MS).unref();
    this.#lookAt([...this.#followed.values()].filter((entry) => !this.#early.has(entry)));
  }

  #comeSoonTo(entry: Followed): void {
    this.#early.add(entry);
    this.#earlyTimer ??= setTimeout(() => this.#lookAtEarly(), FIRST_POLL_MS).unref();
  }

  #lookAtEarly(): void {
    const due = this.#early;
    this.#early = new Set();
    this.#earlyTimer = undefined;
    this.#lookAt(due);
  }

  #lookAt(due: Iterable<Followed>): void {
    const { isBlocked, pace } = this.#options;
    if (isBlocked?.()) return;
    if (pace === undefined) this.#look(due, Number.POSITIVE_INFINITY);
    else void this.#lookInTurn(due, pace);
  }

  async #lookInTurn(due: Iterable<Followed>, { bytes, turn }: LogPace): Promise<void> {
    await turn();
    const followed = [...due].filter(({ step, attempt }) => this.#followed.has(attemptKey({ step, attempt })));
    if (!this.#options.isBlocked?.()) this.#look(followed, bytes);
  }

  /** Reads at most about `allowed` bytes of all logs together. */
  #look(entries: Iterable<Followed>, allowed: number): void {
    let left = allowed;
    for (const entry of entries) {
      const found = left > 0 ? this.#read(entry, Math.min(left, MOST_BYTES_AT_ONCE)) : { read: 0, left: 1 };
      left -= found.read;
      if (found.left > 0) this.#comeSoonTo(entry);
    }
  }

  /** Reads the logs in turn, up to their present end; returns the bytes that were read, and those that are left. */
  #read({ step, attempt, logs }: Followed, mostBytes: number): { readonly read: number; readonly left: number } {
    const unread = logs.map(({ stream, file }) => ({ stream, file, left: file.available() }));
    const { deliver } = this.#options;
    let allowed = mostBytes;
    while (allowed > 0 && unread.some(({ left }) => left > 0)) {
      for (const each of unread) {
        const bytes = this.#readChunk(each.file, Math.min(each.left, allowed));
        each.left = bytes.length === 0 ? 0 : each.left - bytes.length;
        allowed -= bytes.length;
        if (bytes.length > 0) deliver({ step, attempt, stream: each.stream, bytes, at: each.file.writtenAt() });
      }
    }
    return { read: mostBytes - allowed, left: unread.reduce((sum, { left }) => sum + left, 0) };
  }

  #readChunk(file: FollowedFile, mostBytes: number): Uint8Array {
    this.#buffer ??= Buffer.allocUnsafeSlow(BUFFER_BYTES);
    const length = mostBytes === 0 ? 0 : file.read(this.#buffer, Math.min(mostBytes, BUFFER_BYTES));
    return this.#buffer.subarray(0, length);
  }

  /** Timers stay, since another step soon needs them: setting them for each step would take 30 µs. */
  #forget(entry: Followed): void {
    this.#followed.delete(attemptKey(entry));
    this.#early.delete(entry);
    for (const { file } of entry.logs) file.close();
  }
}

/** A file that others append to, opened only once it has content: many steps print nothing. */
class FollowedFile {
  readonly #path: string;
  #fd: number | null = null;
  #offset: number;
  #writtenAt = 0;

  constructor(path: string, offset: number) {
    this.#path = path;
    this.#offset = offset;
  }

  /** Number of unread bytes. A file that was truncated (as by `> /dev/stderr`) is read from its start. */
  available(): number {
    this.#fd ??= tryOr(null, () => openUnlessEmpty(this.#path));
    const fd = this.#fd;
    const found = fd === null ? null : tryOr(null, () => fstatSync(fd));
    if (found === null) return 0;
    const { size, mtimeMs } = found;
    this.#writtenAt = Math.floor(mtimeMs);
    if (size < this.#offset) this.#offset = 0;
    return size - this.#offset;
  }

  writtenAt(): number {
    return this.#writtenAt;
  }

  /** Reads into the start of the buffer; returns the number of bytes, 0 at the end. */
  read(buffer: Uint8Array, mostBytes: number): number {
    const fd = this.#fd;
    if (fd === null) return 0;
    const read = tryOr(0, () => readSync(fd, buffer, 0, mostBytes, this.#offset));
    this.#offset += read;
    return read;
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }
}

function openUnlessEmpty(path: string): number | null {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.size === 0) return null;
  const fd = openRegular(path);
  if (fd < reservedDescriptors()) return fd;
  // Programs need descriptors more.
  closeSync(fd);
  return null;
}
