import { closeSync, fstatSync, readSync } from 'node:fs';
import { openRegular } from '../../../regular-file.ts';
import type { LogPaths } from '../../store.ts';

/** More is not looked at: a line that is longer begins somewhere inside. */
const mostBytes = 64 * 1024;

/**
 * The last lines of an attempt's output, without line ends. What a program has to say about its failure it says on
 * standard error, so that comes last and has precedence; lines of standard output fill up what it leaves free.
 */
export function readTail({ stdoutPath, stderrPath }: LogPaths, lines: number): readonly string[] {
  const errors = lastLines(stderrPath, lines);
  return errors.length === lines ? errors : [...lastLines(stdoutPath, lines - errors.length), ...errors];
}

function lastLines(path: string, lines: number): readonly string[] {
  const text = readEnd(path).replace(/\r?\n$/, '');
  return text === '' ? [] : text.split(/\r?\n/).slice(-lines);
}

/** Empty for a file that cannot be read: a recap is no reason to fail. */
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
