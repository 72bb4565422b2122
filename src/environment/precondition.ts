import { expandText, splitBackticks } from '#core/words/interpolate.ts';
import { PathProblem } from '#core/words/json-path.ts';
import { withoutPaths } from '#core/words/shell-paths.ts';
import type { Precondition } from '#core/workflow.ts';
import type { Scope } from '#executors/executor.ts';
import { type Environment, EvaluationProblem, searchFor } from './environment.ts';

/** Context for checking conditions. */
export type PreconditionContext = {
  readonly what: 'precondition' | 'repeat condition';
  readonly scope: Scope;
  /** Runs a command of the condition with these extra variables. */
  readonly capture: (command: string, extra: Environment) => Promise<Captured>;
};

/** Result of a command. `ended`: false if it could not run to its end. `exitCode`: null after a signal. */
export type Captured = {
  readonly ok: boolean;
  readonly ended: boolean;
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly message: string;
};

/**
 * Returns null if all preconditions are met, else one line naming the one that is not and the actual value. Throws an
 * `EvaluationProblem` for a condition that cannot be evaluated: skipping the step would hide the mistake.
 */
export async function firstUnmet(
  preconditions: readonly Precondition[],
  context: PreconditionContext,
): Promise<string | null> {
  for (const precondition of preconditions) {
    const problem = await check(precondition, context);
    if (problem !== null) return problem;
  }
  return null;
}

async function check(precondition: Precondition, context: PreconditionContext): Promise<string | null> {
  const { condition, expected, negate = false } = precondition;
  if (expected === null) return checkCommand(condition, negate, context);
  const actual = await evaluate(condition, context);
  const wanted = expand(expected, condition, context);
  if (matches(condition, actual, wanted, context) !== negate) return null;
  return `${condition} was ${JSON.stringify(actual)}, expected ${negate ? 'not ' : ''}${JSON.stringify(wanted)}`;
}

async function checkCommand(command: string, negate: boolean, context: PreconditionContext): Promise<string | null> {
  const { ok, exitCode, message } = await run(command, command, context);
  // A shell that cannot start the program reports 126 or 127: the opposite of the condition does not follow from it.
  if (negate && (exitCode === 126 || exitCode === 127)) throw unevaluated(command, message, context);
  if (ok !== negate) return null;
  return `\`${command}\`: ${ok ? 'exit 0, expected a failure' : message}`;
}

async function evaluate(condition: string, context: PreconditionContext): Promise<string> {
  let value = '';
  for (const part of splitBackticks(condition)) {
    if ('text' in part) value += expand(part.text, condition, context);
    else value += (await run(part.command, condition, context)).stdout;
  }
  return value;
}

function expand(text: string, condition: string, context: PreconditionContext): string {
  return evaluated(condition, context, () => expandText(text, context.scope));
}

async function run(command: string, condition: string, context: PreconditionContext): Promise<Captured> {
  const { code, env } = evaluated(condition, context, () => withoutPaths(command, context.scope));
  const result = await context.capture(code, env);
  if (!result.ended) throw unevaluated(condition, result.message, context);
  const missing = result.ok ? null : await missingProgram(code, context);
  if (missing !== null) throw unevaluated(condition, `command not found: "${missing}"`, context);
  return result;
}

/** The program of a command if the shell does not find it. Others may exit with 127 as well: `command -v docker`. */
async function missingProgram(command: string, { capture }: PreconditionContext): Promise<string | null> {
  const program = /^\s*(\[\[|[\w./][\w./+-]*|"?\$\{?[A-Za-z_]\w*\}?"?)(?=[\s;|&<>]|$)/.exec(command)?.[1];
  if (program === undefined) return null;
  const { ok } = await capture(`command -v ${program}`, {});
  return ok ? null : program;
}

/** What `work` returns; a problem that it throws names the condition. */
function evaluated<T>(condition: string, context: PreconditionContext, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof PathProblem || error instanceof EvaluationProblem)) throw error;
    throw unevaluated(condition, error.message, context);
  }
}

/** Compares the whole value and each of its lines: `^` and `$` in a pattern also match at line ends. */
function matches(condition: string, actual: string, wanted: string, context: PreconditionContext): boolean {
  const texts = [actual, ...actual.split(/\r?\n/)];
  if (!wanted.startsWith('re:')) return texts.includes(wanted);
  return texts.some(evaluated(condition, context, () => searchFor(wanted)));
}

function unevaluated(condition: string, why: string, { what }: PreconditionContext): EvaluationProblem {
  return new EvaluationProblem(`${what} "${condition}" cannot be evaluated: ${why}`);
}
