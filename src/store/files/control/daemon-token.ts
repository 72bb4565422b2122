import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { WfError } from '../../../errors.ts';
import { durableText } from '../disk/durable-text.ts';

/** A token and the file that holds it. */
export type DaemonToken = { readonly path: string; readonly token: string };

/**
 * The token of the daemon of a directory; null where none was made. Throws a `WfError`: `usage` for a file that holds no token,
 * `storage` for one that cannot be read.
 */
export function readDaemonToken(directory: string): DaemonToken | null {
  const { path, read } = durableText(join(directory, 'token'));
  const text = read();
  if (text === null) return null;
  const token = text.trim();
  if (/^[\x21-\x7e]{16,}$/.test(token)) return { path, token };
  throw new WfError('usage', `"${path}" must hold one line of at least 16 ASCII characters`, {
    help: 'remove it: the next start of the daemon makes a new one',
  });
}

/** The same; a token of 256 random bits is made where there is none, in a file of mode 0600. */
export function keepDaemonToken(directory: string): DaemonToken {
  const found = readDaemonToken(directory);
  if (found !== null) return found;
  const { path, write } = durableText(join(directory, 'token'));
  const token = randomBytes(32).toString('base64url');
  write(`${token}\n`);
  return { path, token };
}
