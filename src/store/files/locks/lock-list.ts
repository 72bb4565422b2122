import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { nextTurn } from '#system/turns.ts';
import type { LockState, LockStore, LockTicket } from '../../store.ts';
import { ifThere, storing } from '../disk/private-files.ts';
import { isGranted, readTicket, removeTicket, type Ticket, viewLock } from './lock-files.ts';

/** The judge of the processes that wrote tickets. */
type Judge = {
  /** Removes the tickets of those processes that are gone; resolves to whether there were any. */
  readonly removeDead: (directory: string, ids: Iterable<string>) => Promise<boolean>;
  /** Names a process that cannot be judged; null for any other. */
  readonly doubt: (id: string) => Promise<string | null>;
};

/** Directories read per turn of the event loop. */
const MAX_PER_TURN = 50;

type ReadTicket = NonNullable<ReturnType<typeof readTicket>> & { readonly ticket: Ticket };

/** A lock by its directory, with its tickets in their order; one of them at least. */
type ReadLock = { readonly directory: string; readonly tickets: readonly [ReadTicket, ...ReadTicket[]] };

/** The locks and queues in use, in the order of their names, without the tickets of dead processes. */
export async function listLocks(
  root: string,
  sizeOf: Parameters<LockStore['list']>[0],
  judge: Judge,
): Promise<readonly LockState[]> {
  const read = await readLocks(root, judge);
  const byId = new Map(read.flatMap(({ tickets }) => tickets.map((each) => [each.ticket.id, each] as const)));
  const states: LockState[] = [];
  for (const { tickets } of read) {
    const [{ kind, name, within }] = tickets;
    // The turn to count a use of a lock, whose slots its ticket has already.
    if (kind === 'rate') continue;
    const outer = within === undefined ? undefined : byId.get(within);
    const size = within === undefined ? sizeOf(kind, name) : outer?.ticket.mode === 'write' ? outer.ticket.slots : 1;
    const view = { tickets: tickets.map(({ ticket }) => ticket), drawing: [] };
    const holders: LockTicket[] = [];
    const waiters: LockTicket[] = [];
    for (const each of tickets) {
      const unknown = await judge.doubt(each.ticket.process);
      (isGranted(view, each.ticket, size) ? holders : waiters).push(listed(each, unknown));
    }
    const { runId, workflow, step } = outer ?? {};
    const holder = runId === undefined || workflow === undefined ? null : { runId, workflow, step: step ?? null };
    states.push({ kind, name, size, ...(within === undefined ? {} : { within: holder }), holders, waiters });
  }
  return states.sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Takes slots away from requests, by their ids; resolves to the number of those that were still there. */
export async function breakTickets(root: string, ids: ReadonlySet<string>, judge: Judge): Promise<number> {
  let removed = 0;
  for (const { directory, tickets } of await readLocks(root, judge)) {
    for (const { ticket } of tickets) {
      if (!ids.has(ticket.id)) continue;
      if (storing('write a lock in', directory, () => removeTicket(directory, ticket.file))) removed += 1;
    }
  }
  return removed;
}

async function readLocks(root: string, judge: Judge): Promise<readonly ReadLock[]> {
  const names = storing('read the locks in', root, () => ifThere(() => readdirSync(root)) ?? []);
  const read: ReadLock[] = [];
  for (const [index, name] of names.filter((each) => !each.startsWith('.')).entries()) {
    if (index % MAX_PER_TURN === MAX_PER_TURN - 1) await nextTurn();
    const directory = join(root, name);
    const view = () => storing('read a lock in', directory, () => viewLock(directory).tickets);
    await judge.removeDead(directory, new Set(view().map(({ process }) => process)));
    const [first, ...others] = view().flatMap((ticket): ReadTicket[] => {
      const file = readTicket(directory, ticket);
      return file === null ? [] : [{ ...file, ticket }];
    });
    if (first !== undefined) read.push({ directory, tickets: [first, ...others] });
  }
  return read;
}

function listed({ runId, workflow, step, since, ticket }: ReadTicket, unknown: string | null): LockTicket {
  const { id, mode, slots } = ticket;
  return { id, runId, workflow, step, since, mode, slots, ...(unknown === null ? {} : { unknown }) };
}
