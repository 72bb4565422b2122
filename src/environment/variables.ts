import { expandText, splitBackticks } from '#core/words/interpolate.ts';
import { withoutPaths } from '#core/words/shell-paths.ts';
import type { Assignment, Template } from '#core/workflow.ts';
import type { Scope } from '#executors/executor.ts';
import { type Environment, EvaluationProblem } from './environment.ts';

/** Larger values stay out of the environment: with them every program would fail to start. */
const MAX_ENVIRONMENT_VALUE_BYTES = 100 * 1024;

/** Whether the value can be a variable of a program. */
export function fitsEnvironment(value: string): boolean {
  return Buffer.byteLength(value) <= MAX_ENVIRONMENT_VALUE_BYTES && !value.includes('\0');
}

/** The variables of a run: process environment, then `env` and parameters, then outputs of finished steps. */
export class RunVariables {
  readonly #args: readonly string[];
  /** Stores an output that does not fit into the environment; returns its path. Throws a `WfError` `storage`. */
  readonly #keep: (name: string, value: string) => string;
  /** Outputs kept out of the environment because of their length or a NUL character. */
  readonly #others = new Map<string, string>();
  readonly #env: Record<string, string>;

  constructor(environment: Environment, args: readonly string[], keep: (name: string, value: string) => string) {
    this.#args = args;
    this.#keep = keep;
    this.#env = { ...environment };
  }

  get args(): readonly string[] {
    return this.#args;
  }

  /** Sets a variable for everything that starts afterwards. Throws what `keep` throws. */
  set(name: string, value: string): void {
    if (fitsEnvironment(value)) {
      this.#env[name] = value;
      if (this.#others.delete(name)) delete this.#env[`WF_OUTPUT_FILE_${name}`];
    } else {
      delete this.#env[name];
      this.#others.set(name, value);
      this.#env[`WF_OUTPUT_FILE_${name}`] = this.#keep(name, value);
    }
  }

  /**
   * The variables of a step, its own on top. Entries may be added to `env`; `scope` sees them too. `resultOf` looks up the
   * results of steps as JSON, by names of the steps.
   */
  forStep(
    own: Environment,
    resultOf: Scope = () => undefined,
  ): { readonly scope: Scope; readonly env: Record<string, string> } {
    const env = { ...this.#env, ...own };
    const scope: Scope = (name) => {
      if (Object.hasOwn(env, name)) return env[name];
      if (name.endsWith('.')) return resultOf(name.slice(0, -1));
      return this.#others.get(name) ?? this.#args[Number(name) - 1];
    };
    return { scope, env };
  }
}

/** Context for evaluating the entries of a step's `env`. */
export type StepEnvContext = {
  readonly scope: Scope;
  /** Receives the entries one by one; `scope` reads from it. */
  readonly env: Record<string, string>;
  readonly capture: (command: string, env: Environment) => Promise<{ ok: boolean; stdout: string; message: string }>;
};

/**
 * Evaluates the `env` of a step, where an entry may use those before it. Throws an `EvaluationProblem` or a
 * `PathProblem`.
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
