import { expandText, splitBackticks } from '#core/words/interpolate.ts';
import { withoutPaths } from '#core/words/shell-paths.ts';
import type { Assignment, Template } from '#core/workflow.ts';
import type { Scope } from '#executors/executor.ts';
import { type Environment, EvaluationProblem } from './environment.ts';

/** Context for evaluating the entries of a step's `env`. */
export type StepEnvContext = {
  readonly scope: Scope;
  /** Receives the entries one by one; `scope` reads from it. */
  readonly env: Record<string, string>;
  readonly capture: (command: string, env: Environment) => Promise<{ ok: boolean; stdout: string; message: string }>;
};

/**
 * Evaluates the `env` of a step or handler (variables and backticks) into its environment. An entry may use all entries
 * before it. Throws an `EvaluationProblem` when a substitution fails, or a `PathProblem`.
 */
export async function addStepEnv(entries: readonly Assignment[], context: StepEnvContext): Promise<void> {
  for (const { name, value } of entries) context.env[name] = await evaluateText(`env "${name}"`, value, context);
}

/** Evaluates the variables and backticks of a text; `what` names it in messages. */
export async function evaluateText(
  what: string,
  template: Template,
  { scope, env, capture }: StepEnvContext,
): Promise<string> {
  let text = '';
  for (const part of splitBackticks(template)) {
    if ('text' in part) {
      text += expandText(part.text, scope);
      continue;
    }
    const pathless = withoutPaths(part.command, scope);
    const { ok, stdout, message } = await capture(pathless.code, { ...env, ...pathless.env });
    if (!ok) throw new EvaluationProblem(`${what}: \`${part.command}\`: ${message}`);
    text += stdout;
  }
  return text;
}
