import { checkParam } from '#core/param-rule.ts';
import type { Param } from '#core/run/run.ts';
import { expandText, lookupIn, namesIn, splitBackticks } from '#core/words/interpolate.ts';
import { PathProblem } from '#core/words/json-path.ts';
import { withoutPaths } from '#core/words/shell-paths.ts';
import type { Assignment, ParamRule, Template, Workflow } from '#core/workflow.ts';
import type { DotenvRead } from '#engine/engine.ts';
import { MOST_PATTERN_SIZE, matchesPattern, patternProblem, patternSize, patternTest } from '#system/pattern.ts';

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string>>;

/** The environment of a run before its own `env`: that of the process, overridden by dotenv files. */
export function baseEnvironment(dotenv: DotenvRead | undefined, processEnv: Environment): Environment {
  return dotenv === undefined ? processEnv : { ...processEnv, ...dotenv.variables };
}

/** Runs the command between backticks, as `written` in the file; resolves to its output, throws if it fails. */
export type Substitute = (command: string, env: Environment, written: string) => Promise<string>;

/** A value of `params` or `env` that cannot be evaluated; the message is shown to the user. */
export class EvaluationProblem extends Error {}

/**
 * Searches for the pattern of a text that starts with `re:`. Throws an `EvaluationProblem` for an invalid or too large one:
 * patterns in the file were checked at load time, but one from a variable is known only now.
 */
export function searchFor(text: string): (searched: string) => boolean {
  if (patternSize(text) > MOST_PATTERN_SIZE)
    throw new EvaluationProblem('the regular expression is too large: reduce the repetitions in "{...}"');
  const pattern = text.slice('re:'.length);
  const problem = patternProblem(pattern);
  if (problem !== null) throw new EvaluationProblem(`"${text}" is not a regular expression: ${problem}`);
  return patternTest(pattern);
}

/** The evaluated `params` and `env` of one run. */
export type RunEnvironment = {
  readonly params: readonly Param[];
  /** The `env` entries, overridden by named parameters. */
  readonly variables: Environment;
};

/**
 * Evaluates `env` and the defaults that the caller did not replace. An entry may use the process environment, earlier
 * entries and parameters; a default may use earlier parameters and `env`. Each value is evaluated once, on first use.
 * Throws an `EvaluationProblem` when a substitution fails or a value depends on itself.
 */
export async function evaluateEnvironment(
  workflow: Pick<Workflow, 'params' | 'env' | 'secrets'>,
  given: readonly Param[],
  processEnv: Environment,
  substitute: Substitute,
): Promise<RunEnvironment> {
  return new Evaluation(workflow, given, processEnv, substitute).all();
}

/** A parameter before evaluation: given values are data, defaults are still templates. */
type PendingParam = Param & { readonly isTemplate: boolean; readonly rule?: ParamRule };

/**
 * Replaces defaults: by name, then in order at the positions that no name took, which keep their names; the rest
 * follows.
 */
export function mergeParams(defaults: Workflow['params'], given: readonly Param[]): readonly PendingParam[] {
  const merged: PendingParam[] = defaults.map((param) => ({ ...param, isTemplate: true }));
  const placed = new Set<Param>();
  const put = (param: Param, index: number) => {
    const taken = merged[index];
    if (!taken) return;
    merged[index] = { ...taken, ...param, name: taken.name, isTemplate: false };
    placed.add(param);
  };
  const [unnamed, named] = [given.filter(({ name }) => name === null), given.filter(({ name }) => name !== null)];
  // Of several defaults of a name, the last one is the value of the variable.
  for (const param of named)
    put(
      param,
      merged.findLastIndex(({ name }) => name === param.name),
    );
  for (const param of unnamed)
    put(
      param,
      merged.findIndex(({ isTemplate }) => isTemplate),
    );
  const extra = given.filter((param) => !placed.has(param)).map((param) => ({ ...param, isTemplate: false }));
  return [...merged, ...extra];
}

/**
 * A parameter as seen in `$1` and in a program's arguments: a named one with its name. Other users of the machine can
 * read the arguments of processes, so a secret value is empty there and keeps its position.
 */
export function paramText({ name, value }: Param, secrets: Workflow['secrets']): string {
  if (name === null) return value;
  return secrets.some((secret) => secret.name === name) ? '' : `${name}=${value}`;
}

/** The maximum length of a value in characters: values that contain others twice or more can grow without limit. */
const MAX_VALUE_LENGTH = 16 * 2 ** 20;

/** What is evaluated at most once. */
type Slot = { readonly label: string; result: string | null; isBusy: boolean };

/** One evaluation of all parameters and entries. */
class Evaluation {
  readonly #params: readonly (PendingParam & Slot)[];
  readonly #env: readonly (Assignment & Slot)[];
  readonly #secrets: Workflow['secrets'];
  readonly #processEnv: Environment;
  readonly #substitute: Substitute;

  constructor(
    { params: defaults, env, secrets }: Pick<Workflow, 'params' | 'env' | 'secrets'>,
    given: readonly Param[],
    processEnv: Environment,
    substitute: Substitute,
  ) {
    this.#params = mergeParams(defaults, given).map((param, i) => ({
      ...param,
      ...slot(`parameter ${param.name === null ? i + 1 : `"${param.name}"`}`),
    }));
    this.#env = env.map((entry) => ({ ...entry, ...slot(`env "${entry.name}"`) }));
    this.#secrets = secrets;
    this.#processEnv = processEnv;
    this.#substitute = substitute;
  }

  async all(): Promise<RunEnvironment> {
    for (let i = 0; i < this.#params.length; i++) await this.#param(i);
    for (let i = 0; i < this.#env.length; i++) await this.#entry(i);
    const params = this.#params.map(({ name, rule, result }) => {
      const param = { name, value: result ?? '' };
      return rule === undefined ? param : { ...param, type: rule.type };
    });
    return { params, variables: this.#known() };
  }

  async #param(index: number): Promise<string> {
    const param = this.#params[index];
    if (!param) return '';
    if (!param.isTemplate) param.result ??= this.#checked(param, param.value);
    if (param.result !== null) return param.result;
    const value = await this.#once(param, param.value, (name) => this.#lookup(name, index, this.#env.length));
    param.result = this.#checked(param, value);
    return param.result;
  }

  /** The value in the form that steps see. An empty default stands for no value. */
  #checked({ name, rule, isTemplate, label }: PendingParam & Slot, value: string): string {
    if (rule === undefined || (isTemplate && value === '')) return value;
    const checked = checkParam(value, rule, matchesPattern);
    if ('value' in checked) return checked.value;
    const isSecret = this.#secrets.some((secret) => secret.name === name);
    throw new EvaluationProblem(`${label} ${checked.fault}${isSecret ? '' : `, got ${JSON.stringify(value)}`}`);
  }

  async #entry(index: number): Promise<string> {
    const entry = this.#env[index];
    if (!entry) return '';
    // The substitution's command may read variables that its text does not name, so they are evaluated too.
    if (splitBackticks(entry.value).some((part) => 'command' in part)) {
      for (let i = 0; i < index; i++) if (!this.#env[i]?.isBusy) await this.#entry(i);
    }
    return this.#once(entry, entry.value, (name) => this.#lookup(name, this.#params.length, index));
  }

  async #once(slot: Slot, template: Template, lookup: (name: string) => Promise<string | undefined>): Promise<string> {
    if (slot.result !== null) return slot.result;
    if (slot.isBusy) throw new EvaluationProblem(`${slot.label} depends on itself`);
    slot.isBusy = true;
    const value = await this.#evaluate(template, lookup, slot.label);
    if (value.length > MAX_VALUE_LENGTH) throw tooLong(slot.label);
    slot.result = value;
    slot.isBusy = false;
    return value;
  }

  async #evaluate(
    template: Template,
    lookup: (name: string) => Promise<string | undefined>,
    label: string,
  ): Promise<string> {
    const found = new Map<string, string | undefined>();
    // expandText is synchronous: evaluate all names first.
    const parts = splitBackticks(template);
    const names = parts.flatMap((part) => [...namesIn('text' in part ? part.text : part.command)]);
    for (const name of names) if (!found.has(name)) found.set(name, await lookup(name));
    let value = '';
    for (const part of parts) {
      if ('text' in part) value += textOf(part.text, found, label);
      else value += await this.#run(part.command, found, label);
    }
    return value;
  }

  async #run(command: string, found: ReadonlyMap<string, string | undefined>, label: string): Promise<string> {
    const env: Record<string, string> = { ...this.#processEnv, ...this.#known() };
    for (const [name, value] of found) if (value !== undefined && !/^\d/.test(name)) env[name] = value;
    try {
      const pathless = withoutPaths(command, (name) => found.get(name) ?? lookupIn(env)(name));
      return await this.#substitute(pathless.code, { ...env, ...pathless.env }, command);
    } catch (error) {
      if (!(error instanceof EvaluationProblem || error instanceof PathProblem)) throw error;
      throw new EvaluationProblem(`${label}: ${error.message}`);
    }
  }

  /** The value of a name, visible before parameter `params` and entry `env`. */
  async #lookup(name: string, params: number, env: number): Promise<string | undefined> {
    if (/^\d+$/.test(name)) return this.#position(Number(name) - 1, params);
    const param = this.#params.findIndex((candidate, i) => candidate.name === name && i < params);
    if (param >= 0) return this.#param(param);
    for (let i = env - 1; i >= 0; i--) if (this.#env[i]?.name === name) return this.#entry(i);
    return lookupIn(this.#processEnv)(name);
  }

  async #position(index: number, before: number): Promise<string | undefined> {
    const param = index < before ? this.#params[index] : undefined;
    return param && paramText({ name: param.name, value: await this.#param(index) }, this.#secrets);
  }

  /** All values so far, parameters over entries. */
  #known(): Environment {
    const known: Record<string, string> = {};
    for (const { name, result } of [...this.#env, ...this.#params])
      if (name !== null && result !== null) known[name] = result;
    return known;
  }
}

function textOf(template: string, found: ReadonlyMap<string, string | undefined>, label: string): string {
  try {
    return expandText(template, (name) => found.get(name));
  } catch (error) {
    if (error instanceof RangeError) throw tooLong(label);
    if (!(error instanceof PathProblem)) throw error;
    throw new EvaluationProblem(`${label}: ${error.message}`);
  }
}

function tooLong(label: string): EvaluationProblem {
  return new EvaluationProblem(`${label} is longer than ${MAX_VALUE_LENGTH / 2 ** 20} MB`);
}

function slot(label: string): Slot {
  return { label, result: null, isBusy: false };
}
