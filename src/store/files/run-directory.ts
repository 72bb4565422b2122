import { join } from 'node:path';
import { slug } from './logs/run-logs.ts';

/** The path of a run's events. */
export function journalPath(directory: string): string {
  return join(directory, 'journal.jsonl');
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
