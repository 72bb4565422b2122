import type { Container, ContainerCreateOptions, ImageInspectInfo } from 'dockerode';
import { runVariables } from '#core/run-variables.ts';
import { itemNames, workflowNames } from '#core/words/mentions.ts';
import { handlerKind, type Json, type JsonObject } from '#core/workflow.ts';
import type { Attempt } from '../executor.ts';
import { type Daemon, DockerProblem, requestMessage, requestStatus } from './docker-daemon.ts';
import type { ContainerSettings, Variables } from './docker-settings.ts';
import type { Invocation } from './invocation.ts';
import { keepKey, ownerKey, ownerLabel } from './orphans.ts';

/** Everything needed to create a container. */
export type ContainerPlan = {
  readonly daemon: Daemon;
  readonly settings: ContainerSettings;
  readonly attempt: Attempt;
  readonly image: ImageInspectInfo;
  readonly invocation: Invocation;
  /** Defaults for `HostConfig` that depend on the engine. */
  readonly engine: JsonObject;
  /** The container belongs to the run, not to the step that needs it first. */
  readonly isShared?: true;
};

/** Creates a container, with labels by which a later `wf` finds it if this one cannot remove it. */
export async function createContainer(plan: ContainerPlan): Promise<Container> {
  const { settings, attempt } = plan;
  try {
    return await create(plan);
  } catch (error) {
    const isTaken = requestStatus(error) === 409 && settings.name !== null;
    if (isTaken && (await removeFormer(plan, settings.name ?? ''))) return create(plan);
    const owner = plan.isShared ? 'the run' : `step "${attempt.step.name}"`;
    throw new DockerProblem(`cannot create a container for ${owner}: ${requestMessage(error)}`);
  }
}

/** Passes the options in `_body`: dockerode puts other options, secrets included, into the URL. */
function create(plan: ContainerPlan): Promise<Container> {
  const { daemon, settings, attempt, image, invocation, engine } = plan;
  const { name, platform, container, host, network } = settings;
  const entrypoint = invocation.entrypoint ?? settings.entrypoint;
  const program = [
    ...(entrypoint ?? asList(image.Config.Entrypoint)),
    ...(invocation.command ?? asList(container['Cmd'] ?? image.Config.Cmd)),
  ];
  const mention = [invocation.mention, ...(entrypoint ?? []), ...[container['Cmd'] ?? []].flat()].join('\n');
  const options = {
    _query: { ...(name === null ? {} : { name }), ...(platform === null ? {} : { platform }) },
    _body: {
      ...container,
      Image: settings.image,
      ...(invocation.command === null ? {} : { Cmd: invocation.command }),
      // Docker ignores an empty list.
      ...(entrypoint === null ? {} : { Entrypoint: entrypoint.length === 0 ? [''] : entrypoint }),
      Env: containerEnv(attempt, {
        mention,
        own: invocation.env,
        settings: settings.env,
        isShared: plan.isShared === true,
      }),
      Labels: { ...(container['Labels'] as JsonObject | undefined), ...labels(plan) },
      Volumes: { ...(container['Volumes'] as JsonObject | undefined), ...scriptVolume(invocation) },
      HostConfig: { ...engine, ...(needsFirstProcess(program[0], host) ? { Init: false } : {}), ...host },
      NetworkingConfig: network,
    },
    abortSignal: daemon.over,
  };
  return daemon.docker.createContainer(options as ContainerCreateOptions);
}

/** Programs that are an init process themselves; some of them refuse to run beside another one. */
const initPrograms: ReadonlySet<unknown> = new Set(
  'init systemd tini tini-static docker-init dumb-init catatonit s6-svscan my_init runsvdir'.split(' '),
);

/** Whether the container must not have a second init process. One outside of a PID namespace of its own reaps nothing. */
function needsFirstProcess(program: Json | undefined, host: JsonObject): boolean {
  return initPrograms.has(String(program ?? '').replace(/^.*\//, '')) || Boolean(host['PidMode']);
}

function asList(words: Json | undefined): readonly Json[] {
  return Array.isArray(words) ? words : [words ?? []].flat();
}

function labels({ attempt, settings: { isKept }, isShared }: ContainerPlan): Record<string, string> {
  const { runId, workflow, step, number } = attempt;
  return {
    'wf.run': runId,
    'wf.workflow': workflow.name,
    ...(isShared ? {} : { 'wf.step': step.name, 'wf.attempt': String(number) }),
    [ownerKey]: ownerLabel(),
    ...(isKept ? { [keepKey]: 'true' } : {}),
  };
}

function scriptVolume({ script }: Invocation): JsonObject {
  return script === null || script.directory === '/' ? {} : { [script.directory]: {} };
}

/** Removes a container of this name that the same step kept earlier. Returns false if it belongs to another step. */
async function removeFormer({ daemon, attempt, isShared }: ContainerPlan, name: string): Promise<boolean> {
  const abortSignal = daemon.over;
  const former = daemon.docker.getContainer(name);
  const { Config, State } = await former.inspect({ abortSignal });
  const labels: Readonly<Record<string, string>> = Config.Labels ?? {};
  const isSame =
    labels['wf.workflow'] === attempt.workflow.name && labels['wf.step'] === (isShared ? undefined : attempt.step.name);
  if (!isSame || State.Running || labels[keepKey] !== 'true') return false;
  await former.remove({ v: true, abortSignal });
  return true;
}

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
