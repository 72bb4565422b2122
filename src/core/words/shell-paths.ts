import { valueAt } from './json-path.ts';
import { type ShellPath, scanShell } from './shell-scan.ts';

/** Shell code without paths, and the variables that have come in their place. */
export type PathlessCode = { readonly code: string; readonly env: Readonly<Record<string, string>> };

/**
 * Puts a variable of its own in the place of each `${NAME.key}`, which no shell could expand: its value is data there, as
 * that of any variable. `${NAME[0]}` is left to the shell, whose array it may be, unless `NAME` holds a list or map of JSON.
 * Throws a `PathProblem`.
 */
export function withoutPaths(code: string, scope: (name: string) => string | undefined): PathlessCode {
  if (!/\$\{\w+[.[]/.test(code)) return { code, env: {} };
  const env: Record<string, string> = {};
  let result = '';
  let at = 0;
  for (const found of scanShell(code).paths) {
    if (isOfTheShell(found, scope)) continue;
    const name = `WF_PATH_${Object.keys(env).length + 1}`;
    env[name] = valueAt(found.name, found, scope) ?? '';
    result += `${code.slice(at, found.start)}\${${name}`;
    at = found.end;
  }
  return { code: result + code.slice(at), env };
}

function isOfTheShell({ name, path }: ShellPath, scope: (name: string) => string | undefined): boolean {
  return path.startsWith('[') && !/^\s*[[{]/.test(scope(name) ?? '');
}
