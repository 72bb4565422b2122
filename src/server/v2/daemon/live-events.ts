import type { PastRun } from '#service/history.ts';
import type { Change, LiveChanges } from '#service/served.ts';
import type { ListedWorkflow } from '#service/workflows.ts';
import type { Clock } from '#system/clock.ts';
import {
  beat,
  comeBackLine,
  eventFrame,
  eventStreamHeaders,
  type StreamWriter,
  streamReply,
} from '../../reply/event-stream.ts';
import { type ApiRequest, type Handler, type Reply, readQuery } from '../../route.ts';
import { namedRun, type V2Parts } from '../v2-parts.ts';
import { createWorkflowItems } from '../workflows/workflow-pages.ts';
import { nextMoments } from './daemon-routes.ts';
import { RunPart } from './run-part.ts';

/** The shortest interval between two batches of changes to a reader, in milliseconds. */
const PAUSE_MS = 100;

/** `GET /api/v2/events`. */
export function followAll(parts: V2Parts): Handler {
  const frames = createLiveFrames(parts);
  return async ({ query, headers, access }: ApiRequest): Promise<Reply> => {
    const { run: word, after, instances, follow: isEndless } = readQuery('followAll', query);
    const run = word === null ? null : await namedRun(word, parts);
    const given = String(headers['last-event-id'] ?? '') || after;
    return streamReply(eventStreamHeaders, parts, (writer, signal) =>
      sendLive({ run, given, instances, isEndless, access, writer, signal }, frames, parts),
    );
  };
}

type Reading = {
  readonly run: PastRun | null;
  /** The cursor of a client that reconnects; null for a new one. */
  readonly given: string | null;
  readonly instances: 'all' | 'changed';
  readonly isEndless: boolean;
  readonly access: ApiRequest['access'];
  readonly writer: StreamWriter;
  readonly signal: AbortSignal;
};

async function sendLive(reading: Reading, frames: LiveFrames, parts: V2Parts): Promise<void> {
  const { run, given, instances, isEndless, writer, signal } = reading;
  const { changes, clock } = parts;
  const cursor = given === null ? null : readLiveCursor(given, changes);
  const wakeups = createPacedWakeups(signal, clock, PAUSE_MS);
  const options = { onlyChanged: instances === 'changed', signal, wake: wakeups.wake };
  const part = run && new RunPart({ ...options, run, after: runAfter(cursor, run) }, parts);
  const leave = await changes.join(wakeups.wake, part);
  // An event, since pages cannot see comments: without it they would not notice a dead connection.
  const stop = beat(writer, clock, () => eventFrame({ event: 'daemon', data: daemonText(changes) }));
  try {
    writer.write(comeBackLine);
    const isUnknown = given !== null && (cursor === null || changes.since(cursor.position) === null);
    let position = cursor === null || isUnknown ? changes.position() : cursor.position;
    if (isUnknown) writer.write(resetFrame(cursorOf(position, part, changes), cursor === null ? 'unknown' : 'too-old'));
    writer.write(await frames({ kind: 'daemon' }, reading.access, cursorOf(position, part, changes)));
    while (!writer.isClosed()) {
      position = await sendChanges(position, part, { ...reading, frames }, parts);
      if (!isEndless) return;
      await wakeups.next();
    }
  } finally {
    part?.close();
    leave();
    stop();
  }
}

/** Without a position in the journal of this run, a reconnecting client gets every step. */
function runAfter(cursor: LiveCursor | null, { stored }: PastRun): number | null {
  if (cursor === null) return null;
  const last = stored?.events.at(-1)?.seq ?? 0;
  return cursor.run === null || cursor.run > last ? 0 : cursor.run;
}

/** Returns the position up to which everything has been sent. */
async function sendChanges(
  from: number,
  part: RunPart | null,
  { writer, access, frames }: Reading & { readonly frames: LiveFrames },
  { changes, runIndex }: V2Parts,
): Promise<number> {
  const missed = changes.since(from);
  let position = from;
  if (missed === null) {
    position = changes.position();
    writer.write(resetFrame(cursorOf(position, part, changes), 'too-old'));
  }
  for (const { position: own, change } of missed ?? []) {
    if (writer.isBehind()) await writer.caughtUp();
    if (writer.isClosed()) return position;
    if (change.kind === 'workflow') await runIndex.recent.read([change.file]);
    position = own;
    writer.write(await frames(change, access, cursorOf(position, part, changes)));
  }
  const before = part?.position;
  for (const frame of part?.take() ?? []) {
    if (writer.isBehind()) await writer.caughtUp();
    if (writer.isClosed()) return position;
    writer.write(frame);
  }
  // A frame without data is not an event, but the client keeps the cursor.
  if (part?.position !== before) writer.write(`id: ${cursorOf(position, part, changes)}\n\n`);
  return position;
}

function cursorOf(position: number, part: RunPart | null, changes: V2Parts['changes']): string {
  return liveCursorText(changes, { position, run: part?.position ?? null });
}

function resetFrame(id: string, why: 'unknown' | 'too-old'): string {
  return eventFrame({ id, event: 'reset', data: JSON.stringify({ why }) });
}

/** A position in the stream of all changes, and in the journal of the followed run. */
type LiveCursor = { readonly position: number; readonly run: number | null };

/** The cursor as an opaque text. */
export function liveCursorText({ epoch }: Pick<LiveChanges, 'epoch'>, { position, run }: LiveCursor): string {
  return run === null ? `${epoch}.${position}` : `${epoch}.${position}.${run}`;
}

/** Parses a cursor; null if this daemon did not create it. */
function readLiveCursor(text: string, { epoch }: Pick<LiveChanges, 'epoch'>): LiveCursor | null {
  const [, of, position = '', run] = /^([0-9a-f]+)\.(\d{1,15})(?:\.(\d{1,15}))?$/.exec(text) ?? [];
  return of === epoch ? { position: Number(position), run: run === undefined ? null : Number(run) } : null;
}

/** Converts changes to events: the new state of each changed item, as in the lists. */
type LiveFrames = (change: Change, access: ApiRequest['access'], id: string) => Promise<string>;

/** Cached frames, shared by all streams of a server. */
function createLiveFrames(parts: V2Parts): LiveFrames {
  const items = createWorkflowItems(parts);
  const listedOf = byFile(parts.workflows);
  return async (change, access, id) => {
    switch (change.kind) {
      case 'daemon':
        return eventFrame({ id, event: 'daemon', data: daemonText(parts.changes) });
      case 'queue':
        // Ids of runs, which are separate events. JSON writes an infinite limit as null.
        return eventFrame({ id, event: 'queue', data: JSON.stringify(parts.queue()) });
      case 'schedule':
        return eventFrame({ id, event: 'schedule', data: JSON.stringify(await nextMoments(parts)) });
      case 'run': {
        const run = parts.runIndex.headOf(change.runId);
        if (run !== null) return eventFrame({ id, event: 'run', data: JSON.stringify(run) });
        return eventFrame({ id, event: 'run.removed', data: JSON.stringify({ runId: change.runId }) });
      }
      case 'workflow': {
        const listed = listedOf(change.file);
        if (listed !== null) return eventFrame({ id, event: 'workflow', data: items(listed, access).text });
        return eventFrame({ id, event: 'workflow.removed', data: JSON.stringify({ file: change.file }) });
      }
    }
  };
}

function daemonText(changes: V2Parts['changes']): string {
  return JSON.stringify(changes.daemon());
}

function byFile({ list, version }: V2Parts['workflows']): (file: string) => ListedWorkflow | null {
  let madeOf: number | null = null;
  let files = new Map<string, ListedWorkflow>();
  return (file) => {
    if (madeOf !== version()) files = new Map(list().map((listed) => [listed.file, listed]));
    madeOf = version();
    return files.get(file) ?? null;
  };
}

/** Wakes a loop, which waits for work from several sources, at most once every `pauseMs`, until the signal is aborted. */
export function createPacedWakeups(signal: AbortSignal, clock: Clock, pauseMs: number) {
  let isDue = false;
  let readyAt = clock.now();
  let cancelTimer: (() => void) | null = null;
  let resume: (() => void) | null = null;
  const go = () => {
    cancelTimer?.();
    cancelTimer = null;
    readyAt = clock.now() + pauseMs;
    isDue = false;
    resume?.();
    resume = null;
  };
  const goWhenReady = () => {
    if (resume === null || cancelTimer !== null) return;
    const now = clock.now();
    // A clock that was set back must not prolong the pause.
    if (now >= readyAt) go();
    else cancelTimer = clock.setTimer(Math.min(readyAt, now + pauseMs), go);
  };
  signal.addEventListener('abort', go, { once: true });
  return {
    wake: () => {
      isDue = true;
      goWhenReady();
    },
    /** Resolves after the next call of `wake`, but not before the pause has passed; at once when the stream has ended. */
    next: () =>
      new Promise<void>((resolve) => {
        if (signal.aborted) return resolve();
        resume = resolve;
        if (isDue) goWhenReady();
      }),
  };
}
