import { assignments } from '../../build/assignments.ts';
import { type Path, type Problem, problem } from '../../problem.ts';
import { asList } from '../../raw.ts';
import type { ActionEntry } from '../step/action-entries.ts';

/** An expression of GitHub Actions; `name` is the last word of a plain one, such as `X` of `env.X`. */
const EXPRESSION = /\$\{\{\s*([^{}]*?)\s*\}\}/;
/** The contexts and functions of GitHub Actions, without which such braces are some other text. */
const OF_ACTIONS =
  /^!?\s*(?:env|inputs|matrix|secrets|vars|github|needs|steps|runner|job|strategy)\b|^(?:format|fromJSON|toJSON|hashFiles|success|failure|always|cancelled|contains|startsWith|endsWith|join)\s*\(/;
const SHELL = /^(?:\/usr)?(?:\/bin\/)?(?:env\s+)?(?:ba|da|k|z)?sh\b/;

/**
 * Reports expressions of GitHub Actions, which look like variables: an error if a shell would refuse them, a warning
 * if they would be passed on unchanged.
 */
export function expressionProblems(entry: ActionEntry): Problem[] {
  if (!entry.hasDollar) return [];
  const { command, script, args, env, dir } = entry.raw;
  const shellText = typeof command === 'string' ? unquoted(command) : '';
  const isShellScript = command === undefined || (typeof command === 'string' && SHELL.test(command));
  return [
    ...found(entry, ['command'], shellText, 'error'),
    ...(isShellScript ? found(entry, ['script'], unquoted(script ?? ''), 'error') : []),
    ...asList(args).flatMap((text, index) => found(entry, ['args', index], text, 'warning')),
    ...assignments(env).flatMap(({ value, path }) => found(entry, ['env', ...path], value, 'warning')),
    ...found(entry, ['dir'], dir ?? '', 'warning'),
  ];
}

/** The text of a shell without single-quoted texts and here-documents. */
function unquoted(text: string): string {
  return text.includes('<<') ? '' : text.replace(/'[^']*'/g, (quoted) => (quoted.includes('${{') ? '' : quoted));
}

function found({ file, path, what }: ActionEntry, key: Path, text: string, severity: Problem['severity']): Problem[] {
  const match = EXPRESSION.exec(text);
  if (match === null) return [];
  const [expression, inner = ''] = match;
  const name = /(?:^|\.)([A-Za-z_]\w*)$/.exec(inner)?.[1];
  const isOther = !OF_ACTIONS.test(inner);
  const help = isOther
    ? 'Write it in single quotes.'
    : name === undefined
      ? 'Write a variable: $NAME.'
      : `Write $${name}, and declare it in "params" or "env".`;
  const message = `${what}: "${expression}" ${isOther ? 'is text' : 'is an expression of GitHub Actions'}, not a variable`;
  const word = { at: match.index, text: expression };
  const spot = { source: file.source, path: [...path, ...key], part: 'value', word } as const;
  return [problem('wrong-value', spot, message, { severity: isOther ? 'warning' : severity, help })];
}
