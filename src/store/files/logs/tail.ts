import { closeSync, fstatSync, readSync } from 'node:fs';
import { openRegular } from '../../../regular-file.ts';
import type { LogPaths } from '../../store.ts';

/** Maximum number of bytes read: a longer line is cut at its start. */
const mostBytes = 64 * 1024;

/**
 * The last lines of an attempt's output, without line ends. Programs report failures on standard error, so its lines
 * take precedence and come last; lines of standard output fill the rest.
 */
export function readTail({ stdoutPath, stderrPath }: LogPaths, lines: number): readonly string[] {
  const errors = lastLines(stderrPath, lines);
  return errors.length === lines ? errors : [...lastLines(stdoutPath, lines - errors.length), ...errors];
}

function lastLines(path: string, lines: number): readonly string[] {
  const text = readEnd(path).replace(/\r?\n$/, '');
  return text === '' ? [] : text.split(/\r?\n/).slice(-lines);
}

/** Empty for a file that cannot be read: that is no reason for a recap to fail. */
function readEnd(path: string): string {
  let fd: number | null = null;
  try {
    fd = openRegular(path);
    const { size } = fstatSync(fd);
    const buffer = Buffer.allocUnsafe(Math.min(size, mostBytes));
    const length = readSync(fd, buffer, 0, buffer.length, size - buffer.length);
    return buffer.toString('utf8', 0, length);
  } catch {
    return '';
  } finally {
    if (fd !== null) closeSync(fd);
  }
}
