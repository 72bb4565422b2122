import type { ChildProcess } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { os } from '#fast/os.ts';
import { tryOr } from '#system/errors.ts';
import { nodeInternals } from '../process-handle.ts';
import type { FailedStart, ProcessEnd } from '../started-program.ts';

const BUFFER_BYTES = 64 * 1024;

/** The part of Node's handle beneath a pipe that is used here; `node:net` uses the same. */
type Handle = {
  onread: () => void;
  readonly useUserBuffer: (buffer: Uint8Array) => void;
  readonly readStart: () => number;
};

/**
 * Reads a pipe of a child by the handle beneath it, into one buffer: each text of a starter takes the stream of Node 60 µs
 * and 64 KiB of memory, and there are two for each program. Reads the stream if this Node does not offer the handle. `take`
 * gets each text, one character for each byte; `end` is called at the end or failure.
 */
function readPipe(pipe: Readable | null | undefined, take: (text: string) => void, end: () => void): void {
  // Without descriptors for its pipes a child has none, and soon reports an error.
  if (!pipe) return;
  pipe.on('error', end);
  const { streamBaseState: state, kReadBytesOrError: count } = nodeInternals('stream_wrap') ?? {};
  const handle: unknown = Reflect.get(pipe, '_handle');
  if (!isHandle(handle) || !(state instanceof Int32Array) || typeof count !== 'number') {
    pipe.setEncoding('latin1').on('data', take).once('close', end);
    return;
  }
  const buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  handle.useUserBuffer(buffer);
  handle.onread = () => {
    const read = state[count] ?? 0;
    if (read > 0) take(buffer.toString('latin1', 0, read));
    if (read >= 0) return;
    pipe.destroy();
    end();
  };
  handle.readStart();
}

function isHandle(handle: unknown): handle is Handle {
  const { useUserBuffer, readStart } = (handle ?? {}) as Partial<Handle>;
  return typeof useUserBuffer === 'function' && typeof readStart === 'function';
}

/** Not looked up in PATH, where it may be a slow script. On macOS, the file offers to install Python. */
export const systemPython = process.platform === 'linux' ? '/usr/bin/python3' : null;

/** Whether a file is a program, and can be given an environment. */
export function canOpen(python: string, env: Readonly<Record<string, string>>): boolean {
  return isProgram(python) && hasNoNul(Object.entries(env).flat());
}

export function isProgram(path: string): boolean {
  return tryOr(false, () => {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  });
}

/** Whether texts can be sent. */
export function hasNoNul(texts: readonly string[]): boolean {
  return texts.every((text) => !text.includes('\0'));
}

/** Receives what a starter prints. */
type StarterListener = {
  /** Takes a line after the first, one character for each byte, without its end. */
  readonly take: (line: string) => void;
  /** Called once when the starter has ended or could not be started. */
  readonly lost: () => void;
};

/**
 * A small process in Python that starts programs for this one, made of `pythonParts`, in a session of its own. Exits with this
 * process; does not keep it alive unless held, even with unsent data.
 */
export class PythonProcess {
  readonly #child: ChildProcess;
  readonly #listener: StarterListener;
  #partial = '';
  #state: 'opening' | 'ready' | 'gone' = 'opening';
  #held = 0;

  /** `python`: its path. `env`, without a NUL, is the usual environment of its programs. */
  constructor(python: string, program: string, env: Readonly<Record<string, string>>, listener: StarterListener) {
    this.#listener = listener;
    const { spawn } = process.getBuiltinModule('node:child_process');
    const args = ['-I', '-S', '-c', program];
    // Variables such as PYTHONPATH are for the programs, not for the starter.
    this.#child = spawn(python, args, { env: {}, stdio: ['pipe', 'pipe', 'ignore'], detached: true });
    this.#child.unref();
    this.#child.once('error', this.#lose);
    this.#child.stdin?.on('error', this.#lose);
    readPipe(this.#child.stdout, (text) => this.#hear(text), this.#lose);
    for (const pipe of [this.#child.stdin, this.#child.stdout]) handleOf(pipe)?.unref?.();
    this.send(Object.entries(env).map(([name, value]) => `${name}=${value}`));
  }

  get state(): 'opening' | 'ready' | 'gone' {
    return this.#state;
  }

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

  /** Keeps this process alive until the returned function is called. */
  hold(): () => void {
    if (this.#held++ === 0) handleOf(this.#child.stdout)?.ref?.();
    let isHeld = true;
    return () => {
      if (isHeld && --this.#held === 0) handleOf(this.#child.stdout)?.unref?.();
      isHeld = false;
    };
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
function handleOf(pipe: unknown): { readonly ref?: () => void; readonly unref?: () => void } | null | undefined {
  return pipe as ReturnType<typeof handleOf>;
}

/** Decodes a wait status: the signal in the low seven bits, else the exit code in the next eight. */
export function endOf(status: number): ProcessEnd {
  const number = status & 0x7f;
  const signal = number === 0 ? null : nameOf(number, os().constants.signals);
  return { code: signal === null ? status >> 8 : null, signal: signal as NodeJS.Signals | null };
}

/** The failure with this number of a system error. */
export function failureOf(errno: number): FailedStart {
  const code = nameOf(errno, os().constants.errno) ?? 'EIO';
  return { error: Object.assign(new Error(code), { code }) };
}

/** The name that Node gives to a number: of two names the first, as in `SIGABRT` and `SIGIOT`. */
function nameOf(wanted: number, numbers: Readonly<Record<string, number>>): string | null {
  const found = Object.entries(numbers).find(([, number]) => number === wanted);
  return found?.[0] ?? null;
}

/** Differences between two environments: `NAME=value`, or `NAME` for a variable to remove. */
export function changes(
  from: Readonly<Record<string, string>>,
  to: Readonly<Record<string, string>>,
): readonly string[] {
  const changed: string[] = [];
  let kept = 0;
  for (const name in to) {
    const before = from[name];
    if (typeof before === 'string') kept += 1;
    if (to[name] !== before) changed.push(`${name}=${to[name]}`);
  }
  // Rare, and checking every name would be expensive.
  if (kept < Object.keys(from).length) for (const name in from) if (!Object.hasOwn(to, name)) changed.push(name);
  return changed;
}
