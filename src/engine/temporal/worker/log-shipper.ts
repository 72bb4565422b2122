import { statSync, writeFileSync } from 'node:fs';
import { type FileHandle, open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { LogStream } from '#store/logs.ts';
import type { Clock } from '#system/clock.ts';
import { isMissing, messageOf, WfError } from '#system/errors.ts';
import type { FilePiece } from '#system/file-pieces.ts';

/** A log of an attempt; `file`: its name in the directory of logs. */
export type ShippedLog = {
  readonly runId: string;
  readonly workflow: string;
  readonly step: string;
  readonly attempt: number;
  readonly stream: LogStream;
  readonly file: string;
};

/** Where logs are stored for all machines. */
export type LogTarget = {
  /** Its address, without a login. */
  readonly url: string;
  /**
   * Passes a piece of a log on; resolves to the size of the copy, as `writePiece`. Rejects with a `WfError`: `not-found` and
   * `conflict` if this log cannot be taken now, any other error if no log can.
   */
  readonly send: (log: ShippedLog, piece: FilePiece) => Promise<number>;
};

const POLL_MS = 200;
const PIECE_BYTES = 64 * 1024;
/** After this number of pieces of a log others have their turn. */
const PIECES_AT_ONCE = 64;
/** The logs that are sent at once. */
const MAX_SENDERS = 4;
/** Pauses after a failure: of the store, and of one log. Each doubles the one before. */
const PAUSES = { first: 500, ofStore: 10_000, ofLog: 60_000 };
/** What the store did not take by then stays on this machine until its files are removed. */
const KEEP_MS = 7 * 24 * 60 * 60 * 1000;

/** A log that is not sent as a whole. `total`: its size; null: its attempt still writes. */
type Entry = {
  readonly log: ShippedLog;
  readonly path: string;
  sent: number;
  total: number | null;
  isBusy: boolean;
  pauseMs: number;
  dueAt: number;
};

type ShipperParts = {
  readonly target: LogTarget;
  readonly clock: Clock;
  readonly report: (message: string) => void;
};

/**
 * Sends the logs of a worker to the store while they grow. No attempt waits for it: what the store does not take is sent
 * later, also by the next worker in this directory, since a file beside each log says that it is not sent.
 */
export class LogShipper {
  readonly #parts: ShipperParts;
  readonly #entries = new Map<string, Entry>();
  /** The directories of runs that are removed when their logs are sent. */
  readonly #left = new Set<string>();
  #timer: (() => void) | null = null;
  #senders = 0;
  /** A failure of the store. */
  #away = { pauseMs: 0, until: 0 };
  #isClosed = false;
  #sending = Promise.resolve();

  constructor(parts: ShipperParts) {
    this.#parts = parts;
  }

  get url(): string {
    return this.#parts.target.url;
  }

  /** Sends a log from now on, until `end`. A disk that refuses the note costs only what a killed worker has not sent. */
  begin(log: ShippedLog, path: string): void {
    try {
      writeFileSync(unsentPath(path), JSON.stringify(log), { mode: 0o600 });
    } catch (error) {
      this.#parts.report(`the log "${log.file}" of run ${log.runId} may be lost with this worker: ${messageOf(error)}`);
    }
    this.#add(log, path, null);
  }

  /** A log has its final size. */
  end(path: string, size: number): void {
    const entry = this.#entries.get(path);
    if (entry === undefined) return;
    entry.total = size;
    entry.dueAt = Math.min(entry.dueAt, this.#parts.clock.elapsed() + entry.pauseMs);
  }

  /** A run has ended here: its directory is removed when its logs are sent. */
  async leave(directory: string): Promise<void> {
    this.#left.add(directory);
    await this.#removeIfSent(directory);
  }

  /** A run is in its directory again. */
  enter(directory: string): void {
    this.#left.delete(directory);
  }

  /** Sends what dead workers have left in the directories of runs. */
  async recover(directories: readonly string[]): Promise<void> {
    for (const directory of directories) {
      const logs = join(directory, 'logs');
      for (const name of await namesIn(logs)) {
        if (!name.endsWith(UNSENT)) continue;
        const path = join(logs, name.slice(0, -UNSENT.length));
        const log = await readUnsent(join(logs, name));
        if (log === null) continue;
        this.#add(log, path, await sizeOf(path));
        this.#left.add(directory);
      }
    }
  }

  /** Sends the rest for a limited time; resolves to the number of logs that stay here. */
  async close(limitMs: number): Promise<number> {
    const { clock } = this.#parts;
    const endAt = clock.elapsed() + limitMs;
    while (this.#entries.size > 0 && clock.elapsed() < endAt && this.#away.pauseMs === 0)
      await new Promise<void>((resolve) => void clock.setTimer(clock.now() + POLL_MS / 4, resolve));
    this.#isClosed = true;
    this.#timer?.();
    await this.#sending;
    return this.#entries.size;
  }

  #add(log: ShippedLog, path: string, total: number | null): void {
    this.#entries.set(path, { log, path, sent: 0, total, isBusy: false, pauseMs: 0, dueAt: 0 });
    this.#timer ??= this.#lookLater();
  }

  #lookLater(): () => void {
    const { clock } = this.#parts;
    return clock.setTimer(clock.now() + POLL_MS, () => {
      this.#look();
      this.#timer = this.#isClosed || this.#entries.size === 0 ? null : this.#lookLater();
    });
  }

  #look(): void {
    while (this.#senders < MAX_SENDERS) {
      const entry = this.#nextDue();
      if (entry === undefined) return;
      this.#senders += 1;
      const sent = this.#sendAll(entry).finally(() => {
        this.#senders -= 1;
      });
      this.#sending = Promise.all([this.#sending, sent]).then(() => {});
    }
  }

  async #sendAll(first: Entry): Promise<void> {
    for (let entry: Entry | undefined = first; entry !== undefined; entry = this.#nextDue()) {
      entry.isBusy = true;
      await this.#send(entry);
      entry.isBusy = false;
    }
  }

  /** The log with something to send that has waited longest. */
  #nextDue(): Entry | undefined {
    const now = this.#parts.clock.elapsed();
    // After a failure one log shows whether the store is there again.
    if (this.#isClosed || now < this.#away.until || (this.#away.pauseMs > 0 && this.#senders > 1)) return undefined;
    for (const entry of this.#entries.values()) {
      if (entry.isBusy || entry.dueAt > now) continue;
      entry.dueAt = now + POLL_MS;
      this.#entries.delete(entry.path);
      this.#entries.set(entry.path, entry);
      const size = entry.total ?? statSync(entry.path, { throwIfNoEntry: false })?.size ?? 0;
      if (entry.total !== null || size > entry.sent) return entry;
    }
    return undefined;
  }

  async #send(entry: Entry): Promise<void> {
    try {
      const isSent = await this.#sendRest(entry);
      entry.pauseMs = 0;
      if (isSent) await this.#forget(entry);
    } catch (error) {
      await this.#failed(entry, error);
    }
  }

  /** Sends what there is; resolves to whether that was all. */
  async #sendRest(entry: Entry): Promise<boolean> {
    const file = await openIfThere(entry.path);
    try {
      const buffer = Buffer.allocUnsafe(PIECE_BYTES);
      for (let left = PIECES_AT_ONCE; left > 0 && !this.#isClosed; left -= 1) {
        const { total, sent } = entry;
        const length = Math.min(PIECE_BYTES, (total ?? Number.POSITIVE_INFINITY) - sent);
        const { bytesRead = 0 } = length > 0 ? ((await file?.read(buffer, 0, length, sent)) ?? {}) : {};
        if (bytesRead === 0 && total === null) return false;
        // A file that the step has shortened has no more to send.
        const end = total !== null && bytesRead < length ? sent + bytesRead : total;
        const piece = { offset: sent, bytes: buffer.subarray(0, bytesRead), total: end };
        const size = await this.#parts.target.send(entry.log, piece);
        this.#returned();
        // The copy may have less, if it was removed, or more, from the report of the attempt.
        if (size < sent + bytesRead && size === sent)
          throw new WfError('conflict', `the store does not take "${entry.log.file}"`);
        entry.sent = size;
        if (end !== null && size >= end) return true;
      }
      entry.dueAt = 0;
      return false;
    } finally {
      await file?.close();
    }
  }

  /** The store takes logs. */
  #returned(): void {
    if (this.#away.pauseMs > 0) this.#parts.report(`the log store ${this.url} takes logs again`);
    this.#away = { pauseMs: 0, until: 0 };
  }

  async #failed(entry: Entry, error: unknown): Promise<void> {
    const { clock, report } = this.#parts;
    const now = clock.elapsed();
    if (error instanceof WfError && (error.code === 'not-found' || error.code === 'conflict')) {
      entry.pauseMs = Math.min(PAUSES.ofLog, entry.pauseMs * 2 || PAUSES.first);
      entry.dueAt = now + entry.pauseMs;
      if (entry.pauseMs === PAUSES.ofLog && (await isOld(unsentPath(entry.path)))) {
        const { file, runId } = entry.log;
        report(`the log "${file}" of run ${runId} is not sent: ${error.message}`);
        await this.#forget(entry);
      }
      return;
    }
    const help = error instanceof WfError && error.help !== null ? `: ${error.help}` : '';
    if (this.#away.pauseMs === 0)
      report(`the log store ${this.url} takes no logs, which are sent later: ${messageOf(error)}${help}`);
    const pauseMs = Math.min(PAUSES.ofStore, this.#away.pauseMs * 2 || PAUSES.first);
    this.#away = { pauseMs, until: now + pauseMs };
  }

  async #forget(entry: Entry): Promise<void> {
    this.#entries.delete(entry.path);
    await rm(unsentPath(entry.path), { force: true });
    await this.#removeIfSent(dirname(dirname(entry.path)));
  }

  async #removeIfSent(directory: string): Promise<void> {
    if (!this.#left.has(directory)) return;
    for (const path of this.#entries.keys()) if (dirname(dirname(path)) === directory) return;
    this.#left.delete(directory);
    await rm(directory, { recursive: true, force: true });
  }
}

const UNSENT = '.unsent';

function unsentPath(path: string): string {
  return `${path}${UNSENT}`;
}

async function isOld(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found === null || Date.now() - found.mtimeMs > KEEP_MS;
}

async function namesIn(directory: string): Promise<readonly string[]> {
  return readdir(directory).catch(ifMissing<readonly string[]>([]));
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(({ size }) => size, ifMissing(0));
}

function openIfThere(path: string): Promise<FileHandle | null> {
  return open(path, 'r').catch(ifMissing(null));
}

/** Null for what a worker that was killed has written in part. */
async function readUnsent(path: string): Promise<ShippedLog | null> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as ShippedLog;
  } catch (error) {
    if (error instanceof SyntaxError || isMissing(error)) return null;
    throw error;
  }
}

function ifMissing<T>(otherwise: T): (error: unknown) => T {
  return (error) => {
    if (isMissing(error)) return otherwise;
    throw error;
  };
}
