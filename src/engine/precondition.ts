import { expandText, splitBackticks } from '../core/interpolate.ts';
import type { Precondition } from '../core/workflow.ts';
import type { Scope } from '../executors/executor.ts';

/** What a precondition is checked with. */
export type PreconditionContext = {
  readonly scope: Scope;
  /** Runs a command of the condition; `ok` is exit 0. */
  readonly capture: (command: string) => Promise<{ ok: boolean; stdout: string; message: string }>;
};

/** Null when all are met, else one line that says which is not and what was found instead. */
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
    const { ok, message } = await context.capture(condition);
    return ok ? null : `\`${condition}\`: ${message}`;
  }
  const actual = await evaluate(condition, context);
  const wanted = expandText(expected, context.scope);
  if (await matches(actual, wanted)) return null;
  return `${condition} was ${JSON.stringify(actual)}, expected ${JSON.stringify(wanted)}`;
}

async function evaluate(condition: string, context: PreconditionContext): Promise<string> {
  let value = '';
  for (const part of splitBackticks(condition)) {
    if ('text' in part) value += expandText(part.text, context.scope);
    else value += (await context.capture(part.command)).stdout;
  }
  return value;
}

async function matches(actual: string, wanted: string): Promise<boolean> {
  if (!wanted.startsWith('re:')) return actual === wanted || actual.split('\n').includes(wanted);
  const { RE2JS } = await import('re2js');
  return RE2JS.compile(wanted.slice('re:'.length)).matcher(actual).find();
}
