import { accessSync, constants, statSync } from 'node:fs';
import { PipedProcess, type PipeListener } from './piped-process.ts';

/** Not looked up in PATH, where it may be a slow script. On macOS, the file offers to install Python. */
export const systemPython = process.platform === 'linux' ? '/usr/bin/python3' : null;

/** Whether a file is a program, and can be given an environment. */
export function canOpen(python: string, env: Readonly<Record<string, string>>): boolean {
  return isProgram(python) && hasNoNul(Object.entries(env).flat());
}

export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Whether texts can be sent. */
export function hasNoNul(texts: readonly string[]): boolean {
  return texts.every((text) => !text.includes('\0'));
}

/**
 * A small process in Python that starts programs for this one, made of `pythonParts`. Exits with this process; does not keep
 * it alive unless held.
 */
export class PythonProcess {
  readonly #process: PipedProcess;
  #state: 'opening' | 'ready' | 'gone' = 'opening';
  #held = 0;

  /**
   * `python`: its path. `env`, without a NUL, is the usual environment of its programs. The listener does not receive the
   * first line, which is `ready`.
   */
  constructor(python: string, program: string, env: Readonly<Record<string, string>>, listener: PipeListener) {
    const take = (line: string) => {
      if (this.#state === 'opening' && line === 'ready') this.#state = 'ready';
      else listener.take(line);
    };
    const lost = () => {
      this.#state = 'gone';
      listener.lost();
    };
    // Variables such as PYTHONPATH are for the programs, not for the starter.
    this.#process = new PipedProcess([python, '-I', '-S', '-c', program], {}, { take, lost });
    this.send(Object.entries(env).map(([name, value]) => `${name}=${value}`));
  }

  get state(): 'opening' | 'ready' | 'gone' {
    return this.#state;
  }

  /** Process number; undefined if it could not be started. */
  get pid(): number | undefined {
    return this.#process.pid;
  }

  /** Ends the process; programs that it has started run on. */
  close(): void {
    this.#process.close();
  }

  /** Sends a message of texts without a NUL. */
  send(texts: readonly string[]): void {
    const text = `${texts.join('\0')}\0`;
    this.#process.send(`${Buffer.byteLength(text)}\n${text}`);
  }

  /** Keeps this process alive, until as many calls of `release`. */
  hold(): void {
    if (this.#held++ === 0) this.#process.hold(true);
  }

  release(): void {
    if (--this.#held === 0) this.#process.hold(false);
  }
}
