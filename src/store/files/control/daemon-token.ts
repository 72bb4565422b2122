import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { WfError } from '#system/errors.ts';
import { durableText } from '../disk/durable-text.ts';

/** A token and the file that holds it. */
export type DaemonToken = { readonly path: string; readonly token: string };

/**
 * The token of the daemon of a directory; null if none was created. Throws a `WfError`: `usage` for a file without a
 * token, `storage` for a file that cannot be read.
 */
export function readDaemonToken(directory: string): DaemonToken | null {
  const { path, read } = durableText(join(directory, 'token'));
  const text = read();
  if (text === null) return null;
  const token = text.trim();
  if (/^[\x21-\x7e]{16,}$/.test(token)) return { path, token };
  throw new WfError('usage', `"${path}" must hold one line of at least 16 ASCII characters`, {
    help: 'remove it: the next start of the daemon creates a new one',
  });
}

/** Returns the stored token. If there is none, stores `token` (by default 256 random bits) in a file of mode 0600. */
export function keepDaemonToken(directory: string, token = randomBytes(32).toString('base64url')): DaemonToken {
  const found = readDaemonToken(directory);
  if (found !== null) return found;
  const { path, write } = durableText(join(directory, 'token'));
  write(`${token}\n`);
  return { path, token };
}
