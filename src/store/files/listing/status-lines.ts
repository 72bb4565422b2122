import { type FinishedStatus, runStatuses } from '#core/run/run.ts';
import { crc32OfText } from '#start-up/crc32.ts';
import type { JournalStats } from '../journal/journal-stamp.ts';

/** The status of a finished run, and the attributes of the journal that it was read from. */
export type StatusEntry = JournalStats & {
  readonly runId: string;
  readonly status: FinishedStatus;
  /** Null: unknown, or the run was never started. */
  readonly durationMs: number | null;
};

/*
 * A line lists finished runs of one status, after the CRC-32 of the rest of the line: `1a2b3c4d failed<tab>id=size.time~duration
 * id=size.time`; the duration may be unknown. A later line of a run replaces an earlier one.
 */

/** One line for each status. */
export function encodeStatuses(entries: Iterable<StatusEntry>): string {
  const groups = new Map<FinishedStatus, string[]>();
  for (const { runId, status, size, mtimeMs, durationMs } of entries) {
    const group = groups.get(status) ?? [];
    if (group.length === 0) groups.set(status, group);
    group.push(`${runId}=${size}.${mtimeMs}${durationMs === null ? '' : `~${durationMs}`}`);
  }
  const lines = Array.from(groups, ([status, group]) => {
    const text = `${status}\t${group.join(' ')}`;
    return `${crc32OfText(text).toString(16).padStart(8, '0')} ${text}\n`;
  });
  return lines.join('');
}

/** Calls `visit` for each entry, and returns the number of lines. Damaged lines have no entries. */
export function decodeStatuses(content: string, visit: (entry: StatusEntry) => void): number {
  const lines = content.split('\n');
  for (const line of lines) {
    const text = line.slice(9);
    if (text === '' || Number.parseInt(line.slice(0, 8), 16) !== crc32OfText(text)) continue;
    const statusEnd = text.indexOf('\t');
    const status = finishedStatus(text.slice(0, statusEnd));
    if (status === null) continue;
    for (const entry of text.slice(statusEnd + 1).split(' ')) {
      const idEnd = entry.indexOf('=');
      const sizeEnd = entry.indexOf('.', idEnd);
      const size = Number(entry.slice(idEnd + 1, sizeEnd));
      const [time, duration] = entry.slice(sizeEnd + 1).split('~');
      const durationMs = duration === undefined ? null : Number(duration);
      visit({ runId: entry.slice(0, idEnd), status, size, mtimeMs: Number(time), durationMs });
    }
  }
  return lines.length - 1;
}

/** Null for a status of another version of wf. */
function finishedStatus(word: string): FinishedStatus | null {
  const status = runStatuses.find((known) => known === word);
  return status === undefined || !isFinishedStatus(status) ? null : status;
}

function isFinishedStatus(status: (typeof runStatuses)[number]): status is FinishedStatus {
  return !['queued', 'running', 'canceling', 'handling'].includes(status);
}
