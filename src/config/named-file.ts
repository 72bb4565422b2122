import { readFileSync } from 'node:fs';
import { readRegular } from '#system/regular-file.ts';
import type { Sourced } from './resolve.ts';

/**
 * The text of a file that a setting names. On the command line and in a variable it may be a pipe (`--token-file
 * <(show)`), which is read to its end; a file named in a configuration file must not block, as every command reads it.
 * Throws the system's error, or an error that names the kind of file.
 */
export function readNamedFile(path: string, level: Sourced<string>['level']): string {
  const mayBePipe = level === 'flag' || level === 'variable';
  return mayBePipe ? readFileSync(path, 'utf8') : readRegular(path).toString('utf8');
}
