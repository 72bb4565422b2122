import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import type { StoredEvent } from '../../../core/run/run.ts';
import { decodeEvent } from './journal-line.ts';

const lineEnd = 0x0a;
/** Where the checksum stands in a line. */
const checksumStart = 8;
const checksumEnd = 16;

/** What of a file has been looked at; `ino` and `dev` tell it from any other. */
type Looked = { readonly fd: number; readonly ino: number; readonly dev: number };

/**
 * A journal that somebody else writes, read up to the last line that can be trusted, again and again, without reading a line
 * twice. Where lines that were told have gone (a recovery cut them off, or a write that failed took them back) and others
 * have come in their place, these are told: an event whose `seq` is not higher than that of the one before stands for
 * everything from there on.
 */
export class JournalFollower {
  readonly #path: string;
  #file: Looked | null = null;
  #offset = 0;
  /** The checksums of the lines that were told: a line is what was told when its own is the same. */
  #told: string[] = [];
  /** The size and time at which a bad line with more behind it was found: until either changes, nothing can have mended. */
  #stuckAt: string | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  /** The events that have come. None, too, when the journal is not there, or cannot be read now. */
  read(): readonly StoredEvent[] {
    try {
      return this.#readOn();
    } catch {
      // Following is for the eye: what matters is read again by whoever asks for the run itself.
      return [];
    }
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
    const events = this.#take(bytes, this.#told.length);
    if (canGoOn && !isDamaged(bytes, this.#offset - from)) return events;
    this.#stuckAt = `${size} ${mtimeMs}`;
    return [...events, ...this.#compare(this.#bytes(0, size))];
  }

  /** Whether it is still the file that was read before. The old one is kept open until then, so that no other gets its number. */
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
    const bytes = Buffer.allocUnsafe(to - from);
    let length = 0;
    while (length < bytes.length) {
      const read = readSync(this.#file?.fd ?? -1, bytes, length, bytes.length - length, from + length);
      if (read === 0) break;
      length += read;
    }
    return bytes.subarray(0, length);
  }

  /** Takes the good lines at the start of the bytes, which follow the first `seq` events. */
  #take(bytes: Buffer, seq: number): StoredEvent[] {
    const events: StoredEvent[] = [];
    for (let start = 0; ; ) {
      const end = bytes.indexOf(lineEnd, start);
      const event = end === -1 ? null : decodeEvent(bytes.subarray(start, end), seq + events.length + 1);
      if (event === null) return events;
      events.push(event);
      this.#told.push(bytes.toString('latin1', start + checksumStart, start + checksumEnd));
      this.#offset += end + 1 - start;
      start = end + 1;
    }
  }

  /** Reads everything again; answers the events from the first on that is not as it was told. */
  #compare(bytes: Buffer): readonly StoredEvent[] {
    const before = this.#told;
    this.#told = [];
    this.#offset = 0;
    const events = this.#take(bytes, 0);
    const changed = this.#told.findIndex((checksum, index) => checksum !== before[index]);
    return changed === -1 ? [] : events.slice(changed);
  }
}

/** Whether the bad line that begins at `start` is not the last one: then it is not just being written. */
function isDamaged(bytes: Buffer, start: number): boolean {
  const end = bytes.indexOf(lineEnd, start);
  return end !== -1 && end !== bytes.length - 1;
}
