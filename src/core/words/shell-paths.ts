import { PathProblem, valueAt } from './json-path.ts';
import { mayNest, nestedMessage, type SealedCode, sealNested } from './nested-shells.ts';
import { scanShell } from './shell-scan.ts';
import { parseCommand } from './words.ts';

/** Shell code without JSON paths, and the variables that replace them. */
export type PathlessCode = { readonly code: string; readonly env: Readonly<Record<string, string>> };

type Scope = (name: string) => string | undefined;

/**
 * Replaces each `${NAME.key}`, which no shell could expand, by a variable of its own, whose value the shell treats as
 * data. `${NAME[0]}` is left to the shell, since it may be a shell array, unless `NAME` holds a JSON list or map.
 * Variables in the code of nested shells are left to these. Throws a `PathProblem`.
 */
export function withoutPaths(code: string, scope: Scope): PathlessCode {
  const { code: pathless, env } = replacePaths(code, scope);
  const isOwn = (name: string) => Object.hasOwn(env, name) || scope(name) !== undefined;
  return { code: checked(sealNested(pathless, { isOwn })), env };
}

/**
 * The text of a command that is split into words, with the variables in the code of nested shells left to these; other
 * texts unchanged. Throws a `PathProblem`.
 */
export function sealedWords(command: string, scope: Scope): PathlessCode {
  const unchanged = { code: command, env: {} };
  if (!mayNest(command) || parseCommand(command).kind === 'shell') return unchanged;
  const { code: pathless, env } = replacePaths(command, scope);
  const code = checked(sealNested(pathless, { isOwn: () => true, isSplit: true }));
  return code === pathless ? unchanged : { code, env };
}

function checked({ code, problems }: SealedCode): string {
  const first = problems.find(({ kind }) => kind !== 'unknown');
  if (first !== undefined) throw new PathProblem(nestedMessage(first));
  return code;
}

function replacePaths(code: string, scope: Scope): PathlessCode {
  if (!/\$\{\w+[.[]/.test(code)) return { code, env: {} };
  const env: Record<string, string> = {};
  let result = '';
  let at = 0;
  for (const found of scanShell(code).paths) {
    const isOfTheShell = found.path.startsWith('[') && !/^\s*[[{]/.test(scope(found.name) ?? '');
    if (isOfTheShell) continue;
    const name = `WF_PATH_${Object.keys(env).length + 1}`;
    env[name] = valueAt(found.name, found, scope) ?? '';
    result += `${code.slice(at, found.start)}\${${name}`;
    at = found.end;
  }
  return { code: result + code.slice(at), env };
}
