import { type AttemptFilter, type AttemptReference, attemptsOf } from '../../../service/history/attempts.ts';
import { isGoingOn, type LogView } from '../../../service/history/log-view.ts';
import type { PastRun } from '../../../service/history/past-run.ts';
import type { LogChunk } from '../../../store/store.ts';
import type { LogFiles } from '../parts.ts';

/** Which lines of which attempts are wanted; `stream` is null for both. */
export type TailRequest = {
  readonly filter: AttemptFilter;
  readonly stream: LogChunk['stream'] | null;
  readonly lines: number;
};

/**
 * Where to begin so that only the last lines of all that is stored are shown. It is read from its end, and no further than it
 * takes, so that the last lines of a huge log cost no more than those of a small one.
 */
export function tailStart(
  run: PastRun,
  { filter, stream, lines }: TailRequest,
  files: LogFiles,
): NonNullable<LogView['start']> {
  const starts = new Map<string, number>();
  let left = lines;
  const pathOf = ({ step, attempt }: AttemptReference, name: LogChunk['stream']) => {
    const paths = run.stored?.logPaths(step, attempt);
    return name === 'stdout' ? paths?.stdoutPath : paths?.stderrPath;
  };
  for (const attempt of [...attemptsOf(run, filter)].reverse()) {
    for (const name of ['stderr', 'stdout'] as const) {
      const path = stream === null || stream === name ? pathOf(attempt, name) : undefined;
      if (path === undefined || left === 0) continue;
      const { offset, found } = files.findTail(path, left);
      left -= found;
      starts.set(key(attempt, name), offset);
    }
    if (left === 0) break;
  }
  return (attempt, name) => {
    const start = starts.get(key(attempt, name));
    if (start !== undefined || !isGoingOn(run, attempt)) return start ?? null;
    return files.size(pathOf(attempt, name) ?? '');
  };
}

function key({ step, attempt }: AttemptReference, stream: LogChunk['stream']): string {
  return `${stream} ${attempt} ${step}`;
}
