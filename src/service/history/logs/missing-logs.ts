import { existsSync } from 'node:fs';
import type { LogStream } from '../../../store/logs.ts';
import { type AttemptFilter, attemptsOf, type LoggedRun } from '../attempts.ts';
import { isGoingOn } from './log-view.ts';

/** Which logs are looked for. */
type Selection = { readonly filter: AttemptFilter; readonly stream: LogStream | null };

/** Returns a warning about logs on this machine that no longer exist; null if all do. */
export function missingLogs(run: LoggedRun, { filter, stream }: Selection): string | null {
  const streams = stream === null ? (['stdout', 'stderr'] as const) : [stream];
  const paths = attemptsOf(run, filter)
    .filter((attempt) => !isGoingOn(run, attempt))
    .flatMap(({ step, attempt }) => streams.map((name) => run.stored?.logs.file(step, attempt, name).path ?? null));
  const [path, ...others] = paths.filter((each) => each !== null && !existsSync(each));
  if (path === undefined) return null;
  const missing =
    others.length === 0 ? `${path} no longer exists` : `${path} and ${others.length} more no longer exist`;
  return `warning: ${missing}`;
}
