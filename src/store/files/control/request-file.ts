import { existsSync, linkSync, readdirSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { crc32OfText } from '#start-up/crc32.ts';
import { flushDirectory } from '#system/durable-file.ts';
import { removeFile } from '#system/files.ts';
import type { AnswerRequest, StopRequest } from '../../store.ts';
import { errorCode, replacePrivate } from '../disk/private-files.ts';
import { seal, unseal } from '../disk/sealed.ts';
import { stopPath } from '../run-directory.ts';

const ANSWER_FILE = /^answer-[\w-]+\.json$/;
/** In characters; a file name has room for 255. */
const MAX_STEP_LENGTH = 150;

/** Replaces the previous request; atomic, and on disk when it returns. */
export function writeStop(directory: string, request: StopRequest): void {
  replacePrivate(stopPath(directory), textOf(request), draftIn(directory));
}

/** The last request for the run in a directory; null if there is none, or it is damaged. */
export function readStop(directory: string): StopRequest | null {
  return readRequest(stopPath(directory)) as StopRequest | null;
}

/** Writes an answer as `writeStop` does. Returns false if one to the same step is there: the first counts. */
export function writeAnswer(directory: string, request: AnswerRequest): boolean {
  const path = answerPath(directory, request.step);
  const whole = `${draftIn(directory)}.answer`;
  replacePrivate(whole, textOf(request), draftIn(directory));
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

/**
 * Passes each answer on, then empties its file, since it may contain secrets. The empty file stays, so that a second
 * answer to the same step finds it.
 */
export function takeAnswers(directory: string, take: (request: AnswerRequest) => void): void {
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
export function clearAnswer(directory: string, step: string): void {
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

function textOf(request: object): string {
  return `${seal(JSON.stringify(request))}\n`;
}

/** Null for a missing or damaged file. */
function readRequest(path: string): unknown {
  try {
    return unseal(readFileSync(path).subarray(0, -1)) ?? null;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}
