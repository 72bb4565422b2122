import { closeSync } from 'node:fs';
import type { RunEvent, StoredEvent } from '../../../core/run/run.ts';
import { WfError } from '../../../errors.ts';
import { storageError } from '../disk/private-files.ts';
import type { JournalCalls } from './journal-calls.ts';
import { encodeEvent } from './journal-line.ts';

/** A journal that is open for appending. */
export type JournalPosition = {
  readonly path: string;
  /** Open with `O_APPEND`: what another process writes is never overwritten. */
  readonly fd: number;
  /** Bytes and events in it. */
  readonly length: number;
  readonly seq: number;
};

/**
 * A disk that flushes within this time is flushed right here: to wake a thread for it, and to be woken by that again, takes
 * longer. One that does not, or no longer, is left to the thread pool, where it holds nobody up.
 */
const quickFlushMs = 0.5;

/** The only writer of one journal. It holds whole lines at every moment that another process can see it, but a crash. */
export class JournalFile {
  readonly path: string;
  readonly #calls: JournalCalls;
  readonly #fd: number;
  #length: number;
  #seq: number;
  #isOpen = true;
  /** A write failed and the half of it that was written could not be cut off yet. */
  #isTorn = false;
  /** The last flush was quick. */
  #isDiskQuick = false;

  constructor(position: JournalPosition, calls: JournalCalls) {
    this.path = position.path;
    this.#fd = position.fd;
    this.#length = position.length;
    this.#seq = position.seq;
    this.#calls = calls;
  }

  /** Writes all events or, throwing a `WfError` `storage`, none. */
  append(events: readonly RunEvent[]): readonly StoredEvent[] {
    if (!this.#isOpen) throw new Error(`the journal "${this.path}" is closed`);
    if (events.length === 0) return [];
    const stored = events.map((event, index) => ({ seq: this.#seq + 1 + index, ...event }));
    const bytes = Buffer.from(stored.map(encodeEvent).join(''));
    this.#checkEnd();
    this.#write(bytes);
    this.#length += bytes.length;
    this.#seq += stored.length;
    return stored;
  }

  /** Puts what was appended on the disk; rejects with a `WfError` `storage`. */
  async sync(): Promise<void> {
    try {
      const before = process.hrtime.bigint();
      if (this.#isDiskQuick) this.#calls.syncDataNow(this.#fd);
      else await this.#calls.syncData(this.#fd);
      this.#isDiskQuick = Number(process.hrtime.bigint() - before) < quickFlushMs * 1e6;
    } catch (error) {
      throw storageError('flush', this.path, error);
    }
  }

  close(): void {
    if (!this.#isOpen) return;
    // Also where it fails, the descriptor is given back.
    this.#isOpen = false;
    closeSync(this.#fd);
  }

  /**
   * Refuses to go on where this process is no longer the only writer. Whoever takes a run over puts a new file in the
   * place of this one, so that a writer that was believed dead can do no harm and finds itself without a name.
   */
  #checkEnd(): void {
    const { size, nlink } = this.#stat();
    if (nlink === 0) throw this.#refusal('it was removed, or another process has taken the run over');
    if (size === this.#length) return;
    if (!this.#isTorn) throw this.#refusal('another process has written to it');
    this.#cut();
    if (this.#isTorn) throw this.#refusal('what a failed write has left cannot be cut off');
  }

  #stat(): { readonly size: number; readonly nlink: number } {
    try {
      return this.#calls.stat(this.#fd);
    } catch (error) {
      throw storageError('write', this.path, error);
    }
  }

  #write(bytes: Uint8Array): void {
    let written = 0;
    try {
      while (written < bytes.length) {
        const taken = this.#calls.write(this.#fd, bytes, written);
        if (taken === 0) throw new Error('the system takes no more bytes and does not say why');
        written += taken;
      }
    } catch (error) {
      this.#cut();
      throw storageError('write', this.path, error);
    }
  }

  /** Back to whole lines. */
  #cut(): void {
    this.#isTorn = true;
    try {
      this.#calls.truncate(this.#fd, this.#length);
      this.#isTorn = false;
    } catch {
      // Tried again before the next write; until then readers take the half line for one that is being written.
    }
  }

  #refusal(reason: string): WfError {
    return new WfError('storage', `cannot write "${this.path}": ${reason}`);
  }
}
