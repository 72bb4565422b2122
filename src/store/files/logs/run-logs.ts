import { closeSync, existsSync } from 'node:fs';
import { splitInstanceName } from '#core/fan-out/instance-name.ts';
import { handlerNames, type Workflow } from '#core/workflow.ts';
import type { AttemptLog } from '#executors/executor.ts';
import { MAX_TEXT_BYTES, tailOf } from '../../log-ends.ts';
import type { LogForm, LogStore, LogStream, OpenLogs, ProgramStream } from '../../logs.ts';
import { errorCode, makePrivateDirectory, openPrivate, storing } from '../disk/private-files.ts';
import { createLogFile, LogTimes, readEnd, readLogTimes } from './log-file.ts';
import { createLogFollower, type LogPaths } from './log-follower.ts';

const longestSlug = 60;
const oneLog: readonly LogStream[] = ['output'];
const twoLogs: readonly LogStream[] = ['stdout', 'stderr'];

/**
 * The log files of one run: `00003-load-rows.2.out` for an attempt, also `.err` if standard error has a log of its own.
 * Beside it are the streams that are kept alone, `.stdout` and `.stderr`, and the times of a log, `.out.times`. They have
 * their own directory, which is created with the first of them if missing.
 */
export function createRunLogs(directory: string, workflow: Workflow): LogStore {
  let stems: ReadonlyMap<string, string> | null = null;
  const growth = new LogTimes();
  const basePath = (step: string, attempt: number) => {
    stems ??= fileStems(workflow);
    const stem = stems.get(step) ?? instanceStem(step, stems);
    if (stem === null) throw new Error(`there is no step "${step}"`);
    // Not `join`, which would parse a long path again for each of the callers per attempt.
    return `${directory}/${stem}.${attempt}`;
  };
  const pathOf: LogPaths['pathOf'] = (step, attempt, stream) =>
    `${basePath(step, attempt)}.${stream === 'stderr' ? 'err' : 'out'}`;
  const streams = (step: string, attempt: number) => (existsSync(pathOf(step, attempt, 'stderr')) ? twoLogs : oneLog);
  return {
    directory,
    file: (step, attempt, stream) => createLogFile(pathOf(step, attempt, stream)),
    streams: async (step, attempt) => streams(step, attempt),
    times: async (step, attempt, stream) => readLogTimes(pathOf(step, attempt, stream)),
    follow: (options) => createLogFollower({ pathOf, streams }, options),
    tail: ({ step, attempt }) =>
      tailOf(streams(step, attempt), (stream) => readEnd(pathOf(step, attempt, stream), MAX_TEXT_BYTES)),
    pathOf: (step, attempt, stream) => {
      const own = `${basePath(step, attempt)}.${stream}`;
      if (existsSync(own)) return own;
      return pathOf(step, attempt, streams(step, attempt) === oneLog ? 'output' : stream);
    },
    open: (step, attempt, form) => openLogs(basePath(step, attempt), form, directory),
    watch: ({ stdoutPath, stderrPath }, now) => growth.watch([...new Set([stdoutPath, stderrPath])], now),
  };
}

/** Returns a function that recognizes the file names of a run's logs. */
export function logFilePattern(workflow: Workflow): (name: string) => boolean {
  const stems = new Set(fileStems(workflow).values());
  return (name) =>
    stems.has(/^(.+?)(?:@[^/]+)?\.\d+\.(?:out|err|stdout|stderr|out\.times|err\.times)$/.exec(name)?.[1] ?? '');
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

function openLogs(base: string, { isSeparate, kept }: LogForm, directory: string): OpenLogs {
  const opened: number[] = [];
  const open = (path: string) => {
    const fd = openLogFile(path, directory);
    opened.push(fd);
    return fd;
  };
  try {
    const out = { path: `${base}.out`, fd: open(`${base}.out`) };
    const err = isSeparate ? { path: `${base}.err`, fd: open(`${base}.err`) } : out;
    const keep = (stream: ProgramStream) => ({ path: `${base}.${stream}`, fd: open(`${base}.${stream}`) });
    return {
      log: directLog(out, err),
      kept: Object.fromEntries(kept.map((stream) => [stream, keep(stream)])),
    };
  } catch (error) {
    for (const fd of opened) closeSync(fd);
    throw error;
  }
}

type OpenFile = { readonly path: string; readonly fd: number };

/** A log whose descriptors are the files: one and the same file for both streams, or two. */
function directLog(out: OpenFile, err: OpenFile): AttemptLog {
  const files = { stdoutPath: out.path, stderrPath: err.path };
  return { ...files, isDirect: true, files, stdoutFd: out.fd, stderrFd: err.fd };
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
