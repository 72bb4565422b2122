import type { StoredEvent } from '#core/run/run.ts';
import { seal, unseal } from '../disk/sealed.ts';

/** One event as a line of the journal, with its line end. */
export function encodeEvent(event: StoredEvent): string {
  return `${seal(JSON.stringify(event))}\n`;
}

/** The event of a line without its line end; null if it is damaged or its number is not `seq`. */
export function decodeEvent(line: Buffer, seq: number): StoredEvent | null {
  const value = unseal(line);
  return isEvent(value) && value.seq === seq ? value : null;
}

/** A line with a valid checksum was written by wf: an unknown type of event comes from a later version. */
function isEvent(value: unknown): value is StoredEvent {
  return typeof value === 'object' && value !== null && 'seq' in value && 'type' in value;
}
