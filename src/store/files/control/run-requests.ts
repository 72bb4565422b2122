import { existsSync, fsyncSync, linkSync, openSync, readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { crc32OfText } from '#fast/crc32.ts';
import { flushDirectory } from '#system/durable-file.ts';
import { errorCode, WfError } from '#system/errors.ts';
import { closing, removeFile } from '#system/files.ts';
import type { AnswerRequest, OwnerListener, RunControl, StopRequest } from '../../store.ts';
import {
  ifThere,
  isOnLocalDisk,
  openPrivate,
  readSealed,
  replacePrivate,
  sealedLine,
  storing,
} from '../disk/private-files.ts';
import { isRunId, journalPath, processLogPath, stopPath } from '../run-directory.ts';
import { lastOwnerPath, ownerSocketPath } from './owner.ts';

/** How processes reach the owners of the runs in a directory. */
export function createRunControl(runsDir: string): RunControl {
  const directoryOf = (runId: string) => {
    const directory = join(runsDir, runId);
    if (!isRunId(runId) || !existsSync(directory)) throw new WfError('not-found', `there is no run "${runId}"`);
    return directory;
  };
  return {
    requestStop: (runId, request) => {
      const directory = directoryOf(runId);
      storing('write a request to stop in', directory, () =>
        replacePrivate(stopPath(directory), sealedLine(request), draftIn(directory)),
      );
    },
    requestAnswer: (runId, request) => {
      const directory = directoryOf(runId);
      return storing('write an answer in', directory, () => writeAnswer(directory, request));
    },
    clearAnswer: (runId, step) => {
      const directory = directoryOf(runId);
      storing('clear an answer in', directory, () => clearAnswer(directory, step));
    },
    flushJournal: (runId) => {
      const path = journalPath(directoryOf(runId));
      storing('flush', path, () => closing(openSync(path, 'r'), fsyncSync));
    },
    readStop: (runId) => {
      const directory = directoryOf(runId);
      return storing('read a request to stop in', directory, () => readStop(directory));
    },
    knock: async (runId) => {
      const owner = lastOwnerPath(directoryOf(runId));
      const path = owner === null ? null : ownerSocketPath(owner);
      if (path === null || !existsSync(path)) return null;
      const { knockAt } = await import('./owner-socket.ts');
      return knockAt(path);
    },
    openProcessLog: (runId) => {
      const path = processLogPath(directoryOf(runId));
      return { fd: storing('open', path, () => openPrivate(path, 'a')), path };
    },
  };
}

/** The poll interval where a socket does not reach every process, and the pause after an error. */
const POLL_MS = 500;

/**
 * Reports each request in a run's directory once. Another process writes its request before it connects,
 * and this function listens before it reads, so that no request is missed. The code for sockets is loaded only here:
 * most runs finish before.
 */
export function createRequestListener(directory: string, ownerPath: string) {
  let closeSocket: (() => void) | null = null;
  let timer: NodeJS.Timeout | undefined;
  let retry: NodeJS.Timeout | undefined;
  let isClosed = false;

  const open = async (look: () => void) => {
    try {
      const { listenAt } = await import('./owner-socket.ts');
      closeSocket = await listenAt(ownerSocketPath(ownerPath), look);
    } catch {}
    // A process on another machine with the same files cannot reach the socket.
    if (closeSocket === null || !isOnLocalDisk(directory)) timer = setInterval(look, POLL_MS).unref();
    if (isClosed) close();
  };
  const close = () => {
    isClosed = true;
    closeSocket?.();
    clearInterval(timer);
    clearTimeout(retry);
  };

  return {
    listen: async (listener: OwnerListener) => {
      let delivered = '';
      const deliver = () => {
        takeAnswers(directory, listener.answer);
        const request = readStop(directory);
        const text = JSON.stringify(request);
        if (request === null || text === delivered) return;
        delivered = text;
        listener.stop(request);
      };
      const look = () => {
        if (isClosed) return;
        try {
          deliver();
        } catch (error) {
          if (errorCode(error) === '') throw error;
          // A passing shortage, such as too many open files. The process that wrote the request need not connect again.
          retry ??= setTimeout(() => {
            retry = undefined;
            look();
          }, POLL_MS).unref();
        }
      };
      if (isClosed) return;
      await open(look);
      look();
    },
    close,
  };
}

const ANSWER_FILE = /^answer-[\w-]+\.json$/;
/** In characters; a file name has room for 255. */
const MAX_STEP_LENGTH = 150;

/** The last request for the run in a directory; null if there is none, or it is damaged. */
function readStop(directory: string): StopRequest | null {
  return readRequest(stopPath(directory)) as StopRequest | null;
}

/** Atomic, and on disk when it returns. Returns false if an answer to the same step is there: the first counts. */
function writeAnswer(directory: string, request: AnswerRequest): boolean {
  const path = answerPath(directory, request.step);
  const whole = `${draftIn(directory)}.answer`;
  replacePrivate(whole, sealedLine(request), draftIn(directory));
  try {
    linkSync(whole, path);
    flushDirectory(directory);
    return true;
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    return false;
  } finally {
    removeFile(whole);
  }
}

/** Passes each answer on, then empties its file, which may contain secrets, and stays for a second answer to find. */
function takeAnswers(directory: string, take: (request: AnswerRequest) => void): void {
  for (const name of readdirSync(directory)) {
    if (!ANSWER_FILE.test(name)) continue;
    const path = join(directory, name);
    if (statSync(path).size === 0) continue;
    const request = readRequest(path) as AnswerRequest | null;
    if (request !== null) take(request);
    truncateSync(path);
  }
}

/** Empties an obsolete answer that no owner has taken. */
function clearAnswer(directory: string, step: string): void {
  const path = answerPath(directory, step);
  // It is gone if the run has been deleted.
  if (existsSync(path)) truncateSync(path);
}

function answerPath(directory: string, step: string): string {
  const name = Buffer.from(step).toString('base64url').slice(0, MAX_STEP_LENGTH);
  return join(directory, `answer-${crc32OfText(step)}-${name}.json`);
}

/** A file of one process, until it gets its name. */
function draftIn(directory: string): string {
  return `${stopPath(directory)}.${process.pid}-${Math.random().toString(36).slice(2)}`;
}

function readRequest(path: string): unknown {
  return ifThere(() => readSealed(path)) ?? null;
}
