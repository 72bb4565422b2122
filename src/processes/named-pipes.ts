import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { removeIfPossible } from '../remove-file.ts';

/** Both ends of a pipe; reading does not block. */
export type Pipe = { readonly readFd: number; readonly writeFd: number };

/**
 * Creates two pipes for the output of a program. Node cannot: its "pipes" are sockets, and a program whose output is a
 * socket cannot open /dev/stdout or /dev/stderr, as scripts do. The names in `directory` exist only until the pipes are
 * open. Rejects if mkfifo is missing or the disk refuses.
 */
export async function openPipes(
  directory: string,
  env: Readonly<Record<string, string>>,
): Promise<readonly [Pipe, Pipe]> {
  const name = join(directory, `pipe-${randomBytes(8).toString('hex')}`);
  const paths = [`${name}.out`, `${name}.err`] as const;
  try {
    await promisify(execFile)('mkfifo', ['-m', '600', ...paths], { env });
    const first = openBothEnds(paths[0]);
    try {
      return [first, openBothEnds(paths[1])];
    } catch (error) {
      closeSync(first.readFd);
      closeSync(first.writeFd);
      throw error;
    }
  } finally {
    for (const path of paths) removeIfPossible(path);
  }
}

function openBothEnds(path: string): Pipe {
  const readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return { readFd, writeFd: openSync(path, constants.O_WRONLY) };
  } catch (error) {
    closeSync(readFd);
    throw error;
  }
}
