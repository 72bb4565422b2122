import { closeSync } from 'node:fs';
import { type HandlerKind, handlerName, type Workflow } from '../../../core/workflow.ts';
import type { AttemptLog } from '../../../executors/executor.ts';
import type { LogPaths } from '../../store.ts';
import { errorCode, makePrivateDirectory, openPrivate, storing } from '../disk/private-files.ts';

const handlerOrder: readonly HandlerKind[] = ['success', 'failure', 'cancel', 'exit'];
const longestSlug = 60;

/** The log files of one run, two per attempt: `00003-load-rows.2.out` and `.err`. */
export type RunLogs = {
  /** Throws a plain error for a name that is neither a step nor a handler. */
  readonly paths: (step: string, attempt: number) => LogPaths;
  readonly open: (step: string, attempt: number) => AttemptLog;
};

/** Logs in their own directory, which is created with the first of them if missing. */
export function createRunLogs(directory: string, workflow: Workflow): RunLogs {
  let stems: ReadonlyMap<string, string> | null = null;
  const paths = (step: string, attempt: number): LogPaths => {
    stems ??= fileStems(workflow);
    const stem = stems.get(step);
    if (stem === undefined) throw new Error(`there is no step "${step}"`);
    // Not `join`, which would parse a long path again for each of the three callers per attempt.
    const path = `${directory}/${stem}.${attempt}`;
    return { stdoutPath: `${path}.out`, stderrPath: `${path}.err` };
  };
  return { paths, open: (step, attempt) => openBoth(paths(step, attempt), directory) };
}

/** Returns a function that recognizes the file names of a run's logs. */
export function logFilePattern(workflow: Workflow): (name: string) => boolean {
  const stems = new Set(fileStems(workflow).values());
  return (name) => stems.has(/^(.+)\.\d+\.(?:out|err)$/.exec(name)?.[1] ?? '');
}

/** A name as a part of a file name: ASCII without spaces and without a leading dot. */
export function slug(name: string, otherwise: string): string {
  const ascii = name.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[-.]+/, '');
  return ascii.slice(0, longestSlug).replace(/-+$/, '') || otherwise;
}

/** Steps are numbered from 1 in the order of the file, followed by handlers, so that no two names share a file. */
function fileStems({ steps }: Workflow): ReadonlyMap<string, string> {
  const names = [...steps.map(({ name }) => name), ...handlerOrder.map(handlerName)];
  return new Map(names.map((name, index) => [name, `${String(index + 1).padStart(5, '0')}-${slug(name, 'step')}`]));
}

function openBoth(paths: LogPaths, directory: string): AttemptLog {
  const stdoutFd = openLogFile(paths.stdoutPath, directory);
  try {
    return { ...paths, isDirect: true, stdoutFd, stderrFd: openLogFile(paths.stderrPath, directory) };
  } catch (error) {
    closeSync(stdoutFd);
    throw error;
  }
}

function openLogFile(path: string, directory: string): number {
  return storing('open', path, () => {
    try {
      return openPrivate(path, 'a+');
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
      makePrivateDirectory(directory);
      return openPrivate(path, 'a+');
    }
  });
}
