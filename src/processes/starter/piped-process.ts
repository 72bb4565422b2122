import type { ChildProcess } from 'node:child_process';
import { readPipe } from './read-pipe.ts';

/** Receives what a piped process prints. */
export type PipeListener = {
  /** Takes a line, one character for each byte, without its end. */
  readonly take: (line: string) => void;
  /** Called once when the process has ended or could not be started. */
  readonly lost: () => void;
};

/**
 * A process that reads from this one and prints lines to it, in a session of its own. Exits with this process; does not keep
 * it alive unless held, even with unsent data.
 */
export class PipedProcess {
  readonly #child: ChildProcess;
  readonly #listener: PipeListener;
  #partial = '';
  #isLost = false;

  constructor(argv: readonly [string, ...string[]], env: NodeJS.ProcessEnv, listener: PipeListener) {
    this.#listener = listener;
    const [command, ...args] = argv;
    const { spawn } = process.getBuiltinModule('node:child_process');
    this.#child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'ignore'], detached: true });
    this.#child.unref();
    this.#child.once('error', this.#lose);
    this.#child.stdin?.on('error', this.#lose);
    readPipe(this.#child.stdout, { take: (text) => this.#hear(text), end: this.#lose });
    pipeOf(this.#child.stdin)?.unref?.();
    this.hold(false);
  }

  /** Process number; undefined if it could not be started. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Ends its input. */
  close(): void {
    this.#child.stdin?.end();
  }

  send(text: string): void {
    this.#child.stdin?.write(text);
  }

  hold(isHeld: boolean): void {
    const output = pipeOf(this.#child.stdout);
    if (isHeld) output?.ref?.();
    else output?.unref?.();
  }

  #hear(text: string): void {
    const lines = (this.#partial + text).split('\n');
    this.#partial = lines.pop() ?? '';
    for (const line of lines) this.#listener.take(line);
  }

  readonly #lose = (): void => {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#listener.lost();
  };
}

/** Without descriptors for its pipes the process has none, and will soon be gone. */
type Pipe = { readonly ref?: () => void; readonly unref?: () => void } | null | undefined;

function pipeOf(stream: unknown): Pipe {
  return stream as Pipe;
}
