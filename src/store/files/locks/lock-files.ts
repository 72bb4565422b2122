import { linkSync, readdirSync, rmdirSync, statSync, unlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { given } from '#core/data/collections.ts';
import type { LockHolder } from '#core/run/run.ts';
import { errorCode, tryOr } from '#system/errors.ts';
import { removeFile } from '#system/files.ts';
import type { LockName, LockRequest } from '../../store.ts';
import { ifThere, makePrivateDirectory, readSealed, sealedLine, writePrivate } from '../disk/private-files.ts';

/*
 * A lock is a directory with a file for each request, the ticket. Its name has all that counts:
 *
 *   c.<process>-<n>                       a process is drawing a number
 *   t.<number>.<w|r><slots>.<process>-<n> a ticket; with `f` after the slots one that does not wait
 *
 * The order is that of the numbers, with the rest of the name for equal ones. This is the bakery algorithm: a process announces
 * that it draws a number, lists the tickets, takes a higher number, and withdraws the announcement. A process that finds no
 * announcement, and lists the tickets after that, knows every ticket that will ever be before its own: a later one gets a
 * higher number. So tickets before it only become fewer, and what a ticket has been granted stays granted.
 */

/** A ticket by its name. `isForced`: it does not wait. */
export type Ticket = {
  readonly file: string;
  readonly number: number;
  readonly mode: LockRequest['mode'];
  readonly slots: number;
  readonly isForced: boolean;
  readonly id: string;
  /** The process that wrote it. */
  readonly process: string;
};

/** A lock at one moment: its tickets in order, and the processes that are drawing a number. */
export type LockView = { readonly tickets: readonly Ticket[]; readonly drawing: readonly string[] };

/** Who asked, and when, as the file of a ticket has it. */
type TicketFile = LockPlace & LockRequest['by'];

/** What names the directory of a lock. */
type LockPlace = Pick<LockName, 'kind' | 'name' | 'within'>;

const QUEUE_PREFIX = 'queue=';
const WITHIN_PREFIX = 'within=';
const RATE_PREFIX = 'rate=';
/** In characters; a file name has room for 255 bytes. */
const MAX_NAME_LENGTH = 150;

/** The directory of a lock, below the one of all locks. Names of locks have no `=`, and do not start with a dot. */
export function lockDirectory(root: string, { kind, name, within }: LockPlace): string {
  if (kind === 'lock') return join(root, within === undefined ? name : `${WITHIN_PREFIX}${within}=${name}`);
  if (kind === 'rate') return join(root, `${RATE_PREFIX}${name}`);
  const { createHash } = process.getBuiltinModule('node:crypto');
  const encoded = encodeURIComponent(name);
  const digest = () => createHash('sha256').update(name).digest('hex');
  return join(root, `${QUEUE_PREFIX}${encoded.length <= MAX_NAME_LENGTH ? encoded : digest()}`);
}

/** Adds a ticket after all others. `id`: unique among all processes, of the form `<process>-<n>`. */
export function drawTicket(directory: string, id: string, request: LockRequest, isForced: boolean): Ticket {
  const { kind, name, within, mode, slots, by } = request;
  const file: TicketFile = { kind, name, ...given({ within }), ...by };
  const draft = join(directory, `c.${id}`);
  for (;;) {
    makePrivateDirectory(directory);
    try {
      writePrivate(draft, sealedLine(file));
      break;
    } catch (error) {
      // The last one that left has removed the directory.
      if (errorCode(error) !== 'ENOENT') throw error;
    }
  }
  try {
    const last = viewLock(directory).tickets.at(-1)?.number ?? 0;
    const ticket = `t.${last + 1}.${mode[0]}${slots}${isForced ? 'f' : ''}.${id}`;
    linkSync(draft, join(directory, ticket));
    return parseTicket(ticket) as Ticket;
  } finally {
    removeFile(draft);
  }
}

/** Reads a lock; an empty one if it does not exist. */
export function viewLock(directory: string): LockView {
  const names = () => ifThere(() => readdirSync(directory)) ?? [];
  // The order of the two matters: see above.
  const drawing = names().flatMap((name) => (name.startsWith('c.') ? [processOf(name.slice(2))] : []));
  const tickets = names().flatMap((name) => parseTicket(name) ?? []);
  return { tickets: tickets.sort(compareTickets), drawing };
}

function parseTicket(file: string): Ticket | null {
  const match = /^t\.(\d+)\.([wr])(\d+)(f?)\.(.+)$/.exec(file);
  if (match === null) return null;
  const [, number, mode, slots, forced, id = ''] = match;
  return {
    file,
    number: Number(number),
    mode: mode === 'r' ? 'read' : 'write',
    slots: Number(slots),
    isForced: forced === 'f',
    id,
    process: processOf(id),
  };
}

function processOf(id: string): string {
  return id.slice(0, id.lastIndexOf('-'));
}

function compareTickets(one: Ticket, other: Ticket): number {
  return one.number - other.number || (one.file < other.file ? -1 : 1);
}

/** Whether a ticket has its slots: it fits beside all tickets before it, and those that do not wait. */
export function isGranted({ tickets }: LockView, own: Ticket, size: number): boolean {
  if (own.isForced) return true;
  const before = tickets.filter((ticket) => ticket.isForced || compareTickets(ticket, own) < 0);
  if (before.some(({ mode }) => mode !== own.mode)) return false;
  return own.mode === 'read' || before.reduce((sum, { slots }) => sum + slots, own.slots) <= size;
}

/** Removes a ticket, and the directory with the last one. Returns whether the ticket was there. */
export function removeTicket(directory: string, file: string): boolean {
  const wasThere = ifThere(() => unlinkSync(join(directory, file)) ?? true) ?? false;
  // Others may have come.
  tryOr(null, () => rmdirSync(directory));
  return wasThere;
}

/** Removes what a process that is gone has left in a lock. */
export function removeTicketsOf(directory: string, process: string): void {
  for (const name of ifThere(() => readdirSync(directory)) ?? []) {
    const isOf = name.startsWith('c.') ? processOf(name.slice(2)) === process : parseTicket(name)?.process === process;
    if (isOf) removeTicket(directory, name);
  }
}

/** Notes that a ticket has been granted just now. */
export function noteGrant(directory: string, { file }: Ticket): void {
  const now = Date.now() / 1000;
  ifThere(() => utimesSync(join(directory, file), now, now));
}

/** Who has a ticket, and since when; null if it is gone or damaged. */
export function readTicket(directory: string, { file }: Ticket): (TicketFile & Pick<LockHolder, 'since'>) | null {
  const path = join(directory, file);
  return ifThere(() => {
    const read = readSealed(path) as TicketFile | undefined;
    return read === undefined ? null : { ...read, since: Math.round(statSync(path).mtimeMs) };
  });
}
