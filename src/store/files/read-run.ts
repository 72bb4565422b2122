import { closeSync, existsSync, fsyncSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ProcessOwner } from '#core/run/run.ts';
import { errorCode, tryOr, WfError } from '#system/errors.ts';
import { removeIfPossible } from '#system/files.ts';
import type { StoredRun } from '../store.ts';
import { readArtifacts } from './artifacts/artifact-files.ts';
import { claimDirectory, type Ownership, ownerOf, type Processes, releaseOwner } from './control/owner.ts';
import { openPrivate, unlessRemoved } from './disk/private-files.ts';
import type { JournalPosition } from './journal/journal-file.ts';
import {
  type JournalContent,
  type JournalMark,
  markOf,
  parseJournal,
  readAfter,
  readJournalBytes,
} from './journal/journal-reader.ts';
import { createRunLogs } from './logs/run-logs.ts';
import type { OwnedRun } from './new-run.ts';
import { journalPath, logsPath, readSnapshot, readSources, snapshotPath, sourcesPath } from './run-directory.ts';

type JournalMarks = WeakMap<StoredRun, JournalMark>;

/**
 * Reads a run from its directory, even while it is being written. Null if there is no run, and for a run that a crash
 * of the machine cut short before its first flush: it has no event, and its snapshot is lost. Throws a `WfError`
 * `storage` if the snapshot of a run that did start is lost. `marks` gets the mark of its journal.
 */
export function readRun(
  directory: string,
  runId: string,
  { isAlive, marks }: { readonly isAlive: Processes['isAlive']; readonly marks?: JournalMarks },
): StoredRun | null {
  const snapshot = readSnapshot(directory);
  const path = journalPath(directory);
  const { bytes, events, length, damage, isBlank } = readJournal(directory, path, isAlive);
  const sources = snapshot === null ? null : readSources(directory);
  // Removed while it was read: missing files are not damage then.
  if ((bytes === null || sources === null) && !existsSync(directory)) return null;
  if (snapshot === null) {
    if (events.length === 0) return null;
    throw new WfError('storage', `"${snapshotPath(directory)}" is damaged: the run cannot be shown or retried`);
  }
  const run: StoredRun = {
    runId,
    workflow: snapshot.workflow,
    sources: sources ?? [],
    ...(snapshot.masked ? { masked: true } : {}),
    events,
    damage: [
      ...(bytes === null ? [unknownText(path, 'is missing')] : damage),
      ...(isBlank ? [unknownText(path, bytes?.length === 0 ? 'is empty' : 'has no whole line')] : []),
      ...(sources === null ? [`"${sourcesPath(directory)}" is damaged: places in the file cannot be shown.`] : []),
    ],
    logs: createRunLogs(logsPath(directory, snapshot.logs), snapshot.workflow),
    artifacts: readArtifacts(directory, snapshot.logs),
  };
  if (bytes !== null && run.damage.length === 0) marks?.set(run, markOf(bytes, { seq: events.length, length }));
  return run;
}

type FoundJournal = JournalContent & {
  readonly bytes: Buffer | null;
  /** It contains no event, and no process could be about to write the first. */
  readonly isBlank: boolean;
};

/** The second reading contains all that the owner wrote until it gave the run up, even if the first found nothing. */
function readJournal(directory: string, path: string, isAlive: Processes['isAlive']): FoundJournal {
  const read = () => {
    const bytes = readJournalBytes(path);
    return { bytes, ...parseJournal(bytes ?? Buffer.alloc(0), path) };
  };
  const isBlank = ({ events, damage }: JournalContent) => events.length === 0 && damage.length === 0;
  const first = read();
  if (first.bytes === null || !isBlank(first) || isHeld(directory, isAlive)) return { ...first, isBlank: false };
  const last = read();
  return { ...last, isBlank: last.bytes !== null && isBlank(last) };
}

function unknownText(path: string, problem: string): string {
  return `"${path}" ${problem}: its events are unknown.`;
}

/** The owner of a run without an event has just created it. A run that is being removed has no owner. */
function isHeld(directory: string, isAlive: Processes['isAlive']): boolean {
  const owner = unlessRemoved(directory, () => ownerOf(directory));
  return owner !== null && isAlive(owner);
}

/**
 * Makes `owner` the owner of a run and opens its journal after the last valid event. Everything after it is kept as
 * `journal.damaged-<n>`. Throws a `WfError` `run-active` if another process owns the run.
 *
 * The old file is replaced even if it is intact: a previous owner that was wrongly believed dead then writes to a file
 * without a name, does no harm and notices it. The new file is written before the takeover: if the disk is full, the
 * record of the dead owner remains, by which a daemon finds the run again.
 */
export function recoverRun(directory: string, owner: ProcessOwner, isAlive: Processes['isAlive']): OwnedRun {
  const path = journalPath(directory);
  // As for a new run: the previous owner may not have flushed it.
  const unsynced = [snapshotPath(directory), sourcesPath(directory), directory, dirname(directory)];
  let draft = draftJournal(directory, owner);
  let ownership: Ownership | null = null;
  try {
    ownership = claimDirectory(directory, owner, isAlive);
    // Another process may have written before the takeover.
    if (!draft.bytes.equals(bytesOf(path))) {
      const before = draft;
      draft = draftJournal(directory, owner);
      discard(before);
    }
    renameSync(draft.path, path);
  } catch (error) {
    discard(draft);
    if (ownership !== null) releaseOwner(ownership);
    throw error;
  }
  const { fd, length, seq } = draft;
  return { position: { path, fd, length, seq }, ownership, unsynced };
}

/** A new journal, with the valid events of the present one. */
type JournalDraft = JournalPosition & {
  /** The content of the present journal when the draft was written. */
  readonly bytes: Buffer;
  /** The file with what the draft lacks; null if it lacks nothing. */
  readonly aside: string | null;
};

function draftJournal(directory: string, { pid }: ProcessOwner): JournalDraft {
  const path = journalPath(directory);
  const bytes = bytesOf(path);
  const { events, length } = parseJournal(bytes, path);
  const draftPath = join(directory, `.journal-${pid}-${Math.random().toString(36).slice(2)}`);
  const fd = openPrivate(draftPath, 'ax');
  try {
    writeFileSync(fd, bytes.subarray(0, length));
    fsyncSync(fd);
    const aside = length < bytes.length ? keepAside(directory, bytes.subarray(length)) : null;
    return { path: draftPath, fd, length, seq: events.length, bytes, aside };
  } catch (error) {
    closeSync(fd);
    removeIfPossible(draftPath);
    throw error;
  }
}

function bytesOf(path: string): Buffer {
  return readJournalBytes(path) ?? Buffer.alloc(0);
}

function discard({ path, fd, aside }: JournalDraft): void {
  closeSync(fd);
  removeIfPossible(path);
  if (aside !== null) removeIfPossible(aside);
}

/** Returns the path of the new file. Leaves none if the disk refuses it. */
function keepAside(directory: string, tail: Buffer): string {
  const { path, fd } = openAside(directory);
  try {
    writeFileSync(fd, tail);
    fsyncSync(fd);
    return path;
  } catch (error) {
    removeIfPossible(path);
    throw error;
  } finally {
    closeSync(fd);
  }
}

function openAside(directory: string): { readonly path: string; readonly fd: number } {
  const taken = readdirSync(directory).map((name) => Number(/^journal\.damaged-(\d+)$/.exec(name)?.[1] ?? 0));
  for (let number = Math.max(0, ...taken) + 1; ; number += 1) {
    const path = join(directory, `journal.damaged-${number}`);
    try {
      return { path, fd: openPrivate(path, 'wx') };
    } catch (error) {
      // Another process recovers the run too.
      if (errorCode(error) !== 'EEXIST') throw error;
    }
  }
}

const marks: JournalMarks = new WeakMap();
/** The snapshots of the runs with a mark, which change only by damage. */
const snapshots = new WeakMap<JournalMark, string>();

/** Reads a run; of one that was read before, only the events since then, and the same object if there are none. */
export function readAgain(
  directory: string,
  runId: string,
  { before, isAlive }: { readonly before: StoredRun | null; readonly isAlive: Processes['isAlive'] },
): StoredRun | null {
  const snapshot = stampOf(snapshotPath(directory));
  const remember = (run: StoredRun | null) => {
    const mark = run === null ? undefined : marks.get(run);
    if (mark !== undefined) snapshots.set(mark, snapshot);
    return run;
  };
  const mark = before === null ? undefined : marks.get(before);
  const isSame = mark !== undefined && snapshots.get(mark) === snapshot;
  const added = isSame ? readAfter(journalPath(directory), mark) : null;
  if (before === null || added === null) return remember(readRun(directory, runId, { isAlive, marks }));
  if (added.events.length === 0) return before;
  const run = { ...before, events: [...before.events, ...added.events] };
  marks.set(run, added.mark);
  return remember(run);
}

/** Empty if there is no such file, or it cannot be examined: reading the run reports the reason. */
function stampOf(path: string): string {
  const stats = tryOr(undefined, () => statSync(path, { throwIfNoEntry: false }));
  return stats === undefined ? '' : `${stats.ino} ${stats.size} ${stats.mtimeMs}`;
}
