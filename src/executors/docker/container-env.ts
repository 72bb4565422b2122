import { runVariables } from '#core/run-variables.ts';
import { itemNames, workflowNames } from '#core/words/mentions.ts';
import { handlerKind } from '#core/workflow.ts';
import type { Attempt } from '../executor.ts';
import type { Variables } from './docker-settings.ts';

/** Docker client settings, which say nothing about the container. */
const forTheClient = new Set(['DOCKER_HOST', 'DOCKER_TLS_VERIFY', 'DOCKER_CERT_PATH', 'DOCKER_CONFIG']);

/** Variables of this machine, even if the workflow changes them. */
const ofTheMachine = new Set(['PATH', 'HOME', 'PWD', 'USER', 'SHELL', 'HOSTNAME']);

/** Variables that a container gets if they are mentioned: logs are useful only if it mounts them. */
const ifMentioned = [...runVariables.params, ...runVariables.logs];

/**
 * The environment of a step's container for the API. A container gets as little as it needs: the run and step it
 * belongs to; the workflow's variables, parameters, secrets and outputs that the command or script mentions; the `env`
 * of the step; and last the executor's settings.
 */
export function containerEnv(
  attempt: Attempt,
  { mention, own, settings, isShared = false }: EnvSources,
): readonly string[] {
  const { step, env } = attempt;
  const given = (isShared ? [] : step.env).map(({ name }) => name).filter((name) => !forTheClient.has(name));
  const variables: Variables = {
    ...pick(env, runVariables.run),
    ...(isShared ? {} : pick(env, runVariables.step)),
    ...(handlerKind(step.name) === null ? {} : pick(env, runVariables.end)),
    ...pick(env, mentioned(mention, attempt)),
    ...pick(env, given),
    ...own,
    ...settings,
  };
  return Object.entries(variables).map(([name, value]) => (value === null ? name : `${name}=${value}`));
}

type EnvSources = {
  readonly mention: string;
  readonly own: Variables;
  readonly settings: Variables;
  /** The container belongs to the run, not to this step. */
  readonly isShared?: boolean;
};

/** Variables of the workflow, not of this machine, that appear as words in a text. */
function mentioned(text: string, attempt: Attempt): readonly string[] {
  const words = new Set(text.match(/[A-Za-z_]\w*/g));
  const names = [...workflowNames(attempt), ...itemNames(attempt.step)];
  const known = [...names, ...names.map((name) => `WF_OUTPUT_FILE_${name}`), ...ifMentioned];
  return known.filter((name) => words.has(name) && !ofTheMachine.has(name));
}

function pick(env: Attempt['env'], names: readonly string[]): Variables {
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}
