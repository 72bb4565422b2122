import type { ChildProcess } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { readPipe } from './read-pipe.ts';

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

/** Receives what a process in Python reports. */
export type PythonListener = {
  /** Takes a line (one character for each byte) other than the first, which is `ready`. */
  readonly take: (line: string) => void;
  /** Called once when the process has ended or could not be started. */
  readonly lost: () => void;
};

/**
 * A small process in Python that starts programs for this one, made of `pythonParts`. It ends with this process, which it
 * keeps alive only while it is held.
 */
export class PythonProcess {
  readonly #child: ChildProcess;
  readonly #listener: PythonListener;
  #state: 'opening' | 'ready' | 'gone' = 'opening';
  #partial = '';
  #held = 0;

  /** `python`: its path. `env`, without a NUL, is the usual environment of its programs. */
  constructor(python: string, program: string, env: Readonly<Record<string, string>>, listener: PythonListener) {
    this.#listener = listener;
    const { spawn } = process.getBuiltinModule('node:child_process');
    // Variables such as PYTHONPATH are for the programs, not for the starter.
    this.#child = spawn(python, ['-I', '-S', '-c', program], {
      env: {},
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
    });
    this.#child.unref();
    this.#child.once('error', this.#lose);
    this.#child.stdin?.on('error', this.#lose);
    readPipe(this.#child.stdout, { take: (text) => this.#hear(text), end: this.#lose });
    this.send(Object.entries(env).map(([name, value]) => `${name}=${value}`));
    unref(this.#child.stdin);
    unref(this.#child.stdout);
  }

  get state(): 'opening' | 'ready' | 'gone' {
    return this.#state;
  }

  /** Process number; undefined if it could not be started. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Ends the process; programs that it has started run on. */
  close(): void {
    this.#child.stdin?.end();
  }

  /** Sends a message of texts without a NUL. */
  send(texts: readonly string[]): void {
    const text = `${texts.join('\0')}\0`;
    this.#child.stdin?.write(`${Buffer.byteLength(text)}\n${text}`);
  }

  /** Keeps this process alive, until as many calls of `release`. */
  hold(): void {
    if (this.#held++ === 0) ref(this.#child.stdout);
  }

  release(): void {
    if (--this.#held === 0) unref(this.#child.stdout);
  }

  #hear(text: string): void {
    const lines = (this.#partial + text).split('\n');
    this.#partial = lines.pop() ?? '';
    for (const line of lines) {
      if (this.#state === 'opening' && line === 'ready') this.#state = 'ready';
      else this.#listener.take(line);
    }
  }

  readonly #lose = (): void => {
    if (this.#state === 'gone') return;
    this.#state = 'gone';
    this.#listener.lost();
  };
}

/** Without descriptors for its pipes the process has none, and will soon be gone. */
type Pipe = { ref?: () => void; unref?: () => void } | null | undefined;

function ref(pipe: unknown): void {
  (pipe as Pipe)?.ref?.();
}

function unref(pipe: unknown): void {
  (pipe as Pipe)?.unref?.();
}
