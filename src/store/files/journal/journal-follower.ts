import { closeSync, existsSync, fstatSync, openSync, statSync, watch } from 'node:fs';
import type { StoredEvent } from '#core/run/run.ts';
import { tryOr } from '#system/errors.ts';
import { pause } from '#system/time-limit.ts';
import { journalPath } from '../run-directory.ts';
import { decodeEvent, readBytes } from './journal-reader.ts';

const LINE_END = 0x0a;
/** The position of the checksum in a line. */
const CHECKSUM_START = 8;
const CHECKSUM_END = 16;

/**
 * Follows a journal that another process writes, up to the last valid line, without reading a line twice. If lines
 * already returned have been replaced (a recovery cut them off, or a failed write was undone), the new lines are
 * returned: an event whose `seq` is not higher than the previous one replaces everything from there on.
 */
export class JournalFollower {
  readonly #path: string;
  #file: { readonly fd: number; readonly ino: number; readonly dev: number } | null = null;
  #offset = 0;
  /** Checksums of the returned lines: a line with the same checksum is unchanged. */
  #delivered: string[] = [];
  /** Size and time of a file with an invalid line: until either changes, that cannot have been repaired. */
  #stuckAt: string | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  /** Returns new events. Empty too if the journal is missing, or cannot be read now. */
  read(): readonly StoredEvent[] {
    // Following is for display only: a caller that needs the run itself reads it again.
    return tryOr([], () => this.#readOn());
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file.fd);
    this.#file = null;
  }

  #readOn(): readonly StoredEvent[] {
    const isSameFile = this.#open();
    const { size, mtimeMs } = fstatSync(this.#file?.fd ?? -1);
    if (isSameFile && (size === this.#offset || `${size} ${mtimeMs}` === this.#stuckAt)) return [];
    const from = this.#offset;
    const canGoOn = isSameFile && size > from;
    const bytes = canGoOn ? this.#bytes(from, size) : Buffer.alloc(0);
    const events = this.#take(bytes, this.#delivered.length);
    if (canGoOn && !isDamaged(bytes, this.#offset - from)) return events;
    this.#stuckAt = `${size} ${mtimeMs}`;
    return [...events, ...this.#compare(this.#bytes(0, size))];
  }

  /** Whether it is still the same file, which stays open until this check, so that its inode number is not reused. */
  #open(): boolean {
    const { ino, dev } = statSync(this.#path);
    if (this.#file?.ino === ino && this.#file.dev === dev) return true;
    const fd = openSync(this.#path, 'r');
    this.close();
    const opened = fstatSync(fd);
    this.#file = { fd, ino: opened.ino, dev: opened.dev };
    return false;
  }

  #bytes(from: number, to: number): Buffer {
    return readBytes(this.#file?.fd ?? -1, from, to - from);
  }

  /** Reads the valid lines at the start of the bytes, which follow the first `seq` events. */
  #take(bytes: Buffer, seq: number): StoredEvent[] {
    const events: StoredEvent[] = [];
    for (let start = 0; ; ) {
      const end = bytes.indexOf(LINE_END, start);
      const event = end === -1 ? null : decodeEvent(bytes.subarray(start, end), seq + events.length + 1);
      if (event === null) return events;
      events.push(event);
      this.#delivered.push(bytes.toString('latin1', start + CHECKSUM_START, start + CHECKSUM_END));
      this.#offset += end + 1 - start;
      start = end + 1;
    }
  }

  /** Reads everything again; returns the events from the first changed one on. */
  #compare(bytes: Buffer): readonly StoredEvent[] {
    const before = this.#delivered;
    this.#delivered = [];
    this.#offset = 0;
    const events = this.#take(bytes, 0);
    const changed = this.#delivered.findIndex((checksum, index) => checksum !== before[index]);
    return changed === -1 ? [] : events.slice(changed);
  }
}

/** Whether the invalid line at `start` is followed by others: then it is not being written. */
function isDamaged(bytes: Buffer, start: number): boolean {
  const end = bytes.indexOf(LINE_END, start);
  return end !== -1 && end !== bytes.length - 1;
}

/** The events of the run in a directory, as specified by `RunArchive` in `store.ts`. */
export async function* followEvents(
  directory: string,
  afterSeq: number,
  signal: AbortSignal,
): AsyncGenerator<StoredEvent, void> {
  const wakeups = openWakeups(directory);
  const journal = new JournalFollower(journalPath(directory));
  try {
    let events = journal.read();
    if (events.slice(0, afterSeq).some(isLast)) return;
    events = events.slice(afterSeq);
    for (;;) {
      for (const event of events) {
        yield event;
        if (isLast(event)) return;
      }
      if (signal.aborted || (events.length === 0 && !existsSync(directory))) return;
      await wakeups.next(signal);
      events = journal.read();
    }
  } finally {
    journal.close();
    wakeups.close();
  }
}

/** Later events (a warning, a mark) do not matter to a follower. */
function isLast(event: StoredEvent): boolean {
  return event.type === 'run.finished';
}

/** Changes within this time are reported once. */
const GATHER_MS = 20;
/** Poll interval: not every file system reports changes, and none reports those of another machine. */
const LOOK_ANYWAY_MS = 500;
const LOOK_UNWATCHED_MS = 100;

/** Watches the files of one directory, but not of its subdirectories; polls if watching is not available. */
export function openWakeups(directory: string) {
  let hasChanged = false;
  let wake = () => {};
  // Null if the directory does not exist, and if the system's limit of watches is reached.
  let watcher = tryOr(null, () =>
    watch(directory, () => {
      hasChanged = true;
      wake();
    }),
  );
  const close = () => {
    watcher?.close();
    watcher = null;
  };
  watcher?.on('error', close);
  return {
    /** Resolves after a change since the last call, or from time to time, or when the signal is aborted. */
    next: async (signal: AbortSignal) => {
      const listen = (end: () => void) => {
        wake = end;
      };
      if (!hasChanged) await pause(watcher === null ? LOOK_UNWATCHED_MS : LOOK_ANYWAY_MS, signal, listen);
      if (hasChanged) await pause(GATHER_MS, signal);
      hasChanged = false;
    },
    close,
  };
}
