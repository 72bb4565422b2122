import { join } from 'node:path';
import { slug } from './logs/run-logs.ts';

/** The path of a run's events. */
export function journalPath(directory: string): string {
  return join(directory, 'journal.jsonl');
}

/** The path of files that serve the run only while it goes on. */
export function scratchPath(directory: string): string {
  return join(directory, 'scratch');
}

/** The path of what a waiting run is to begin with; it serves the run, so it goes with what else does. */
export function launchPath(directory: string): string {
  return join(scratchPath(directory), 'launch.json');
}

/** The path of the last request to stop a run. */
export function stopPath(directory: string): string {
  return join(directory, 'stop.json');
}

/** The path of what the process that carries a run has to say for itself. */
export function processLogPath(directory: string): string {
  return join(directory, 'process.log');
}

/** The directory of a run's logs below the `logDir` that its workflow asks for. */
export function outsideLogs(logDir: string, workflow: string, runId: string): string {
  return join(logDir, slug(workflow, 'workflow'), runId);
}

/** The directory of a run's logs, given the one outside that its snapshot names. */
export function logsPath(directory: string, outside: string | null): string {
  return outside ?? join(directory, 'logs');
}
