import type { Assignment } from '#core/workflow.ts';
import type { Path } from '../problem.ts';
import type { NamedTexts } from '../raw.ts';

/** A valid variable name in programs and shells. `__proto__` is excluded: no map of names and values can hold it. */
export const VARIABLE_NAME = /^(?!__proto__$)[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Variables that control shells, the loader or wf: a step must not set them for later steps. `ENV`, `DOCKER_HOST` and
 * `GIT_COMMIT` are not included: outputs often have these names.
 */
export const STEERING_NAME =
  /^(?:PATH|IFS|HOME|CDPATH|SHELLOPTS|BASHOPTS|PS4|PROMPT_COMMAND|MAKEFLAGS|TAR_OPTIONS|BASH_ENV|NODE_OPTIONS|(?:LD|DYLD|WF)_\w*)$/;

/** An entry of `env`, and its path within `env`; `isBare`: a text without `=`, whose value is empty. */
export type LocatedAssignment = Assignment & { readonly path: Path; readonly isBare: boolean };

/** The entries of `env` in order, in any of its forms. */
export function assignments(env: NamedTexts | undefined): LocatedAssignment[] {
  if (env === undefined) return [];
  if (!Array.isArray(env)) return ofMap(env as { [name: string]: string }, []);
  return env.flatMap((entry: string | { [name: string]: string }, index) =>
    typeof entry === 'string' ? [ofText(entry, index)] : ofMap(entry, [index]),
  );
}

function ofMap(map: { readonly [name: string]: string }, path: Path): LocatedAssignment[] {
  return Object.entries(map).map(([name, value]) => ({ name, value, path: [...path, name], isBare: false }));
}

function ofText(text: string, index: number): LocatedAssignment {
  const at = text.indexOf('=');
  const isBare = at === -1;
  const name = isBare ? text : text.slice(0, at);
  return { name: name.trim(), value: isBare ? '' : text.slice(at + 1), path: [index], isBare };
}

/** The name in `NAME`, `$NAME` or `${NAME}`; null if there is none. */
export function variableName(text: string): string | null {
  const name = /^\$\{(.*)\}$/.exec(text)?.[1] ?? text.replace(/^\$/, '');
  return VARIABLE_NAME.test(name) ? name : null;
}

/** The variable that `output` names; null without one. */
export function outputName({ output }: { readonly output?: unknown }): string | null {
  return typeof output === 'string' ? output.replace(/^\$?\{?|\}$/g, '') : null;
}
