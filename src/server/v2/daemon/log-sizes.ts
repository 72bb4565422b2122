import { endsAttempt } from '#core/run/outcome.ts';
import type { StoredEvent } from '#core/run/run.ts';
import type { PastRun } from '#service/history/past-run.ts';
import type { LogStream } from '#store/logs.ts';
import type { V2Parts } from '../v2-parts.ts';

/** The current size of a stream of an attempt, in bytes. */
export type StreamSize = {
  readonly runId: string;
  readonly step: string;
  readonly attempt: number;
  readonly stream: LogStream;
  readonly size: number;
};

/** The log sizes of running attempts, checked a few times a second regardless of the amount of output. */
export type LogSizes = {
  /** `isPast`: add the attempt only if it is still running. */
  readonly add: (event: StoredEvent, options: { readonly isPast: boolean }) => void;
  /** The sizes that have changed since the last call. */
  readonly take: () => Iterable<StreamSize>;
  readonly close: () => void;
};

type LogSizesParts = Pick<V2Parts, 'clock'> & {
  readonly wake: () => void;
  readonly fail: (error: unknown) => void;
};

const lookMs = 250;
/** Attempts checked at a time; the others are checked next. */
const MAX_ATTEMPTS_PER_LOOK = 200;

type Attempt = { readonly step: string; readonly attempt: number };

/** Creates the sizes for the attempts of one run. */
export function createLogSizes({ runId, stored }: PastRun, { clock, wake, fail }: LogSizesParts): LogSizes {
  const running = new Map<string, Attempt>();
  const known = new Map<string, number>();
  const changed = new Map<string, StreamSize>();
  let cancelTimer: (() => void) | null = null;
  const measure = async ({ step, attempt }: Attempt, isWanted = () => true) => {
    for (const stream of (await stored?.logs.streams(step, attempt)) ?? []) {
      const size = (await stored?.logs.file(step, attempt, stream).size()) ?? 0;
      const key = `${stream} ${attempt} ${step}`;
      if (size === (known.get(key) ?? 0) || !isWanted()) continue;
      known.set(key, size);
      changed.set(key, { runId, step, attempt, stream, size });
    }
  };
  const look = async () => {
    for (const [key, attempt] of [...running].slice(0, MAX_ATTEMPTS_PER_LOOK)) {
      if (!running.delete(key)) continue;
      running.set(key, attempt);
      // The size at its end may be known first.
      await measure(attempt, () => running.has(key));
    }
    cancelTimer = null;
    if (changed.size > 0) wake();
    lookLater();
  };
  const lookLater = () => {
    if (running.size > 0) cancelTimer ??= clock.setTimer(clock.now() + lookMs, () => void look().catch(fail));
  };
  return {
    add: (event, { isPast }) => {
      if (event.type !== 'step.started' && !endsAttempt(event)) return;
      const { step, attempt } = event;
      const key = `${attempt} ${step}`;
      if (event.type === 'step.started') {
        running.set(key, { step, attempt });
        lookLater();
        return;
      }
      running.delete(key);
      const forget = () => {
        for (const stream of ['output', 'stdout', 'stderr']) known.delete(`${stream} ${key}`);
      };
      if (isPast) return forget();
      void measure({ step, attempt }).then(forget).then(wake).catch(fail);
    },
    take: () => {
      const sizes = [...changed.values()];
      changed.clear();
      return sizes;
    },
    close: () => {
      running.clear();
      cancelTimer?.();
    },
  };
}
