import { dirname, join } from 'node:path';
import { tryOr, WfError } from '#system/errors.ts';
import { removeFile } from '#system/files.ts';
import type { DurableText, SessionStore, StoredRunIds, StoredSession } from '../../store.ts';
import {
  makePrivateDirectory,
  readIfThere,
  replacePrivate,
  replacePrivateInBackground,
  storing,
  storingLater,
} from './private-files.ts';

/** The text at a path, in a directory that is created if missing. A write must wait for one in background. */
export function durableText(
  path: string,
): DurableText & { readonly writeInBackground: (text: string) => Promise<void> } {
  return {
    path,
    read: () => storing('read', path, () => readIfThere(path)),
    write: (text) =>
      storing('write', path, () => {
        makePrivateDirectory(dirname(path));
        replacePrivate(path, text, `${path}.${process.pid}`);
      }),
    writeInBackground: (text) =>
      storingLater('write', path, () => {
        makePrivateDirectory(dirname(path));
        return replacePrivateInBackground(path, text, `${path}.${process.pid}`);
      }),
  };
}

/** The run ids in the file at an absolute path; none if it is absent or invalid. */
export function runIdsIn(path: string): StoredRunIds {
  const text = durableText(path);
  return {
    read: () => {
      const runIds: unknown = tryOr(null, () => JSON.parse(text.read() ?? '[]'));
      return Array.isArray(runIds) ? runIds.map(String) : [];
    },
    write: (runIds) => text.write(written(runIds)),
    writeInBackground: (runIds) => text.writeInBackground(written(runIds)),
  };
}

function written(runIds: readonly string[]): string {
  return `${JSON.stringify(runIds)}\n`;
}

/** The sessions of browsers in the directory of a daemon: `sessions.json`, with mode 0600. */
export function sessionFile(directory: string): SessionStore {
  const { path, read, write } = durableText(join(directory, 'sessions.json'));
  return {
    read: () => parse(read() ?? '[]', path),
    write: (sessions) => write(`${JSON.stringify(sessions)}\n`),
    remove: () => storing('remove', path, () => removeFile(path)),
  };
}

function parse(text: string, path: string): readonly StoredSession[] {
  const sessions: unknown = tryOr(null, () => JSON.parse(text));
  if (Array.isArray(sessions) && sessions.every(isStoredSession)) return sessions;
  throw new WfError('storage', `"${path}" is damaged`);
}

function isStoredSession(value: unknown): value is StoredSession {
  const { id, kind, login, usedAt } = (value ?? {}) as Partial<Record<keyof StoredSession, unknown>>;
  return [id, kind, login].every((each) => typeof each === 'string') && typeof usedAt === 'number';
}
