import type { Container, ContainerCreateOptions, ImageInspectInfo } from 'dockerode';
import type { JsonObject } from '../../core/workflow.ts';
import type { Attempt } from '../executor.ts';
import type { Daemon } from './api/daemon.ts';
import { containerEnv } from './container-env.ts';
import type { Invocation } from './invocation.ts';
import { ownerKey, ownerLabel } from './owner.ts';
import { DockerProblem, requestMessage, requestStatus } from './problem.ts';
import { keepKey } from './reap.ts';
import type { ContainerSettings } from './settings.ts';

/** What one container is made from. */
export type ContainerPlan = {
  readonly daemon: Daemon;
  readonly settings: ContainerSettings;
  readonly attempt: Attempt;
  readonly image: ImageInspectInfo;
  readonly invocation: Invocation;
  readonly logConfig: JsonObject;
};

/** Makes a container that carries the labels by which a later `wf` finds what this one could not remove. */
export async function createContainer(plan: ContainerPlan): Promise<Container> {
  const { settings, attempt } = plan;
  try {
    return await create(plan);
  } catch (error) {
    const isTaken = requestStatus(error) === 409 && settings.name !== null;
    if (isTaken && (await removeFormer(plan, settings.name ?? ''))) return create(plan);
    throw new DockerProblem(`no container could be made for step "${attempt.step.name}": ${requestMessage(error)}`);
  }
}

/** In `_body` alone: what dockerode takes as plain options it also puts, with all secrets, into the address. */
function create({ daemon, settings, attempt, invocation, logConfig }: ContainerPlan): Promise<Container> {
  const { name, platform, container, host, network } = settings;
  const entrypoint = invocation.entrypoint ?? settings.entrypoint;
  const mention = [invocation.mention, ...(entrypoint ?? []), ...[container['Cmd'] ?? []].flat()].join('\n');
  const options = {
    _query: { ...(name === null ? {} : { name }), ...(platform === null ? {} : { platform }) },
    _body: {
      ...container,
      Image: settings.image,
      ...(invocation.command === null ? {} : { Cmd: invocation.command }),
      // An empty list would count as no answer.
      ...(entrypoint === null ? {} : { Entrypoint: entrypoint.length === 0 ? [''] : entrypoint }),
      Env: containerEnv(attempt, { mention, own: invocation.env, settings: settings.env }),
      Labels: { ...(container['Labels'] as JsonObject | undefined), ...labels(attempt, settings) },
      Volumes: { ...(container['Volumes'] as JsonObject | undefined), ...scriptVolume(invocation) },
      HostConfig: { ...logConfig, ...host },
      NetworkingConfig: network,
    },
    abortSignal: daemon.over,
  };
  return daemon.docker.createContainer(options as ContainerCreateOptions);
}

function labels({ runId, workflow, step, number }: Attempt, { isKept }: ContainerSettings): Record<string, string> {
  return {
    'wf.run': runId,
    'wf.workflow': workflow.name,
    'wf.step': step.name,
    'wf.attempt': String(number),
    [ownerKey]: ownerLabel(),
    ...(isKept ? { [keepKey]: 'true' } : {}),
  };
}

function scriptVolume({ script }: Invocation): JsonObject {
  return script === null || script.directory === '/' ? {} : { [script.directory]: {} };
}

/** A container that the same step left under this name, as it was told to, makes room. False: it is another's. */
async function removeFormer({ daemon, attempt }: ContainerPlan, name: string): Promise<boolean> {
  const abortSignal = daemon.over;
  const former = daemon.docker.getContainer(name);
  const { Config, State } = await former.inspect({ abortSignal });
  const labels: Readonly<Record<string, string>> = Config.Labels ?? {};
  const isSame = labels['wf.workflow'] === attempt.workflow.name && labels['wf.step'] === attempt.step.name;
  if (!isSame || State.Running || labels[keepKey] !== 'true') return false;
  await former.remove({ v: true, abortSignal });
  return true;
}
