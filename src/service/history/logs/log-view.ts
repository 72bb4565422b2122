import { isNamed, namedStep } from '#core/fan-out/instance-name.ts';
import { attemptKey, endsAttempt } from '#core/run/outcome.ts';
import type { StoredEvent } from '#core/run/run.ts';
import { isFinished, isSettled, stepState } from '#core/run/run-state.ts';
import { findTail, includesLog } from '#store/log-ends.ts';
import type { LogChunk, LogFollower, LogStream, LogTime, RunLogs } from '#store/logs.ts';
import { WfError } from '#system/errors.ts';
import { didYouMean, nearNames } from '#system/near-names.ts';
import type { PastRun } from '../past-run.ts';

/** A consumer of logs. */
export type LogReader = {
  /** Receives a chunk, whose bytes are valid only until this method returns. */
  readonly push: (chunk: LogChunk) => void;
  /** Called when the attempt at the step has finished. */
  readonly end: (step: string) => void;
  /** Called after the stored output; later output comes as it is written. */
  readonly release: () => void;
  readonly isBehind: () => boolean;
  /** Resolves when the buffer has room again, or the reader is closed. */
  readonly caughtUp: () => Promise<void>;
  readonly isClosed: () => boolean;
};

type StoredView = {
  readonly filter: AttemptFilter;
  /** Null: all. */
  readonly stream: LogStream | null;
  /** Where the stored streams start. Default: all of them are shown. */
  readonly start?: LogStart;
  /** The present time, if chunks shall have times. */
  readonly now?: (() => number) | undefined;
  readonly reader: LogReader;
};

/** A view that continues with new output. */
export type LogView = StoredView & {
  readonly signal: AbortSignal;
  readonly follow: (run: PastRun, signal: AbortSignal) => AsyncIterable<StoredEvent>;
};

/** Returns the first byte of a stored stream to show; null: skip the stream, it is complete. */
type LogStart = (attempt: AttemptReference, stream: LogStream) => number | null;

type Read = AttemptReference & { readonly stdout: number; readonly stderr: number };

type LogSelection = Pick<StoredView, 'filter' | 'stream' | 'now'> & {
  /** The number of last stored lines to show; null: all. */
  readonly tail: number | null;
  readonly follows: boolean;
};

/** Pushes the selected logs of a run, from their last lines on if asked for, and what follows. */
export async function readLogs(
  run: PastRun,
  { tail, follows, ...selected }: LogSelection,
  feed: Pick<LogView, 'reader' | 'signal' | 'follow'>,
): Promise<void> {
  const start = tail === null ? {} : { start: await tailStart(run, selected, tail) };
  const view = { ...feed, ...selected, ...start };
  if (follows && !isFinished(run.state)) await followLogs(run, view);
  else await showLogs(run, view);
}

/** Pushes the stored logs: attempt by attempt, and of two logs standard output first. */
export async function showLogs(run: LoggedRun, view: StoredView): Promise<readonly Read[]> {
  const read: Read[] = [];
  const timesOf = view.now === undefined ? null : createLogTimes(run, view.now);
  for (const attempt of attemptsOf(run, view.filter)) {
    const offsets = { stdout: 0, stderr: 0 };
    for (const stream of (await run.stored?.logs.streams(attempt.step, attempt.attempt)) ?? []) {
      const times = (await timesOf?.(attempt, stream)) ?? null;
      const reached = await showStream(run, { ...attempt, stream, times }, view);
      offsets[stream === 'stderr' ? 'stderr' : 'stdout'] = reached;
    }
    read.push({ ...attempt, ...offsets });
    if (!isGoingOn(run, attempt)) view.reader.end(attempt.step);
    if (view.reader.isClosed()) break;
  }
  view.reader.release();
  return read;
}

/** Pushes the stored logs and then new output, until the run has finished or the reader is closed. */
export async function followLogs(run: PastRun, view: LogView): Promise<void> {
  const { reader } = view;
  const follower = run.stored?.logs.follow({
    deliver: ({ at, ...chunk }) => deliver(view.now === undefined ? chunk : { ...chunk, at: at ?? view.now() }, view),
    isBlocked: reader.isBehind,
  });
  try {
    for (const { step, attempt, ...offsets } of await showLogs(run, view)) {
      if (isGoingOn(run, { step, attempt })) follower?.follow(step, attempt, offsets);
    }
    await followEvents(run, follower ?? null, view);
  } finally {
    follower?.close();
  }
}

async function followEvents(run: PastRun, follower: LogFollower | null, view: LogView): Promise<void> {
  const { filter, reader, signal } = view;
  const isWanted = isSelected(run, filter);
  for await (const event of view.follow(run, signal)) {
    if (event.type !== 'step.started' && !endsAttempt(event)) continue;
    const { step, attempt } = event;
    if (!isWanted(step)) continue;
    if (typeof filter.attempt === 'number' && filter.attempt !== attempt) continue;
    if (event.type === 'step.started') {
      follower?.follow(step, attempt);
    } else {
      while (follower?.finish(step, attempt) === false && !reader.isClosed()) await reader.caughtUp();
      if (reader.isClosed()) return;
      reader.end(step);
    }
  }
}

type StoredStream = AttemptReference & Pick<LogChunk, 'stream'> & { readonly times: readonly LogTime[] | null };

async function showStream(
  { stored }: LoggedRun,
  { stream, times, ...attempt }: StoredStream,
  view: StoredView,
): Promise<number> {
  const start = view.start === undefined ? 0 : view.start(attempt, stream);
  if (stored === null || start === null || !includesLog(view.stream, stream)) return 0;
  let offset = start;
  for await (const bytes of stored.logs.file(attempt.step, attempt.attempt, stream).read(start)) {
    if (view.now === undefined) deliver({ ...attempt, stream, bytes }, view);
    else for (const part of timedParts(bytes, offset, times)) deliver({ ...attempt, stream, ...part }, view);
    offset += bytes.length;
    if (view.reader.isClosed()) break;
    if (view.reader.isBehind()) await view.reader.caughtUp();
  }
  return offset;
}

function deliver(chunk: LogChunk, { stream, reader }: StoredView): void {
  if (includesLog(stream, chunk.stream)) reader.push(chunk);
}

/** Returns the starts at which only the last lines of all that is stored are shown. Reads the logs from their ends. */
export async function tailStart(
  run: LoggedRun,
  { filter, stream }: Pick<LogView, 'filter' | 'stream'>,
  lines: number,
): Promise<LogStart> {
  const starts = new Map<string, number>();
  const attempts = attemptsOf(run, filter);
  if (run.stored === null) return () => null;
  const { logs } = run.stored;
  let left = lines;
  for (const attempt of attempts.toReversed()) {
    for (const name of (await logs.streams(attempt.step, attempt.attempt)).toReversed()) {
      if (!includesLog(stream, name)) continue;
      const isRunning = isGoingOn(run, attempt);
      // The lines are complete, and this stream no longer grows.
      if (left === 0 && !isRunning) continue;
      const file = logs.file(attempt.step, attempt.attempt, name);
      // Readers get the unfinished line of a running attempt when it ends.
      const { offset, found } = await findTail(file, left, { onlyWhole: isRunning });
      left -= found;
      starts.set(`${name} ${attemptKey(attempt)}`, offset);
    }
  }
  return (attempt, name) => starts.get(`${name} ${attemptKey(attempt)}`) ?? null;
}

/** Whether the attempt is running, so that more output may follow. */
export function isGoingOn({ state }: LoggedRun, { step, attempt }: AttemptReference): boolean {
  const present = stepState(state, step);
  return !isSettled(present) && present.status !== 'waiting' && present.attempt === attempt;
}

/** A longer attempt without recorded times of output is from a version that did not record them. */
const LONGEST_WITHOUT_NOTES_MS = 1000;

/**
 * Returns a function that returns when a log of an attempt grew: the sizes that it had reached, in ascending order. What
 * is beyond the last of them, or all if there is none, has no known time.
 */
export function createLogTimes(
  { stored }: LoggedRun,
  now: () => number,
): (attempt: AttemptReference, stream: LogStream) => Promise<readonly LogTime[]> {
  const spans = new Map<string, { readonly from: number; to: number | null }>();
  for (const event of stored?.events ?? []) {
    if (event.type === 'step.started') spans.set(attemptKey(event), { from: event.at, to: null });
    else if (endsAttempt(event)) {
      const span = spans.get(attemptKey(event));
      if (span !== undefined) span.to ??= event.at;
    }
  }
  return async ({ step, attempt }, stream) => {
    const notes = (await stored?.logs.times(step, attempt, stream)) ?? null;
    const span = spans.get(attemptKey({ step, attempt }));
    if (span === undefined) return notes ?? [];
    const { from, to } = span;
    if (to === null) return [...(notes ?? []), [Number.POSITIVE_INFINITY, now()]];
    if (notes !== null) return notes;
    return to - from > LONGEST_WITHOUT_NOTES_MS ? [] : [[Number.POSITIVE_INFINITY, to]];
  };
}

/** Splits the bytes of a log from `offset` on where the time changes. */
export function* timedParts(
  bytes: Uint8Array,
  offset: number,
  times: readonly LogTime[] | null,
): Generator<Required<Pick<LogChunk, 'bytes' | 'at'>>> {
  const end = offset + bytes.length;
  let index = times === null ? 0 : firstBeyond(times, offset);
  for (let from = offset; from < end; index += 1) {
    const [size, at] = times?.[index] ?? [end, null];
    const to = Math.min(size, end);
    yield { bytes: bytes.subarray(from - offset, to - offset), at };
    from = to;
  }
}

/** The index of the first time of a size of more than `offset`. */
function firstBeyond(times: readonly LogTime[], offset: number): number {
  let [from, to] = [0, times.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((times[middle]?.[0] ?? 0) > offset) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** A run with its logs, on this machine or of a daemon; `stored` is null if its stored workflow is lost. */
export type LoggedRun = Pick<PastRun, 'state'> & {
  readonly stored: { readonly events: readonly StoredEvent[]; readonly logs: RunLogs } | null;
};

/** One attempt at one step or handler. */
export type AttemptReference = { readonly step: string; readonly attempt: number };

/** Selects attempts; null: of all steps, and all attempts of each. `only`: of these nodes of the step. */
export type AttemptFilter = {
  readonly step: string | null;
  readonly attempt: number | 'last' | null;
  readonly only?: ReadonlySet<string> | null;
};

/** Returns attempts in the order of their starts. Throws `not-found` for an unknown step or attempt. */
export function attemptsOf(run: LoggedRun, filter: AttemptFilter): readonly AttemptReference[] {
  if (filter.step !== null) requireStep(run, filter.step);
  const isWanted = isSelected(run, filter);
  const begun = (run.stored?.events ?? []).flatMap((event) =>
    event.type === 'step.started' && isWanted(event.step) ? [{ step: event.step, attempt: event.attempt }] : [],
  );
  const last = new Map(begun.map(({ step, attempt }) => [step, attempt]));
  const wanted = (step: string) => (filter.attempt === 'last' ? last.get(step) : filter.attempt);
  const chosen = begun.filter(({ step, attempt }) => attempt === (wanted(step) ?? attempt));
  if (typeof filter.attempt === 'number' && chosen.length === 0 && (filter.step !== null || begun.length > 0)) {
    throw new WfError('not-found', attemptsHad(filter.step, [...last.values()]));
  }
  return chosen;
}

function isSelected({ state }: LoggedRun, { step, only = null }: AttemptFilter): (step: string) => boolean {
  const isWanted = isNamed(state, step);
  return (name) => isWanted(name) && (only === null || only.has(name));
}

/** `last`: the number of attempts of the step, of each instance of a fan-out, or of all steps. */
function attemptsHad(step: string | null, last: readonly number[]): string {
  const most = last.reduce((one, other) => Math.max(one, other), 0);
  const attempts = `${most} ${most === 1 ? 'attempt' : 'attempts'}`;
  return step === null ? `no step had more than ${attempts} in this run` : `step "${step}" had ${attempts} in this run`;
}

function requireStep({ state, stored }: LoggedRun, step: string): void {
  if (namedStep(state, step) !== null) return;
  if (stored === null)
    throw new WfError('not-found', 'the stored workflow of the run is lost, and with it the locations of its logs');
  const names = state.graph.nodes.filter(({ instanceOf }) => instanceOf === undefined).map(({ name }) => name);
  // An instance is suggested, but not listed: there may be very many.
  throw new WfError('not-found', `the run has no step "${step}"`, {
    help: didYouMean(nearNames(step, [...state.graph.index.keys()])) || `its steps: ${names.join(', ')}`,
  });
}
