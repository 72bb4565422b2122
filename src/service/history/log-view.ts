import type { StoredEvent } from '../../core/run/run.ts';
import { isSettled, stepState } from '../../core/run/run-state.ts';
import type { LogChunk, LogFollower, LogFollowerOptions } from '../../store/store.ts';
import { type AttemptFilter, type AttemptReference, attemptsOf } from './attempts.ts';
import type { PastRun } from './past-run.ts';

/** Who reads logs. */
export type LogReader = {
  /** Bytes are valid only until it returns. */
  readonly push: (chunk: LogChunk) => void;
  /** The attempt at the step is over. */
  readonly end: (step: string) => void;
  /** What was stored is through; from here on it comes as it is written. */
  readonly release: () => void;
  /** So much is on its way that nothing new should come. */
  readonly isBehind: () => boolean;
  /** Resolves when that is no longer so, and when nobody reads any more. */
  readonly caughtUp: () => Promise<void>;
  /** Nobody reads any more. */
  readonly isClosed: () => boolean;
};

/** What is shown of the logs of a run, and how it is come by. */
export type LogView = {
  readonly filter: AttemptFilter;
  /** Null: both. */
  readonly stream: LogChunk['stream'] | null;
  /** From which byte on a stored stream is shown; null: nothing of it, and it is over. By default all is shown. */
  readonly start?: (attempt: AttemptReference, stream: LogChunk['stream']) => number | null;
  readonly reader: LogReader;
  /** Ends the following. */
  readonly signal: AbortSignal;
  /** Bytes of a log from an offset up to where it ends now; a chunk is valid only until the next is asked for. */
  readonly readLog: (path: string, offset: number) => Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
  readonly followLogs: (options: LogFollowerOptions) => LogFollower;
  /** What happens to the run behind what was read of it, until it is over or the signal is aborted. */
  readonly follow: (run: PastRun, signal: AbortSignal) => AsyncIterable<StoredEvent>;
};

type Read = AttemptReference & { readonly stdout: number; readonly stderr: number };

/** Shows what is stored: attempt after attempt, of each first standard output and then standard error. */
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

/** Shows what is stored and then what comes, until the run is over or nobody reads any more. */
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

/** Answers up to where the stream was read. */
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

/** Whether that attempt is under way, so that more can come of it. */
export function isGoingOn({ state }: PastRun, { step, attempt }: AttemptReference): boolean {
  const present = stepState(state, step);
  return !isSettled(present) && present.status !== 'waiting' && present.attempt === attempt;
}
