import { closeSync } from 'node:fs';
import { splitInstanceName } from '../../../core/fan-out/instance-name.ts';
import { handlerNames, type Workflow } from '../../../core/workflow.ts';
import type { AttemptLog } from '../../../executors/executor.ts';
import { MAX_TEXT_BYTES, tailOf } from '../../log-ends.ts';
import type { LogStore } from '../../logs.ts';
import { errorCode, makePrivateDirectory, openPrivate, storing } from '../disk/private-files.ts';
import { createLogFile, readEnd } from './log-file.ts';
import { createLogFollower, type LogPath } from './log-follower.ts';

const longestSlug = 60;

/**
 * The log files of one run, two per attempt: `00003-load-rows.2.out` and `.err`. They have their own directory, which is
 * created with the first of them if missing.
 */
export function createRunLogs(directory: string, workflow: Workflow): LogStore {
  let stems: ReadonlyMap<string, string> | null = null;
  const pathOf: LogPath = (step, attempt, stream) => {
    stems ??= fileStems(workflow);
    const stem = stems.get(step) ?? instanceStem(step, stems);
    if (stem === null) throw new Error(`there is no step "${step}"`);
    // Not `join`, which would parse a long path again for each of the callers per attempt.
    return `${directory}/${stem}.${attempt}.${stream === 'stdout' ? 'out' : 'err'}`;
  };
  return {
    directory,
    file: (step, attempt, stream) => createLogFile(pathOf(step, attempt, stream)),
    follow: (options) => createLogFollower(pathOf, options),
    tail: ({ step, attempt }) => tailOf((stream) => readEnd(pathOf(step, attempt, stream), MAX_TEXT_BYTES)),
    open: (step, attempt) => {
      const paths = { stdoutPath: pathOf(step, attempt, 'stdout'), stderrPath: pathOf(step, attempt, 'stderr') };
      return openBoth(paths, directory);
    },
  };
}

/** Returns a function that recognizes the file names of a run's logs. */
export function logFilePattern(workflow: Workflow): (name: string) => boolean {
  const stems = new Set(fileStems(workflow).values());
  return (name) => stems.has(/^(.+?)(?:@[^/]+)?\.\d+\.(?:out|err)$/.exec(name)?.[1] ?? '');
}

/** The logs of an instance are named after its step and its key: `00003-ship@web1.2.out`. */
function instanceStem(name: string, stems: ReadonlyMap<string, string>): string | null {
  const instance = splitInstanceName(name);
  const stem = instance === null ? undefined : stems.get(instance.step);
  return instance === null || stem === undefined ? null : `${stem}@${encodeURIComponent(instance.key)}`;
}

/** A name as a part of a file name: ASCII without spaces and without a leading dot. */
export function slug(name: string, otherwise: string): string {
  const ascii = name.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[-.]+/, '');
  return ascii.slice(0, longestSlug).replace(/-+$/, '') || otherwise;
}

/** Steps are numbered from 1 in the order of the file, followed by handlers, so that no two names share a file. */
function fileStems({ steps }: Workflow): ReadonlyMap<string, string> {
  const names = [...steps.map(({ name }) => name), ...handlerNames];
  return new Map(names.map((name, index) => [name, `${String(index + 1).padStart(5, '0')}-${slug(name, 'step')}`]));
}

function openBoth(paths: Pick<AttemptLog, 'stdoutPath' | 'stderrPath'>, directory: string): AttemptLog {
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
