import type { StoredEvent } from '../../../core/run/run.ts';
import { seal, unseal } from '../disk/sealed.ts';

/** One event as a line of the journal, with its line end. */
export function encodeEvent(event: StoredEvent): string {
  return `${seal(JSON.stringify(event))}\n`;
}

/** The event of a line without its line end; null when it is damaged or is not number `seq`. */
export function decodeEvent(line: Buffer, seq: number): StoredEvent | null {
  const value = unseal(line);
  return isEvent(value) && value.seq === seq ? value : null;
}

/** What carries our checksum was written by us: an event kind of a later version is an event too. */
function isEvent(value: unknown): value is StoredEvent {
  return typeof value === 'object' && value !== null && 'seq' in value && 'type' in value;
}
