import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { typedValue } from '#core/param-rule.ts';
import type { Param } from '#core/run/run.ts';
import { numberValues } from '#core/step-numbers.ts';
import { PathProblem } from '#core/words/json-path.ts';
import type { NumberValue, RunNumberKey, Workflow } from '#core/workflow.ts';
import {
  type Environment,
  EvaluationProblem,
  evaluateEnvironment,
  paramText,
  type RunEnvironment,
} from '#environment/environment.ts';
import { momentVariables } from '#environment/moment.ts';
import { firstUnmet } from '#environment/precondition.ts';
import type { RunSecrets } from '#environment/run-secrets.ts';
import { RunVariables } from '#environment/variables.ts';
import type { Scope } from '#executors/executor.ts';
import type { EndSignal } from '#processes/end-signal.ts';
import type { RunFiles } from '#store/store.ts';
import { errorCode, messageOf, systemProblem, systemReason, WfError } from '#system/errors.ts';
import type { PreparedRun } from '../driver/driver.ts';
import type { RunRequest } from '../engine.ts';
import type { AttemptHost } from './attempt-context.ts';

type VariablesOf = Pick<RunRequest, 'runId' | 'workflow'> & {
  readonly files: RunFiles;
  /** Secrets included. */
  readonly processEnv: Environment;
};

/** What the evaluation found, as data, and as the variables of the attempts. */
type Evaluated = { readonly evaluated: RunEnvironment; readonly variables: RunVariables };

/** Evaluates parameters, environment and the workflow's own preconditions. */
export async function prepare(
  host: Pick<AttemptHost, 'capture' | 'processEnv'>,
  { runId, workflow, params: given, moment }: RunRequest,
  { files, secrets, signal, createdAt }: { files: RunFiles; secrets: RunSecrets; signal: EndSignal; createdAt: number },
): Promise<PreparedRun & (Evaluated | { readonly problem: string })> {
  const { capture } = host;
  const { dir: cwd, shell } = workflow;
  const moments = momentVariables(workflow, moment, createdAt);
  const processEnv = { ...host.processEnv, ...secrets.variables, ...moments };
  const substitute = async (command: string, env: Environment) => {
    const result = await capture(command, { env, cwd, shell, signal: signal.toAbortSignal() });
    if (!result.ok) throw new EvaluationProblem(`\`${command}\`: ${result.message}`);
    return result.stdout;
  };
  try {
    if (secrets.problem !== null) throw new EvaluationProblem(secrets.problem);
    const found = await evaluateEnvironment(workflow, given, processEnv, substitute);
    const evaluated = { ...found, variables: { ...found.variables, ...moments } };
    const { params } = evaluated;
    const { variables, env } = runVariables(evaluated, { runId, workflow, files, processEnv });
    const { scope } = variables.forStep({});
    secrets.learn(env);
    secrets.learnSettings(scope);
    const { args } = variables;
    const check = (command: string, extra: Environment) =>
      capture(command, { env: { ...env, ...extra }, cwd, shell, params: args, signal: signal.toAbortSignal() });
    return {
      variables,
      evaluated,
      params,
      ...numbersOf(workflow, scope),
      unmet: await firstUnmet(workflow.preconditions, { what: 'precondition', scope, capture: check }),
    };
  } catch (error) {
    const isOfTheFile = error instanceof EvaluationProblem || error instanceof PathProblem;
    const problem = isOfTheFile ? error : systemProblem(error);
    if (problem === null) throw error;
    return { problem: problem.message };
  }
}

/** The variables of a run, from what was evaluated here or elsewhere; `env`: as they are before any output. */
export function runVariables(
  { params, variables }: RunEnvironment,
  { runId, workflow, files, processEnv }: VariablesOf,
): { readonly variables: RunVariables; readonly env: Environment } {
  const env = {
    ...processEnv,
    ...variables,
    ...runEnvironment(runId, workflow.name),
    ...(files.path === null ? {} : { DAG_RUN_LOG_FILE: files.path }),
    ...paramsJson(workflow, params),
  };
  const args = params.map((param) => paramText(param, workflow.secrets));
  const keep = (name: string, value: string) => keepOutput(files.scratch(), name, value);
  return { variables: new RunVariables(env, args, keep), env };
}

/** Throws an `EvaluationProblem` for a value outside of the range of its key. */
function numbersOf({ numbers }: Workflow, scope: Scope): { readonly numbers?: readonly NumberValue<RunNumberKey>[] } {
  if (numbers === undefined) return {};
  const read = numberValues(numbers, scope);
  if ('problem' in read) throw new EvaluationProblem(read.problem);
  return { numbers: read.values };
}

/** Variables that describe the run to every step, also under the names that tools with the same file format use. */
function runEnvironment(runId: string, workflow: string): Environment {
  return { WF_RUN_ID: runId, WF_WORKFLOW: workflow, DAG_NAME: workflow, DAG_REQUEST_ID: runId, DAG_RUN_ID: runId };
}

/** The named parameters as JSON with their declared types, without secrets; absent if there are none. */
function paramsJson({ params: declared, secrets }: Workflow, params: readonly Param[]): Environment {
  const hidden = new Set(secrets.map(({ name }) => name));
  const rules = new Map(declared.map(({ name, rule }) => [name, rule]));
  const entries = params.flatMap(({ name, value }) => {
    if (name === null || hidden.has(name)) return [];
    const rule = rules.get(name);
    return [[name, rule === undefined ? value : typedValue(value, rule)] as const];
  });
  if (entries.length === 0) return {};
  const json = JSON.stringify(Object.fromEntries(entries));
  return { WF_PARAMS_JSON: json, DAG_PARAMS_JSON: json, DAGU_PARAMS_JSON: json };
}

/** Throws a `WfError` `storage`. */
function keepOutput(directory: string, name: string, value: string): string {
  const path = join(directory, `output-${name}`);
  try {
    writeFileSync(path, value, { mode: 0o600 });
    return path;
  } catch (cause) {
    const reason = systemReason(errorCode(cause)) ?? messageOf(cause);
    throw new WfError('storage', `cannot write "${path}": ${reason}`, { cause });
  }
}
