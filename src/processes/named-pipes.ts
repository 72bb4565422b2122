import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { removeIfPossible } from '../remove-file.ts';

/** Both ends of a pipe; reading does not wait. */
export type Pipe = { readonly readFd: number; readonly writeFd: number };

/**
 * Makes two pipes for the output of a program. Node makes none by itself: what it calls one is a socket, and a program
 * whose output is a socket cannot open /dev/stdout or /dev/stderr, as scripts do. The pipes get their names in `directory`
 * only for the moment in which they are opened. Rejects where the program mkfifo is missing or the disk refuses.
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
