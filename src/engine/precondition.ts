import { expandText, splitBackticks } from '../core/interpolate.ts';
import type { Precondition } from '../core/workflow.ts';
import type { Scope } from '../executors/executor.ts';
import { EvaluationProblem } from './environment.ts';

/** What a precondition is checked with. */
export type PreconditionContext = {
  readonly scope: Scope;
  /** Runs a command of the condition. */
  readonly capture: (command: string) => Promise<Captured>;
};

/** What a command of a condition printed. `ok`: it exited with 0; `ended` is false where it could not run to its end. */
export type Captured = {
  readonly ok: boolean;
  readonly ended: boolean;
  readonly stdout: string;
  /** Why it is not `ok`. */
  readonly message: string;
};

/**
 * Null when all are met, else one line that says which is not and what was found instead. Throws an `EvaluationProblem` for a
 * condition that cannot be evaluated: it is neither met nor unmet, and to skip the step would hide the mistake.
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

async function check({ condition, expected }: Precondition, context: PreconditionContext): Promise<string | null> {
  if (expected === null) {
    const { ok, message } = await run(condition, condition, context);
    return ok ? null : `\`${condition}\`: ${message}`;
  }
  const actual = await evaluate(condition, context);
  const wanted = expandText(expected, context.scope);
  if (await matches(condition, actual, wanted)) return null;
  return `${condition} was ${JSON.stringify(actual)}, expected ${JSON.stringify(wanted)}`;
}

async function evaluate(condition: string, context: PreconditionContext): Promise<string> {
  let value = '';
  for (const part of splitBackticks(condition)) {
    if ('text' in part) value += expandText(part.text, context.scope);
    else value += (await run(part.command, condition, context)).stdout;
  }
  return value;
}

async function run(command: string, condition: string, { capture }: PreconditionContext): Promise<Captured> {
  const result = await capture(command);
  if (!result.ended) throw unevaluated(condition, result.message);
  return result;
}

/** The whole value counts, and each of its lines: `^` and `$` of a pattern are also the ends of a line. */
async function matches(condition: string, actual: string, wanted: string): Promise<boolean> {
  const texts = [actual, ...actual.split(/\r?\n/)];
  if (!wanted.startsWith('re:')) return texts.includes(wanted);
  const { RE2JS } = await import('re2js');
  try {
    const pattern = RE2JS.compile(wanted.slice('re:'.length));
    return texts.some((text) => pattern.matcher(text).find());
  } catch (error) {
    // A pattern in the file was checked; one that a variable holds is only known now.
    throw unevaluated(condition, `"${wanted}" is not a regular expression: ${messageOf(error)}`);
  }
}

function unevaluated(condition: string, why: string): EvaluationProblem {
  return new EvaluationProblem(`precondition "${condition}" cannot be evaluated: ${why}`);
}

function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/^error parsing regexp:\s*/i, '');
}
