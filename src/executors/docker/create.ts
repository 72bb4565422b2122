import type { Container, ContainerCreateOptions, ImageInspectInfo } from 'dockerode';
import type { Json, JsonObject } from '#core/workflow.ts';
import type { Attempt } from '../executor.ts';
import type { Daemon } from './api/daemon.ts';
import { containerEnv } from './container-env.ts';
import { ownerKey, ownerLabel } from './container-owner.ts';
import { DockerProblem, requestMessage, requestStatus } from './docker-problem.ts';
import type { ContainerSettings } from './docker-settings.ts';
import type { Invocation } from './invocation.ts';
import { keepKey } from './reap.ts';

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
