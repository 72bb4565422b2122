import type { ChildProcess } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type { ProcessIdentity } from '#core/run/run.ts';
import { os } from '#fast/os.ts';
import { nodeInternals } from '../process-handle.ts';
import { identityOf, processScope } from '../process-identity.ts';
import type { FailedStart, OutputFiles, ProcessEnd } from '../started-program.ts';

const bufferBytes = 64 * 1024;

/** The part of Node's handle beneath a pipe that is used here; `node:net` uses the same. */
type Handle = {
  onread: () => void;
  readonly useUserBuffer: (buffer: Uint8Array) => void;
  readonly readStart: () => number;
};

/** What is called with each text from a pipe (one character for each byte), and at its end or failure. */
type PipeReader = { readonly take: (text: string) => void; readonly end: () => void };

/**
 * Reads a pipe of a child by the handle beneath it, into one buffer: each text of a starter takes the stream of Node 60 µs
 * and 64 KiB of memory, and there are two for each program. Reads the stream if this Node does not offer the handle.
 */
function readPipe(pipe: Readable | null | undefined, { take, end }: PipeReader): void {
  // Without descriptors for its pipes a child has none, and soon reports an error.
  if (!pipe) return;
  pipe.on('error', end);
  const { streamBaseState: state, kReadBytesOrError: count } = nodeInternals('stream_wrap') ?? {};
  const handle: unknown = Reflect.get(pipe, '_handle');
  if (!isHandle(handle) || !(state instanceof Int32Array) || typeof count !== 'number') {
    pipe.setEncoding('latin1').on('data', take).once('close', end);
    return;
  }
  const buffer = Buffer.allocUnsafeSlow(bufferBytes);
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

/** Receives what a piped process prints. */
type PipeListener = {
  /** Takes a line, one character for each byte, without its end. */
  readonly take: (line: string) => void;
  /** Called once when the process has ended or could not be started. */
  readonly lost: () => void;
};

/**
 * A process that reads from this one and prints lines to it, in a session of its own. Exits with this process; does not keep
 * it alive unless held, even with unsent data.
 */
class PipedProcess {
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

/** A program for a starter, by path, with the files its output is appended to. */
export type ProgramStart = OutputFiles & {
  readonly path: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
};

/** A report of the shared starter: a word and up to three numbers. */
type Report = {
  readonly word: 'started' | 'failed' | 'refused' | 'ended' | 'flushed';
  readonly first: number;
  readonly second: number;
  readonly third: number;
};

/** Parses a line of the shared starter, which prints no others. */
export function parseReport(line: string): Report {
  const [word, first = 0, second = 0, third = 0] = line.split(' ');
  return { word: word as Report['word'], first: Number(first), second: Number(second), third: Number(third) };
}

/** Identifies a process by its number and its start time in clock ticks since boot; negative: unknown. */
export function startedProcess(pid: number, startTime: number): ProcessIdentity {
  return identityOf(pid, processScope().hasOwnProc && startTime >= 0 ? startTime : null);
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

/** The texts of a request to a starter whose programs usually have the environment `usual`. */
export function requestOf(
  { path, argv, cwd, env, stdoutPath, stderrPath }: ProgramStart,
  usual: Readonly<Record<string, string>>,
): readonly string[] {
  return [cwd, stdoutPath, stderrPath, path, String(argv.length), ...argv, ...changes(usual, env)];
}

/** Differences between two environments: `NAME=value`, or `NAME` for a variable to remove. */
function changes(from: Readonly<Record<string, string>>, to: Readonly<Record<string, string>>): readonly string[] {
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
