import { workflowNames } from '../../core/words/own-names.ts';
import type { Attempt } from '../executor.ts';
import { quoteWord } from './quote-word.ts';

/** What tells a step of its run; the rest of `WF_*` is about this machine. */
const runVariables = [
  ...['WF_RUN_ID', 'WF_WORKFLOW', 'WF_STEP', 'WF_ATTEMPT', 'WF_STATUS', 'WF_FAILED_STEP', 'WF_ERROR'],
  ...['DAG_NAME', 'DAG_REQUEST_ID'],
];

/**
 * The names to which the workflow gives values: they mean the same on another machine. All others (`HOME`, `PATH`) are the
 * other machine's own.
 */
export function ownNames(attempt: Attempt): ReadonlySet<string> {
  const { step, scope, env } = attempt;
  const known = [...runVariables, ...workflowNames(attempt), ...step.env.map(({ name }) => name)];
  return new Set(known.filter((name) => (env[name] ?? scope(name)) !== undefined));
}

/**
 * Assignments, as shell code, for a program on another machine: the workflow's own variables, and those of this machine that
 * the text names and the other machine has not. What is too long for an environment is in none here either.
 */
export function assignments(text: string, attempt: Attempt): readonly string[] {
  const own = ownNames(attempt);
  const others = [...mentionedNames(text)].filter((name) => !own.has(name));
  const assign = (names: Iterable<string>, code: (name: string) => string) =>
    [...names].flatMap((name) => {
      const value = attempt.env[name];
      return value === undefined ? [] : [`${code(name)}=${quoteWord(value)}`];
    });
  return [
    ...assign(own, (name) => `export ${name}`),
    ...assign(others, (name) => `[ "\${${name}+x}" ] || export ${name}`),
  ];
}

/** Every name that may be meant as a variable; one too many does no harm. */
function mentionedNames(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(/\$\{?#?([A-Za-z_]\w*)/g)].map(([, name = '']) => name));
}
