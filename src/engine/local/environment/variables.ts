import type { Scope } from '../../../executors/executor.ts';
import type { Environment } from './environment.ts';

/** What no environment takes is kept out of it: every later program would fail to start. */
const longestEnvironmentValue = 100 * 1024;

function fitsEnvironment(value: string): boolean {
  return Buffer.byteLength(value) <= longestEnvironmentValue && !value.includes('\0');
}

/**
 * The variables of one run as its steps see them: the process's environment beneath the workflow's `env` and parameters,
 * beneath the outputs of the steps so far.
 */
export class RunVariables {
  readonly #args: readonly string[];
  /** Stores an output that no environment takes, and tells where. */
  readonly #keep: (name: string, value: string) => string;
  /** Outputs that no environment takes, for their length or a NUL. */
  readonly #others = new Map<string, string>();
  readonly #env: Record<string, string>;

  constructor(environment: Environment, args: readonly string[], keep: (name: string, value: string) => string) {
    this.#args = args;
    this.#keep = keep;
    this.#env = { ...environment };
  }

  /** The parameters as arguments. */
  get args(): readonly string[] {
    return this.#args;
  }

  /** Sets a variable for everything that starts from now on. */
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

  /** What a step sees, with variables of its own on top. Further ones may be added to `env`; `scope` sees them too. */
  forStep(own: Environment): { readonly scope: Scope; readonly env: Record<string, string> } {
    const env = { ...this.#env, ...own };
    const scope: Scope = (name) => {
      if (Object.hasOwn(env, name)) return env[name];
      return this.#others.get(name) ?? this.#args[Number(name) - 1];
    };
    return { scope, env };
  }
}
