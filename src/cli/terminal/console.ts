import type { Terminal } from '../../render/reporters/reporter.ts';
import { isTerminal } from './is-terminal.ts';
import { createOutput, type Output } from './output.ts';

/** What a command prints to, and what it knows of it. */
export type Console = {
  readonly out: Output;
  readonly err: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly outTerminal: Terminal;
  readonly errTerminal: Terminal;
};

/** The process's own streams. `color`: whether there are colours; null: only on a terminal that can show them. */
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

/** Node learns of a new size by a signal: what is painted before that comes would be broken by a window that is narrower. */
function refreshSize(stream: NodeJS.WriteStream): void {
  const refresh: unknown = Reflect.get(stream, '_refreshSize');
  if (typeof refresh === 'function') Reflect.apply(refresh, stream, []);
}

/** A terminal that does not tell its size has 80 columns and 24 rows, as they all once had. */
function size(fd: 1 | 2, env: NodeJS.ProcessEnv): { columns: number; rows: number } {
  const stream = isTerminal(fd) ? (fd === 1 ? process.stdout : process.stderr) : null;
  if (stream !== null) refreshSize(stream);
  const columns = stream?.columns || Number(env['COLUMNS']) || 80;
  const rows = stream?.rows || Number(env['LINES']) || 24;
  return { columns, rows };
}
