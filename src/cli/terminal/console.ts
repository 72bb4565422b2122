import { write } from 'node:fs';
import { isTerminal, mayBeTerminal } from '#fast/os.ts';
import type { Terminal } from '#render/terminal.ts';

/** The output streams of a command and their properties. */
export type Console = {
  readonly out: Output;
  readonly err: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly outTerminal: Terminal;
  readonly errTerminal: Terminal;
};

/** Whether a variable such as `CI` is set to anything but no. */
export function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== 'false' && value !== '0';
}

/** Opens the streams of the process. `color`: whether to use colours; null: only on terminals that support them. */
export function createConsole(env: NodeJS.ProcessEnv, color: boolean | null): Console {
  const err = createOutput(2, () => {});
  const out = createOutput(1, (error) => err.write(`wf: cannot write to standard output: ${error.message}\n`));
  return { out, err, env, outTerminal: terminal(1, out, env, color), errTerminal: terminal(2, err, env, color) };
}

function terminal(fd: 1 | 2, output: Output, env: NodeJS.ProcessEnv, color: boolean | null): Terminal {
  const isShown = isTerminal(fd);
  return {
    write: output.write,
    isTerminal: isShown,
    size: () => size(fd, env),
    onResize: (callback) => {
      const stream = fd === 1 ? process.stdout : process.stderr;
      stream.on('resize', callback);
      return () => void stream.off('resize', callback);
    },
    color: color ?? (isShown && env['TERM'] !== 'dumb'),
    stripsColors: color === false,
    unicode: /utf-?8/i.test(env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || ''),
  };
}

/** Node updates the size on a signal; lines painted before that would wrap in a narrower window. */
function refreshSize(stream: NodeJS.WriteStream): void {
  const refresh: unknown = Reflect.get(stream, '_refreshSize');
  if (typeof refresh === 'function') Reflect.apply(refresh, stream, []);
}

/** A terminal of unknown size counts as 80 columns and 24 rows. */
function size(fd: 1 | 2, env: NodeJS.ProcessEnv): { columns: number; rows: number } {
  const stream = isTerminal(fd) ? (fd === 1 ? process.stdout : process.stderr) : null;
  if (stream !== null) refreshSize(stream);
  const columns = stream?.columns || Number(env['COLUMNS']) || 80;
  const rows = stream?.rows || Number(env['LINES']) || 24;
  return { columns, rows };
}

/** A stream of the process that is written in order. */
export type Output = {
  readonly write: (text: string | Uint8Array) => void;
  /** Whether so much is not written yet that writers of large output should wait for `drained`. */
  readonly isBehind: () => boolean;
  /** Resolves when everything is written or cannot be written. */
  readonly drained: () => Promise<void>;
  /** Whether writing has ended because the reader has gone or the disk is full. */
  readonly isClosed: () => boolean;
  /** Whether output was lost, for example on a full disk. */
  readonly hasFailed: () => boolean;
};

const MOST_PENDING_BYTES = 4 * 1024 * 1024;
/** The interval between attempts to write to a reader that is not ready. */
const RETRY_MS = 5;

/**
 * Writes to a descriptor in the background, so that a slow or stopped reader delays only its own output; writers of large
 * output check `isBehind` first. If the reader goes, writing ends silently; any other failure (a full disk) is reported once to
 * `onFailure`.
 */
export function createOutput(fd: number, onFailure: (error: Error) => void): Output {
  let waiting: Buffer[] = [];
  let pendingBytes = 0;
  let isWriting = false;
  let isClosed = false;
  let hasFailed = false;
  let whenDrained: (() => void)[] = [];

  const settle = () => {
    isWriting = false;
    for (const resolve of whenDrained) resolve();
    whenDrained = [];
  };
  const close = (error: NodeJS.ErrnoException) => {
    isClosed = true;
    waiting = [];
    pendingBytes = 0;
    hasFailed = error.code !== 'EPIPE' && error.code !== 'EBADF';
    if (hasFailed) onFailure(error);
    settle();
  };
  const next = () => {
    if (waiting.length === 0) return settle();
    const bytes = waiting.length === 1 && waiting[0] ? waiting[0] : Buffer.concat(waiting);
    waiting = [];
    writeFrom(bytes, 0);
  };
  const writeFrom = (bytes: Buffer, from: number) => {
    write(fd, bytes, from, bytes.length - from, null, (error, written) => {
      if (error?.code === 'EAGAIN') return void setTimeout(writeFrom, RETRY_MS, bytes, from);
      if (error) return close(error);
      pendingBytes -= written;
      if (from + written < bytes.length) writeFrom(bytes, from + written);
      else next();
    });
  };

  return {
    write: (text) => {
      if (isClosed || text.length === 0) return;
      const bytes = typeof text === 'string' ? Buffer.from(text) : Buffer.from(text);
      waiting.push(bytes);
      pendingBytes += bytes.length;
      if (isWriting) return;
      isWriting = true;
      // Not `queueMicrotask`, which sets up asynchronous resources.
      void Promise.resolve().then(next);
    },
    isBehind: () => pendingBytes > MOST_PENDING_BYTES,
    isClosed: () => isClosed,
    hasFailed: () => hasFailed,
    drained: () => (isWriting ? new Promise((resolve) => whenDrained.push(resolve)) : Promise.resolve()),
  };
}

/** Ends this process by SIGHUP if it may be on a terminal: Node itself would restore a closed one, and abort. */
export function endByHangup(): void {
  if (!([0, 1, 2] as const).some(mayBeTerminal)) return;
  process.removeAllListeners('SIGHUP');
  process.kill(process.pid, 'SIGHUP');
}
