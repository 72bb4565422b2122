import type { StoredEvent } from '../../../core/run/run.ts';
import type { PastRun } from '../../../service/history/past-run.ts';
import type { V2Parts } from '../parts.ts';

/** How long a stream of an attempt is by now, in bytes. */
export type LogSize = {
  readonly runId: string;
  readonly step: string;
  readonly attempt: number;
  readonly stream: 'stdout' | 'stderr';
  readonly size: number;
};

/** The sizes of the logs of attempts under way, looked at a few times a second, whatever the steps print. */
export type LogSizes = {
  /** `isPast`: the attempt is of interest only while it runs. */
  readonly add: (event: StoredEvent, options: { readonly isPast: boolean }) => void;
  /** The sizes that have changed since the last call. */
  readonly take: () => Iterable<LogSize>;
  readonly close: () => void;
};

type LogSizesParts = Pick<V2Parts, 'logFiles' | 'clock'> & {
  readonly wake: () => void;
};

const lookMs = 250;
/** Attempts looked at in one look; the others have their turn in the next. */
const MAX_ATTEMPTS_PER_LOOK = 200;
const streams = ['stdout', 'stderr'] as const;

type Attempt = { readonly step: string; readonly attempt: number };

/** Sizes of the attempts of one run. */
export function createLogSizes({ runId, stored }: PastRun, { logFiles, clock, wake }: LogSizesParts): LogSizes {
  const running = new Map<string, Attempt>();
  const known = new Map<string, number>();
  const changed = new Map<string, LogSize>();
  let cancelTimer: (() => void) | null = null;
  const measure = ({ step, attempt }: Attempt) => {
    const paths = stored?.logPaths(step, attempt);
    if (paths === undefined) return;
    for (const stream of streams) {
      const size = logFiles.size(stream === 'stdout' ? paths.stdoutPath : paths.stderrPath);
      const key = `${stream} ${attempt} ${step}`;
      if (size === (known.get(key) ?? 0)) continue;
      known.set(key, size);
      changed.set(key, { runId, step, attempt, stream, size });
    }
  };
  const look = () => {
    cancelTimer = null;
    for (const [key, attempt] of [...running].slice(0, MAX_ATTEMPTS_PER_LOOK)) {
      measure(attempt);
      running.delete(key);
      running.set(key, attempt);
    }
    if (changed.size > 0) wake();
    lookLater();
  };
  const lookLater = () => {
    if (running.size > 0) cancelTimer ??= clock.setTimer(clock.now() + lookMs, look);
  };
  return {
    add: (event, { isPast }) => {
      if (event.type !== 'step.started' && event.type !== 'step.waiting' && event.type !== 'step.finished') return;
      const { step, attempt } = event;
      const key = `${attempt} ${step}`;
      if (event.type === 'step.started') {
        running.set(key, { step, attempt });
        lookLater();
        return;
      }
      running.delete(key);
      if (!isPast) measure({ step, attempt });
      for (const stream of streams) known.delete(`${stream} ${key}`);
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
