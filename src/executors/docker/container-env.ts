import { workflowNames } from '../../core/words/own-names.ts';
import { handlerKind } from '../../core/workflow.ts';
import type { Attempt } from '../executor.ts';
import type { Variables } from './settings.ts';

/** They say where Docker is, which is not where the container is. */
const forTheClient = new Set(['DOCKER_HOST', 'DOCKER_TLS_VERIFY', 'DOCKER_CERT_PATH', 'DOCKER_CONFIG']);

/** They describe this machine, also where the workflow changes them. */
const ofTheMachine = new Set(['PATH', 'HOME', 'PWD', 'USER', 'SHELL', 'HOSTNAME']);

/** What every step is told of its run, and handlers of its end. */
const ofTheRun = ['DAG_NAME', 'DAG_REQUEST_ID'];
const ofTheEnd = ['WF_STATUS', 'WF_FAILED_STEP', 'WF_ERROR'];

/** Places on this machine, of use only where the container sees them too. */
const placesOfLogs = ['WF_LOG_FILE', 'DAG_EXECUTION_LOG_PATH'];

/**
 * The environment of a step's container as the API takes it. A container has an environment of its own, and gets as little
 * as it needs: which run and step it belongs to, the workflow's variables, parameters, secrets and outputs that the command
 * or script mentions, the `env` of the step, and last what the executor's settings say.
 */
export function containerEnv(
  attempt: Attempt,
  { mention, own, settings }: { readonly mention: string; readonly own: Variables; readonly settings: Variables },
): readonly string[] {
  const { step, env, runId, workflow, number } = attempt;
  const given = step.env.map(({ name }) => name).filter((name) => !forTheClient.has(name));
  const variables: Variables = {
    WF_RUN_ID: runId,
    WF_WORKFLOW: workflow.name,
    WF_STEP: step.name,
    WF_ATTEMPT: String(number),
    ...pick(env, ofTheRun),
    ...(handlerKind(step.name) === null ? {} : pick(env, ofTheEnd)),
    ...pick(env, mentioned(mention, attempt)),
    ...pick(env, given),
    ...own,
    ...settings,
  };
  return Object.entries(variables).map(([name, value]) => (value === null ? name : `${name}=${value}`));
}

/** Names of variables of the workflow, not of this machine, that stand as a word in a text. */
function mentioned(text: string, attempt: Attempt): readonly string[] {
  const words = new Set(text.match(/[A-Za-z_]\w*/g));
  const names = workflowNames(attempt);
  const known = [...names, ...names.map((name) => `WF_OUTPUT_FILE_${name}`), ...placesOfLogs];
  return known.filter((name) => words.has(name) && !ofTheMachine.has(name));
}

function pick(env: Attempt['env'], names: readonly string[]): Variables {
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}
