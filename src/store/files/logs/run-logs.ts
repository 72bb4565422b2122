import { closeSync, constants, existsSync, fstatSync, readFileSync, readSync, statSync, writeSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { splitInstanceName } from '#core/fan-out/instance-name.ts';
import { handlerNames, type Workflow } from '#core/workflow.ts';
import { errorCode, isMissing, tryOr } from '#system/errors.ts';
import { closing, openRegular } from '#system/files.ts';
import { MAX_TEXT_BYTES, tailOf } from '../../log-ends.ts';
import type { LogFile, LogForm, LogStore, LogStream, LogTime, OpenLogs } from '../../logs.ts';
import { makePrivateDirectory, openPrivate, storing, storingLater } from '../disk/private-files.ts';
import { FileFollower, type LogPaths } from './log-follower.ts';

const LONGEST_SLUG = 60;
const oneLog: readonly LogStream[] = ['output'];
const twoLogs: readonly LogStream[] = ['stdout', 'stderr'];

/**
 * The log files of one run: `00003-load-rows.2.out` for an attempt, also `.err` if standard error has a log of its own.
 * Beside it are the streams that are kept alone, `.stdout` and `.stderr`, the times of a log, `.out.times`, and of one that
 * comes in pieces what is there before a gap, `.out.part`. They have their own directory, which is created with the first of
 * them if missing.
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
    follow: (options) => new FileFollower({ pathOf, streams }, options),
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
    stems.has(
      /^(.+?)(?:@[^/]+)?\.\d+\.(?:out|err|stdout|stderr|out\.times|err\.times|out\.part|err\.part)$/.exec(name)?.[1] ??
        '',
    );
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
  return ascii.slice(0, LONGEST_SLUG).replace(/-+$/, '') || otherwise;
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
    return { path, fd };
  };
  try {
    const out = open(`${base}.out`);
    const err = isSeparate ? open(`${base}.err`) : out;
    // The descriptors are the files: one and the same file for both streams, or two.
    const files = { stdoutPath: out.path, stderrPath: err.path };
    return {
      log: { ...files, isDirect: true, files, stdoutFd: out.fd, stderrFd: err.fd },
      kept: Object.fromEntries(kept.map((stream) => [stream, open(`${base}.${stream}`)])),
    };
  } catch (error) {
    for (const fd of opened) closeSync(fd);
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

const CHUNK_BYTES = 64 * 1024;
/** A step may have replaced its log with a pipe or a device, which must not block. */
const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/** A log in a file, whether or not it exists. Other work can run while it is read. */
export function createLogFile(path: string): LogFile {
  return {
    path,
    size: async () => {
      const stats = storing('read', path, () => statSync(path, { throwIfNoEntry: false }));
      return stats?.isFile() ? stats.size : 0;
    },
    read: (from, to = Number.POSITIVE_INFINITY) => readRange(path, from, to),
  };
}

/** The last bytes of a log, read at once; empty for a log that cannot be read. */
function readEnd(path: string, bytes: number): Buffer {
  return tryOr(Buffer.alloc(0), () =>
    closing(openRegular(path), (fd) => {
      const { size } = fstatSync(fd);
      const buffer = Buffer.allocUnsafe(Math.min(size, bytes));
      return buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, size - buffer.length));
    }),
  );
}

async function* readRange(path: string, from: number, to: number): AsyncGenerator<Uint8Array, void> {
  const file = await storingLater('read', path, () => openIfThere(path));
  if (file === null) return;
  try {
    const stats = await storingLater('read', path, () => file.stat());
    // Bytes written while it is read are left to followers.
    const end = stats.isFile() ? Math.min(to, stats.size) : 0;
    const buffer = Buffer.allocUnsafeSlow(Math.max(0, Math.min(CHUNK_BYTES, end - from)));
    for (let offset = from; offset < end; ) {
      const length = Math.min(buffer.length, end - offset);
      const { bytesRead } = await storingLater('read', path, () => file.read(buffer, 0, length, offset));
      if (bytesRead === 0) return;
      offset += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

async function openIfThere(path: string): Promise<FileHandle | null> {
  // Loaded when the first log is opened: a run with little output opens none and starts its step earlier.
  const { open } = process.getBuiltinModule('node:fs/promises');
  try {
    return await open(path, flags);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** At most four notes a second, and no file for a step that is done sooner. */
const LOOK_MS = 250;
/** The interval of a log doubles each time it has this number of notes more: those of a program that prints for a month take 2 MB. */
const NOTES_PER_INTERVAL = 10_000;

type Watched = { readonly path: string; size: number; notes: number; dueAt: number };

/** Notes the times at which the logs of a run grow: in a file beside each, `00003-load.2.out.times`. */
class LogTimes {
  readonly #watched = new Set<Watched>();
  #timer: NodeJS.Timeout | null = null;
  #now: () => number = Date.now;

  /** Watches logs until the returned function is called, which notes what was written last. */
  watch(paths: readonly string[], now: () => number): () => void {
    this.#now = now;
    const dueAt = now() + LOOK_MS;
    const own = paths.map((path): Watched => ({ path, size: 0, notes: 0, dueAt }));
    for (const log of own) this.#watched.add(log);
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref();
    return () => {
      for (const log of own) {
        if (now() >= dueAt) note(log, now());
        this.#watched.delete(log);
      }
    };
  }

  #look(): void {
    const at = this.#now();
    for (const log of this.#watched) if (at >= log.dueAt) note(log, at);
    if (this.#watched.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}

/** A disk that takes no more notes costs a log nothing but its times. */
function note(log: Watched, at: number): void {
  const size = statSync(log.path, { throwIfNoEntry: false })?.size ?? 0;
  if (size === log.size) return;
  log.size = size;
  log.notes += 1;
  log.dueAt = at + LOOK_MS * 2 ** Math.floor(log.notes / NOTES_PER_INTERVAL);
  try {
    closing(openPrivate(`${log.path}.times`, 'a'), (fd) => writeSync(fd, `${size} ${at}\n`));
  } catch {
    log.dueAt = Number.POSITIVE_INFINITY;
  }
}

/** Returns the notes of a log, in the order of both numbers; null if there are none. */
function readLogTimes(path: string): readonly LogTime[] | null {
  const text = tryOr(null, () => readFileSync(`${path}.times`, 'utf8'));
  if (text === null) return null;
  const times: LogTime[] = [];
  for (const [, size, at] of text.matchAll(/^(\d{1,15}) (\d{1,15})\n/gm)) {
    // A log that was emptied, as by `> /dev/stderr`, has grown from its start again.
    while ((times.at(-1)?.[0] ?? -1) >= Number(size)) times.pop();
    times.push([Number(size), Number(at)]);
  }
  return times;
}
