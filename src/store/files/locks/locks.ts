import { existsSync, type FSWatcher, readdirSync, renameSync, rmSync, watch } from 'node:fs';
import { dirname, join } from 'node:path';
import type { LockHolder } from '#core/run/run.ts';
import { randomBytes } from '#fast/random-bytes.ts';
import { tryOr } from '#system/errors.ts';
import type { HeldLock, LockRequest, LockStore, OwnerVerdict } from '../../store.ts';
import { judgeOwner } from '../control/judge-owner.ts';
import {
  type Ownership,
  ownerOf,
  ownerSocketPath,
  type Processes,
  thisOwner,
  writeFirstOwner,
} from '../control/owner.ts';
import { makePrivateDirectory, makeTemporaryDirectory, storing } from '../disk/private-files.ts';
import {
  drawTicket,
  isGranted,
  type LockView,
  lockDirectory,
  noteGrant,
  readTicket,
  removeTicket,
  removeTicketsOf,
  type Ticket,
  viewLock,
} from './lock-files.ts';

/** How often a process that waits checks whether the holders are alive. */
const POLL_MS = 1000;
/** Failed checks in a row after which waits fail: a shortage, such as too many open files, passes sooner. */
const MAX_FAILED_POLLS = 30;
/** The pause between two reports of other holders. */
const REPORT_MS = 10_000;
/** A process that has locks for less time opens no socket. */
const LISTEN_AFTER_MS = 100;

type Wait = Parameters<LockStore['acquire']>[1];

/** The access of locks to processes. `settle`: ends what a run left behind whose process has died. */
export type LockProcesses = Processes & { readonly settle: (runId: string) => Promise<void> };

/** The locks of a home, in files beside the directory of its runs. */
export function createLocks(runsDir: string, processes: LockProcesses): LockStore {
  const root = join(dirname(runsDir), 'locks');
  const own = new LockProcess(join(root, '.processes'), processes);
  const lines = new Map<string, LockLine>();
  const lineOf = (directory: string) => {
    const line = lines.get(directory) ?? new LockLine(directory, own);
    lines.set(directory, line);
    return line;
  };
  const draw = (request: LockRequest, isForced: boolean) => {
    const directory = lockDirectory(root, request);
    return storing('write a lock in', directory, () => ({
      directory,
      ticket: drawTicket(directory, own.nextId(), request, isForced),
    }));
  };
  const held = (directory: string, { file, id }: Ticket): HeldLock => ({
    id,
    release: () => storing('release a lock in', directory, () => removeTicket(directory, file)),
  });
  const acquire = async (request: LockRequest, wait: Wait): Promise<HeldLock | null> => {
    for (;;) {
      const { directory, ticket } = draw(request, false);
      const end = await lineOf(directory).wait(ticket, request.size, wait);
      if (end === 'granted') return held(directory, ticket);
      removeTicket(directory, ticket.file);
      if (end === 'stopped') return null;
    }
  };
  /** Waits until the lock may be taken once more this minute, one after another; false if the wait was stopped. */
  const spend = async (request: LockRequest, perMinute: number, wait: Wait): Promise<boolean> => {
    const blocked = () => wait.blocked(null);
    const turn = await acquire({ ...request, kind: 'rate', size: 1, mode: 'write', slots: 1 }, { ...wait, blocked });
    if (turn === null) return false;
    try {
      const { takeToken } = await import('./lock-rate.ts');
      return await takeToken(join(root, '.rates', request.name), { perMinute, boot: own.boot }, { ...wait, blocked });
    } finally {
      turn.release();
    }
  };
  return {
    acquire: async (request, wait) => {
      const lock = await acquire(request, wait);
      if (lock === null || request.perMinute === undefined) return lock;
      let isTaken = false;
      try {
        isTaken = await spend(request, request.perMinute, wait);
      } finally {
        if (!isTaken) lock.release();
      }
      return isTaken ? lock : null;
    },
    take: (request) => {
      const { directory, ticket } = draw(request, true);
      return held(directory, ticket);
    },
    list: async (sizeOf) => (await import('./lock-list.ts')).listLocks(root, sizeOf, own),
    break: async (ids) => (await import('./lock-list.ts')).breakTickets(root, ids, own),
  };
}

/** Creates a directory that is removed when this process ends. Throws a `WfError` `storage`. */
export function temporaryHome(parent: string): string {
  const home = makeTemporaryDirectory(parent);
  removeAtExit(home);
  return home;
}

const leftAtExit = new Set<string>();

function removeAtExit(directory: string): void {
  leftAtExit.add(directory);
  if (leftAtExit.size > 1) return;
  process.once('exit', () => {
    for (const each of leftAtExit) rmSync(each, { recursive: true, force: true });
  });
}

/** This process as the owner of its tickets, and the judge of other owners. */
class LockProcess {
  readonly #root: string;
  readonly #processes: LockProcesses;
  #id: string | null = null;
  #tickets = 0;

  constructor(root: string, processes: LockProcesses) {
    this.#root = root;
    this.#processes = processes;
  }

  /** The boot of this machine, as far as it is known. */
  get boot(): string | null {
    return thisOwner(this.#processes).boot;
  }

  /** The id of a new ticket. The first one makes the process known to others. */
  nextId(): string {
    this.#id ??= this.#enter();
    this.#tickets += 1;
    return `${this.#id}-${this.#tickets}`;
  }

  /**
   * Removes the tickets of those processes that are gone; resolves to whether there were any. The programs of their steps
   * end first.
   */
  async removeDead(directory: string, ids: Iterable<string>): Promise<boolean> {
    let wereAny = false;
    for (const id of ids) {
      if ((await this.#judge(id)) !== 'gone') continue;
      const runs = viewLock(directory).tickets.flatMap((ticket) =>
        ticket.process === id ? (readTicket(directory, ticket)?.runId ?? []) : [],
      );
      for (const runId of new Set(runs)) await this.#processes.settle(runId);
      removeTicketsOf(directory, id);
      rmSync(this.#directoryOf(id), { recursive: true, force: true });
      wereAny = true;
    }
    return wereAny;
  }

  /** Names a process that cannot be judged; null for any other. */
  async doubt(id: string): Promise<string | null> {
    if ((await this.#judge(id)) !== 'unknown') return null;
    const owner = ownerOf(this.#directoryOf(id));
    return owner === null ? null : `process ${owner.pid} on "${owner.host}"`;
  }

  /** A process without a directory has removed it, or another one has. */
  async #judge(id: string): Promise<OwnerVerdict> {
    if (id === this.#id) return 'alive';
    const directory = this.#directoryOf(id);
    return existsSync(directory) ? judgeOwner(directory, this.#processes) : 'gone';
  }

  #enter(): string {
    const id = randomBytes(8).toString('hex');
    this.#removeDeadProcesses();
    const directory = this.#directoryOf(id);
    const draft = `${directory}.new`;
    makePrivateDirectory(draft);
    // Kept open until the process ends: see `owner.ts`.
    const ownership = writeFirstOwner(draft, thisOwner(this.#processes));
    renameSync(draft, directory);
    this.#listenLater({ ...ownership, path: join(directory, 'owner') });
    removeAtExit(directory);
    return id;
  }

  /** Tickets of a process without a directory count as those of a dead one. */
  #removeDeadProcesses(): void {
    for (const id of tryOr([], () => readdirSync(this.#root))) {
      const owner = tryOr(null, () => ownerOf(this.#directoryOf(id)));
      if (owner !== null && !this.#processes.isAlive(owner))
        rmSync(this.#directoryOf(id), { recursive: true, force: true });
    }
  }

  /** Shows processes of other namespaces that this one is alive, if the file system supports sockets. */
  #listenLater({ path }: Ownership): void {
    const listen = async () => {
      const { listenAt } = await import('../control/owner-socket.ts');
      await listenAt(ownerSocketPath(path), () => {}).catch(() => {});
    };
    setTimeout(() => void listen(), LISTEN_AFTER_MS).unref();
  }

  #directoryOf(id: string): string {
    return join(this.#root, id);
  }
}

type Waiting = {
  readonly ticket: Ticket;
  readonly size: number;
  readonly wait: Wait;
  readonly end: (how: 'granted' | 'stopped' | 'broken') => void;
  readonly fail: (error: unknown) => void;
  /** The file of the holder that was reported last, and when; null before the first report. */
  reported: { readonly file: string; readonly at: number } | null;
};

/** The tickets of this process that wait for one lock. They look at it when its directory changes, and every second. */
class LockLine {
  readonly #directory: string;
  readonly #process: LockProcess;
  readonly #waiting = new Set<Waiting>();
  #watcher: FSWatcher | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isJudging = false;
  #failedPolls = 0;

  constructor(directory: string, process: LockProcess) {
    this.#directory = directory;
    this.#process = process;
  }

  /** Resolves when the ticket is granted, the wait is stopped, or the ticket is gone. Rejects with a `WfError` `storage`. */
  wait(ticket: Ticket, size: number, wait: Wait): Promise<'granted' | 'stopped' | 'broken'> {
    return new Promise((resolve, reject) => {
      let forget = () => {};
      const leave = () => {
        forget();
        this.#waiting.delete(waiting);
        this.#rest();
      };
      const end: Waiting['end'] = (how) => {
        leave();
        resolve(how);
      };
      const fail = (error: unknown) => {
        leave();
        tryOr(null, () => removeTicket(this.#directory, ticket.file));
        reject(error);
      };
      const waiting: Waiting = { ticket, size, wait, end, fail, reported: null };
      if (wait.stop.aborted) return resolve('stopped');
      this.#waiting.add(waiting);
      forget = wait.stop.onAbort(() => end('stopped'));
      try {
        this.#look();
      } catch (error) {
        fail(error);
      }
      if (!this.#waiting.has(waiting)) return;
      this.#open();
      this.#judge().catch(fail);
    });
  }

  /** Grants what may be granted. */
  #look(): LockView {
    const view = storing('read a lock in', this.#directory, () => viewLock(this.#directory));
    for (const waiting of [...this.#waiting]) {
      const { ticket, size, end } = waiting;
      if (!view.tickets.some(({ file }) => file === ticket.file)) end('broken');
      else if (view.drawing.length === 0 && isGranted(view, ticket, size)) {
        noteGrant(this.#directory, ticket);
        end('granted');
      }
    }
    return view;
  }

  /** Removes tickets of dead processes that hold up others, then reports the holders. */
  async #judge(): Promise<void> {
    if (this.#isJudging || this.#waiting.size === 0) return;
    this.#isJudging = true;
    try {
      let view = this.#look();
      while (await this.#process.removeDead(this.#directory, this.#suspects(view))) view = this.#look();
      for (const waiting of [...this.#waiting]) await this.#report(waiting, view);
    } finally {
      this.#isJudging = false;
    }
  }

  /** The processes that hold the lock, that wait first, or that are drawing a number. */
  #suspects({ tickets, drawing }: LockView): Set<string> {
    const [first] = this.#waiting;
    const size = first?.size ?? 1;
    const next = tickets.findIndex((ticket) => !isGranted({ tickets, drawing }, ticket, size));
    const holding = tickets.filter((ticket, index) => index <= next || ticket.isForced);
    return new Set([...holding.map(({ process }) => process), ...drawing]);
  }

  async #report(waiting: Waiting, view: LockView): Promise<void> {
    const { ticket, size, reported } = waiting;
    const found = view.tickets.find((other) => other.file !== ticket.file && isGranted(view, other, size));
    const now = performance.now();
    if (reported !== null && (reported.file === found?.file || now - reported.at < REPORT_MS)) return;
    waiting.reported = { file: found?.file ?? '', at: now };
    const holder = found === undefined ? null : await this.#holder(found);
    if (this.#waiting.has(waiting)) waiting.wait.blocked(holder);
  }

  async #holder(ticket: Ticket): Promise<LockHolder | null> {
    const read = readTicket(this.#directory, ticket);
    if (read === null) return null;
    const { runId, workflow, step, since } = read;
    const unknown = await this.#process.doubt(ticket.process);
    return { runId, workflow, step, since, ...(unknown === null ? {} : { unknown }) };
  }

  #open(): void {
    this.#watcher ??= tryOr(null, () =>
      watch(this.#directory, { persistent: false }, () => this.#lookSafely()).on('error', () => {}),
    );
    if (this.#timer !== null) return;
    this.#failedPolls = 0;
    this.#timer = setInterval(() => void this.#poll(), POLL_MS);
  }

  async #poll(): Promise<void> {
    try {
      await this.#judge();
      this.#failedPolls = 0;
    } catch (error) {
      this.#failedPolls += 1;
      if (this.#failedPolls >= MAX_FAILED_POLLS) for (const { fail } of [...this.#waiting]) fail(error);
    }
  }

  /** A passing shortage, such as too many open files: the next poll looks again. */
  #lookSafely(): void {
    tryOr(null, () => this.#look());
  }

  #rest(): void {
    if (this.#waiting.size > 0) return;
    this.#watcher?.close();
    this.#watcher = null;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }
}
