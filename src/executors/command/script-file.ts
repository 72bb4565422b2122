import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeIfPossible } from '../../remove-file.ts';

/** The text of a script in a private file; to be removed when its interpreter has ended. */
export type ScriptFile = { readonly path: string; readonly remove: () => void };

/**
 * Writes a script, as it is, to a file that nobody else may read. The name begins like the step's, for error messages; what
 * follows only tells it from others in a private directory, which is not worth loading `node:crypto` (3 ms) for.
 */
export function writeScript(directory: string, step: string, text: string): ScriptFile {
  const name = step.replaceAll(/[^\w.-]+/g, '-').slice(0, 40);
  const path = join(directory, `${name}-${Math.random().toString(36).slice(2, 12)}`);
  writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
  return { path, remove: () => removeIfPossible(path) };
}

/**
 * The interpreter that a script names in its first line, with its one argument, as Linux reads it; null without one. The
 * file is given to it as an argument, not started itself: that works also where nothing may be executed.
 */
export function interpreterLine(script: string): readonly string[] | null {
  const line = /^#![ \t]*([^ \t\n]+)(?:[ \t]+([^\n]*))?/.exec(script);
  if (line === null) return null;
  const [, interpreter = '', rest = ''] = line;
  const argument = rest.replace(/[ \t\r]+$/, '');
  return argument === '' ? [interpreter] : [interpreter, argument];
}
