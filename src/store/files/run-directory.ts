import { join } from 'node:path';
import { WfError } from '#system/errors.ts';
import { slug } from './logs/run-logs.ts';

/** The path of a run's events. Not joined by `join`, which takes a third of the time of looking at a journal. */
export function journalPath(directory: string): string {
  return `${directory}/journal.jsonl`;
}

/** The path of files that a run needs only while it is active. */
export function scratchPath(directory: string): string {
  return join(directory, 'scratch');
}

/** The path of a waiting run's launch data; it is removed with the run's other scratch files. */
export function launchPath(directory: string): string {
  return join(scratchPath(directory), 'launch.json');
}

/** The path of the last request to stop a run. */
export function stopPath(directory: string): string {
  return join(directory, 'stop.json');
}

/** The path of the output of a run's carrier. */
export function processLogPath(directory: string): string {
  return join(directory, 'process.log');
}

/** The directory of a run's logs below the `logDir` of its workflow. */
export function outsideLogs(logDir: string, workflow: string, runId: string): string {
  return join(logDir, slug(workflow, 'workflow'), runId);
}

/** The directory of a run's logs, given the directory outside that its snapshot names. */
export function logsPath(directory: string, outside: string | null): string {
  return outside ?? join(directory, 'logs');
}

/**
 * Whether a text is a valid run id, which is also a directory name: 1 to 128 of `A-Z a-z 0-9 . _ -`, not starting with
 * a dot, which would hide it, nor with a dash, which a command would take for an option.
 */
export function isRunId(text: string): boolean {
  return /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/.test(text);
}

/** Throws a `WfError` `usage` for an invalid run id. */
export function checkRunId(text: string): void {
  if (isRunId(text)) return;
  throw new WfError('usage', `"${text}" is not a valid run id`, {
    help: 'An id is 1 to 128 characters of A-Z a-z 0-9 . _ - and starts with a letter, a digit or "_".',
  });
}

/** The creation time in a UUID of version 7, in milliseconds since 1970; null for any other id. */
export function timeOfId(runId: string): number | null {
  const uuid = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i.exec(runId);
  return uuid === null ? null : Number.parseInt(`${uuid[1]}${uuid[2]}`, 16);
}
