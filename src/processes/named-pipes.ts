import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, constants, openSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { removeIfPossible } from '#system/files.ts';

/** Both ends of a pipe; reading does not block. */
export type Pipe = {
  readonly readFd: number;
  readonly writeFd: number;
  /** Its name, for programs that open it themselves. */
  readonly path: string;
  readonly remove: () => void;
};

/** Starting `mkfifo` takes longer than a short step: the number of pipes made at once doubles up to this one. */
const MOST_AT_ONCE = 64;
const MOST_DIRECTORIES = 16;

/**
 * Pipes for the output of programs. Those of Node are sockets, as which no script can open /dev/stdout or /dev/stderr.
 */
export class NamedPipes {
  readonly #env: Readonly<Record<string, string>>;
  /** Pipes that nothing uses yet, by directory. */
  readonly #spare = new Map<string, string[]>();
  #atOnce = 2;

  constructor(env: Readonly<Record<string, string>>) {
    this.#env = env;
  }

  /** Opens a pipe in a directory. Rejects if mkfifo is missing or the disk refuses. */
  async open(directory: string): Promise<Pipe> {
    const path = this.#spare.get(directory)?.pop() ?? (await this.#make(directory));
    try {
      return openBothEnds(path);
    } catch (error) {
      removeIfPossible(path);
      throw error;
    }
  }

  async #make(directory: string): Promise<string> {
    const name = join(directory, `pipe-${randomBytes(8).toString('hex')}`);
    const paths = Array.from({ length: this.#atOnce }, (_, at) => `${name}.${at}`);
    this.#atOnce = Math.min(MOST_AT_ONCE, this.#atOnce * 2);
    await promisify(execFile)('mkfifo', ['-m', '600', ...paths], { env: this.#env });
    const [first = '', ...others] = paths;
    this.#spare.set(directory, [...(this.#spare.get(directory) ?? []), ...others]);
    // The directory of a run that has ended is gone.
    const [oldest] = this.#spare.keys();
    if (this.#spare.size > MOST_DIRECTORIES && oldest !== undefined) this.#spare.delete(oldest);
    return first;
  }
}

function openBothEnds(path: string): Pipe {
  const readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return { readFd, writeFd: openSync(path, constants.O_WRONLY), path, remove: () => removeIfPossible(path) };
  } catch (error) {
    closeSync(readFd);
    throw error;
  }
}
