import type { LogPaths } from '../../store/store.ts';
import { segment } from '../daemon-client.ts';

/** Returns the API paths of the output of one attempt. */
export function remoteLogPaths(runId: string, step: string, attempt: number): LogPaths {
  const path = `/runs/${segment(runId)}/steps/${segment(step)}/logs?attempt=${attempt}`;
  return { stdoutPath: `${path}&stream=stdout`, stderrPath: `${path}&stream=stderr` };
}
