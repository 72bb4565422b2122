import { closeSync } from 'node:fs';
import { type HandlerKind, handlerName, type Workflow } from '../../../core/workflow.ts';
import type { AttemptLog } from '../../../executors/executor.ts';
import type { LogPaths } from '../../store.ts';
import { errorCode, makePrivateDirectory, openPrivate, storing } from '../disk/private-files.ts';

const handlerOrder: readonly HandlerKind[] = ['success', 'failure', 'cancel', 'exit'];
const longestSlug = 60;

/** The log files of one run, two for each attempt: `00003-load-rows.2.out` and `.err`. */
export type RunLogs = {
  /** Throws a plain error for a name that is neither a step nor a handler. */
  readonly paths: (step: string, attempt: number) => LogPaths;
  readonly open: (step: string, attempt: number) => AttemptLog;
};

/** Logs in a directory of their own, which is made with the first of them where it is missing. */
export function createRunLogs(directory: string, workflow: Workflow): RunLogs {
  let stems: ReadonlyMap<string, string> | null = null;
  const paths = (step: string, attempt: number): LogPaths => {
    stems ??= fileStems(workflow);
    const stem = stems.get(step);
    if (stem === undefined) throw new Error(`no step is called "${step}"`);
    // Not `join`, which takes apart a long path anew for each of the three who ask about every attempt.
    const path = `${directory}/${stem}.${attempt}`;
    return { stdoutPath: `${path}.out`, stderrPath: `${path}.err` };
  };
  return { paths, open: (step, attempt) => openBoth(paths(step, attempt), directory) };
}

/** Tells which names of files are those of a run's logs. */
export function logFilePattern(workflow: Workflow): (name: string) => boolean {
  const stems = new Set(fileStems(workflow).values());
  return (name) => stems.has(/^(.+)\.\d+\.(?:out|err)$/.exec(name)?.[1] ?? '');
}

/** A name as a part of a file name: ASCII without spaces and without a leading dot. */
export function slug(name: string, otherwise: string): string {
  const ascii = name.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[-.]+/, '');
  return ascii.slice(0, longestSlug).replace(/-+$/, '') || otherwise;
}

/** Steps are numbered from 1 in the order of the file, handlers after them, so that no two names share a file. */
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
