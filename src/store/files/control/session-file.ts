import { join } from 'node:path';
import { WfError } from '#system/errors.ts';
import { removeFile } from '#system/files.ts';
import type { SessionStore, StoredSession } from '../../store.ts';
import { durableText } from '../disk/durable-text.ts';
import { storing } from '../disk/private-files.ts';

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
  try {
    const sessions: unknown = JSON.parse(text);
    if (Array.isArray(sessions) && sessions.every(isStoredSession)) return sessions;
  } catch {
    // Treated like any other content that is not a list of sessions.
  }
  throw new WfError('storage', `"${path}" is damaged`);
}

function isStoredSession(value: unknown): value is StoredSession {
  const { id, kind, login, usedAt } = (value ?? {}) as Partial<Record<keyof StoredSession, unknown>>;
  return [id, kind, login].every((each) => typeof each === 'string') && typeof usedAt === 'number';
}
