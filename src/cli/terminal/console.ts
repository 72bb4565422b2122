import type { Terminal } from '#render/reporters/reporter.ts';
import { isTerminal } from '#start-up/os.ts';
import { createOutput, type Output } from './output.ts';

/** The output streams of a command and their properties. */
export type Console = {
  readonly out: Output;
  readonly err: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly outTerminal: Terminal;
  readonly errTerminal: Terminal;
};

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
