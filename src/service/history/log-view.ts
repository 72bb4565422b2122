import type { StoredEvent } from '../../core/run/run.ts';
import { isSettled, stepState } from '../../core/run/run-state.ts';
import type { LogChunk, LogFollower, LogFollowerOptions } from '../../store/store.ts';
import { type AttemptFilter, type AttemptReference, attemptsOf } from './attempts.ts';
import type { PastRun } from './past-run.ts';

/** A consumer of logs. */
export type LogReader = {
  /** Receives a chunk, whose bytes are valid only until this method returns. */
  readonly push: (chunk: LogChunk) => void;
  /** Called when the attempt at the step has finished. */
  readonly end: (step: string) => void;
  /** Called after the stored output; later output comes as it is written. */
  readonly release: () => void;
  /** Whether the buffer is full, so that no more chunks should be pushed. */
  readonly isBehind: () => boolean;
  /** Resolves when the buffer has room again, or the reader is closed. */
  readonly caughtUp: () => Promise<void>;
  /** Whether the reader is closed. */
  readonly isClosed: () => boolean;
};

/** The selection of a run's logs, and the functions that read them. */
export type LogView = {
  readonly filter: AttemptFilter;
  /** Null: both. */
  readonly stream: LogChunk['stream'] | null;
  /** Returns the first byte of a stored stream to show; null: skip the stream, it is complete. Default: show everything. */
  readonly start?: (attempt: AttemptReference, stream: LogChunk['stream']) => number | null;
  readonly reader: LogReader;
  /** Ends following. */
  readonly signal: AbortSignal;
  /** Reads a log from an offset to its present end; a chunk is valid only until the next is requested. */
  readonly readLog: (path: string, offset: number) => Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
  readonly followLogs: (options: LogFollowerOptions) => LogFollower;
  /** Yields the events after those in `run`, until the run has finished or the signal is aborted. */
  readonly follow: (run: PastRun, signal: AbortSignal) => AsyncIterable<StoredEvent>;
};

type Read = AttemptReference & { readonly stdout: number; readonly stderr: number };

/** Pushes the stored logs: attempt by attempt, standard output before standard error. */
export async function showLogs(run: PastRun, view: LogView): Promise<readonly Read[]> {
  const read: Read[] = [];
  for (const attempt of attemptsOf(run, view.filter)) {
    const stdout = await showStream(run, { ...attempt, stream: 'stdout' }, view);
    const stderr = await showStream(run, { ...attempt, stream: 'stderr' }, view);
    read.push({ ...attempt, stdout, stderr });
    if (!isGoingOn(run, attempt)) view.reader.end(attempt.step);
  }
  view.reader.release();
  return read;
}

/** Pushes the stored logs and then new output, until the run has finished or the reader is closed. */
export async function followLogs(run: PastRun, view: LogView): Promise<void> {
  const { reader } = view;
  const follower = view.followLogs({ deliver: (chunk) => deliver(chunk, view), isBlocked: reader.isBehind });
  try {
    for (const { step, attempt, ...offsets } of await showLogs(run, view)) {
      const paths = run.stored?.logPaths(step, attempt);
      if (paths && isGoingOn(run, { step, attempt })) follower.follow(step, attempt, paths, offsets);
    }
    await followEvents(run, follower, view);
  } finally {
    follower.close();
  }
}

async function followEvents(run: PastRun, follower: LogFollower, view: LogView): Promise<void> {
  const { filter, reader, signal } = view;
  for await (const event of view.follow(run, signal)) {
    if (event.type !== 'step.started' && event.type !== 'step.waiting' && event.type !== 'step.finished') continue;
    const { step, attempt } = event;
    if (filter.step !== null && step !== filter.step) continue;
    if (typeof filter.attempt === 'number' && filter.attempt !== attempt) continue;
    const paths = run.stored?.logPaths(step, attempt);
    if (event.type === 'step.started') {
      if (paths) follower.follow(step, attempt, paths);
    } else {
      while (!follower.finish(step, attempt)) await reader.caughtUp();
      reader.end(step);
    }
  }
}

type StoredStream = AttemptReference & Pick<LogChunk, 'stream'>;

/** Pushes one stored stream and returns the offset that was reached. */
async function showStream({ stored }: PastRun, { stream, ...attempt }: StoredStream, view: LogView): Promise<number> {
  const paths = stored?.logPaths(attempt.step, attempt.attempt);
  const start = view.start === undefined ? 0 : view.start(attempt, stream);
  if (paths === undefined || start === null || (view.stream ?? stream) !== stream) return 0;
  let offset = start;
  for await (const bytes of view.readLog(stream === 'stdout' ? paths.stdoutPath : paths.stderrPath, start)) {
    offset += bytes.length;
    deliver({ ...attempt, stream, bytes }, view);
    if (view.reader.isClosed()) break;
    if (view.reader.isBehind()) await view.reader.caughtUp();
  }
  return offset;
}

function deliver(chunk: LogChunk, { stream, reader }: LogView): void {
  if (stream === null || stream === chunk.stream) reader.push(chunk);
}

/** Whether the attempt is running, so that more output may follow. */
export function isGoingOn({ state }: PastRun, { step, attempt }: AttemptReference): boolean {
  const present = stepState(state, step);
  return !isSettled(present) && present.status !== 'waiting' && present.attempt === attempt;
}
