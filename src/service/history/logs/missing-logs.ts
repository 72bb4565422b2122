import { existsSync } from 'node:fs';
import { type AttemptFilter, attemptsOf, type LoggedRun } from '../attempts.ts';
import { isGoingOn } from './log-view.ts';

/** Returns a warning about logs on this machine that no longer exist; null if all do. */
export function missingLogs(run: LoggedRun, filter: AttemptFilter): string | null {
  const paths = attemptsOf(run, filter)
    .filter((attempt) => !isGoingOn(run, attempt))
    .map(({ step, attempt }) => run.stored?.logs.file(step, attempt, 'output').path ?? null);
  const [path, ...others] = paths.filter((each) => each !== null && !existsSync(each));
  if (path === undefined) return null;
  const missing =
    others.length === 0 ? `${path} no longer exists` : `${path} and ${others.length} more no longer exist`;
  return `warning: ${missing}`;
}
