import { valueAt } from './json-path.ts';
import { type ShellPath, scanShell } from './shell-scan.ts';

/** Shell code without JSON paths, and the variables that replace them. */
export type PathlessCode = { readonly code: string; readonly env: Readonly<Record<string, string>> };

/**
 * Replaces each `${NAME.key}`, which no shell could expand, by a variable of its own, whose value the shell treats as
 * data. `${NAME[0]}` is left to the shell, since it may be a shell array, unless `NAME` holds a JSON list or map.
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
