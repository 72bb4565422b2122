import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeIfPossible } from '#system/remove-file.ts';

/** A script in a private file; remove it when its interpreter has ended. */
export type ScriptFile = { readonly path: string; readonly remove: () => void };

/**
 * Writes a script verbatim to a file that only this user can read. The name begins with the step's, for error messages;
 * the rest only has to be unique in a private directory, which does not justify loading `node:crypto` (3 ms).
 */
export function writeScript(directory: string, step: string, text: string): ScriptFile {
  const name = step.replaceAll(/[^\w.-]+/g, '-').slice(0, 40);
  const path = join(directory, `${name}-${Math.random().toString(36).slice(2, 12)}`);
  writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
  return { path, remove: () => removeIfPossible(path) };
}

/**
 * The interpreter in the first line of a script, with its one argument, parsed like Linux does; null if there is none.
 * It gets the file as an argument, which also works where files must not be executed.
 */
export function interpreterLine(script: string): readonly string[] | null {
  const line = /^#![ \t]*([^ \t\n]+)(?:[ \t]+([^\n]*))?/.exec(script);
  if (line === null) return null;
  const [, interpreter = '', rest = ''] = line;
  const argument = rest.replace(/[ \t\r]+$/, '');
  return argument === '' ? [interpreter] : [interpreter, argument];
}
