import { randomBytes } from 'node:crypto';
import type { Container, ContainerCreateOptions, ContainerInspectInfo, ImageInspectInfo } from 'dockerode';
import { given } from '#core/data/collections.ts';
import type { Outcome } from '#core/run/run.ts';
import { runVariables } from '#core/run-variables.ts';
import { itemNames, workflowNames } from '#core/words/mentions.ts';
import { handlerKind, type Json, type JsonObject } from '#core/workflow.ts';
import { canceled, isAskedToEnd, onEnd } from '#processes/end-signal.ts';
import type { Attempt, Containment } from '../executor.ts';
import {
  containerExitCode,
  copyOutput,
  endedOutcome,
  initProblem,
  programProblem,
  remembering,
} from './container-end.ts';
import {
  type Daemon,
  DockerProblem,
  isRequestError,
  requestMessage,
  requestStatus,
  whyFailed,
} from './docker-daemon.ts';
import type { ContainerSettings, Variables } from './docker-settings.ts';
import { provideImage } from './image.ts';
import { type Invocation, invocationOf } from './invocation.ts';
import { KEEP_KEY, OWNER_KEY, ownerLabel } from './orphans.ts';

/**
 * Runs a step in a container of its own, and removes it unless it is to be kept. Throws a `DockerProblem`, or a request
 * error.
 */
export async function runInContainer(daemon: Daemon, settings: ContainerSettings, attempt: Attempt): Promise<Outcome> {
  const [image, engine] = await Promise.all([
    provideImage(daemon, settings, attempt),
    engineDefaults(daemon, settings),
  ]);
  const invocation = invocationOf(attempt, {
    entrypoint: settings.entrypoint ?? [image.Config.Entrypoint ?? []].flat(),
    isEntrypointOwn: settings.entrypoint !== null,
    // If the container's file system is read-only, only a volume can hold the script.
    scriptDirectory: settings.host['ReadonlyRootfs'] === true ? `/.wf-${randomBytes(4).toString('hex')}` : '/',
    shell: settings.shell,
  });
  const plan = { daemon, settings, attempt, image, invocation, engine };
  const container = await createContainer(plan);
  let isOver = false;
  try {
    const outcome = await follow(container, plan);
    isOver = !isAskedToEnd(attempt);
    return outcome;
  } finally {
    if (!isOver || !settings.isKept)
      warn(attempt, await tryToRemove(container, daemon, () => removeNow(container, daemon)));
  }
}

/** Attaches before the start, so that no output is missed, and waits from the start on, so that no quick end is missed. */
async function follow(container: Container, plan: ContainerPlan): Promise<Outcome> {
  const { daemon, settings, attempt, invocation } = plan;
  const abortSignal = daemon.over;
  if (invocation.script !== null) {
    const { name, text, directory } = invocation.script;
    await container.putArchive(tarOfFile(name, text), { path: directory, abortSignal });
  }
  const output = await container.attach({ stream: true, stdout: true, stderr: true, abortSignal });
  const { write, beginning } = remembering(attempt.write);
  const copied = copyOutput(output, settings.container['Tty'] === true, write);
  if (isAskedToEnd(attempt)) return canceled;
  await start(container, plan);
  attempt.contained(containment(container, settings.image, daemon));
  const release = passRequestsOn(container, plan);
  try {
    const exited = containerExitCode(container, daemon);
    void exited.then(copied.finish, copied.finish);
    const [exitCode] = await Promise.all([exited, copied.done]);
    const problem = initProblem(beginning(), exitCode, `image "${settings.image}"`);
    if (problem !== null) throw problem;
    return await endedOutcome(container, exitCode, plan);
  } finally {
    release();
  }
}

/** Starts a container. Throws a `DockerProblem`. */
export async function start(
  container: Container,
  { daemon, settings }: Pick<ContainerPlan, 'daemon' | 'settings'>,
): Promise<void> {
  try {
    await container.start({ abortSignal: daemon.over });
  } catch (error) {
    const message = requestMessage(error);
    const problem = programProblem(message, `image "${settings.image}"`);
    throw problem ?? new DockerProblem(`the container of image "${settings.image}" could not start: ${message}`);
  }
}

/** Passes stop and kill requests on to the container; ignores errors for one that has ended. */
function passRequestsOn(container: Container, plan: ContainerPlan): () => void {
  const { daemon, attempt } = plan;
  const send = async (signal: string) => {
    try {
      await container.kill({ signal, abortSignal: daemon.over });
    } catch (error) {
      const isOver = [404, 409].includes(requestStatus(error) ?? 0);
      if (!isOver) warn(attempt, `${signal} could not be sent to the container: ${whyFailed(error, daemon)}`);
    }
  };
  return onEnd(
    attempt,
    () => void send(stopSignal(plan)),
    () => void send('SIGKILL'),
  );
}

/** The stop signal of the step; if it names none (then it is SIGTERM), that of the image. */
function stopSignal({ attempt, settings, image }: ContainerPlan): string {
  const { signalOnStop } = attempt.step;
  if (signalOnStop !== 'SIGTERM') return signalOnStop;
  const wanted = settings.container['StopSignal'] ?? (image.Config as { readonly StopSignal?: string }).StopSignal;
  return typeof wanted === 'string' && wanted !== '' ? wanted : signalOnStop;
}

/** The container as the run sees it; `image` is null for one that was running already. */
export function containment(container: Container, image: string | null, daemon: Daemon): Containment {
  const whyUnhealthy = async () => healthProblem((await container.inspect({ abortSignal: daemon.over })).State);
  return { container: { id: container.id, image }, daemon: daemon.address, whyUnhealthy };
}

/** Why a container is not healthy; null if it is. */
export function healthProblem(state: ContainerInspectInfo['State']): string | null {
  const { Running, Status, Health: health } = state;
  if (!Running) return `the container is not running (${Status})`;
  if (health === undefined) return 'the container has no health check';
  if (health.Status === 'healthy') return null;
  const last = health.Log?.at(-1)?.Output.trim().split('\n').at(-1) ?? '';
  return last === '' ? `its health is "${health.Status}"` : `its health is "${health.Status}": ${last}`;
}

/** Removes a container at once, with its volumes. Rejects with a request error. */
export async function removeNow(container: Container, { over }: Daemon): Promise<void> {
  await container.remove({ force: true, v: true, abortSignal: over });
}

/** Waits for `work`, which removes a container; resolves to why it stays, or null. */
export async function tryToRemove(
  container: Container,
  daemon: Daemon,
  work: () => Promise<void>,
): Promise<string | null> {
  try {
    await work();
    return null;
  } catch (error) {
    if (requestStatus(error) === 404) return null;
    const what = `container ${container.id.slice(0, 12)} could not be removed`;
    return `${what}: ${whyFailed(error, daemon)}; a later docker step will remove it`;
  }
}

/** Writes a problem, if there is one, to the error output of an attempt. */
export function warn(attempt: Attempt, problem: string | null): void {
  if (problem !== null) attempt.write('stderr', `${problem}\n`);
}

/** Drivers that keep output in files of the daemon, which are removed with the container. */
const ownFiles: ReadonlySet<unknown> = new Set(['json-file', 'local']);

/** A method that dockerode's types leave out. Source: Docker Engine API, "Get system information". */
type Askable = {
  readonly info: (options: { readonly abortSignal: AbortSignal }) => Promise<{
    readonly LoggingDriver?: string;
    readonly InitBinary?: string;
    readonly InitCommit?: { readonly ID?: string };
  }>;
};

/**
 * What a container gets in `HostConfig` unless its settings say otherwise. `Init`, if the engine has an init process: the
 * first process of a container ignores every signal that it does not handle, so a stop would wait for the whole grace.
 * No logging, if Docker would only keep the output in files until the container is removed: with them, many short lines
 * take thirty times as long. A daemon that sends output elsewhere continues to.
 */
export async function engineDefaults({ docker, over }: Daemon, { isKept }: ContainerSettings): Promise<JsonObject> {
  try {
    const { LoggingDriver: driver, InitBinary, InitCommit } = await (docker as Askable).info({ abortSignal: over });
    const hasInit = Boolean(InitBinary) && InitCommit?.ID !== 'N/A';
    return {
      ...(hasInit ? { Init: true } : {}),
      ...(!isKept && ownFiles.has(driver) ? { LogConfig: { Type: 'none' } } : {}),
    };
  } catch (error) {
    // Not a reason to fail: a proxy in front of the daemon may block this request.
    if (isRequestError(error)) return {};
    throw error;
  }
}

const BLOCK_LENGTH = 512;

/** A tar archive of one file that everyone may execute. Source: POSIX.1-2017, pax, ustar interchange format. */
export function tarOfFile(name: string, text: string): Buffer {
  const content = Buffer.from(text);
  const padding = Buffer.alloc((BLOCK_LENGTH - (content.length % BLOCK_LENGTH)) % BLOCK_LENGTH);
  // An archive ends with two empty blocks.
  return Buffer.concat([header(name, content.length), content, padding, Buffer.alloc(2 * BLOCK_LENGTH)]);
}

function header(name: string, length: number): Buffer {
  const block = Buffer.alloc(BLOCK_LENGTH);
  block.write(name, 0, 100, 'latin1');
  block.write('0000755\0', 100, 'latin1');
  block.write('0000000\0', 108, 'latin1');
  block.write('0000000\0', 116, 'latin1');
  block.write(`${length.toString(8).padStart(11, '0')}\0`, 124, 'latin1');
  block.write('00000000000\0', 136, 'latin1');
  // The checksum treats its own field as blanks.
  block.write('        ', 148, 'latin1');
  block.write('0', 156, 'latin1');
  block.write('ustar\u000000', 257, 'latin1');
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

type ContainerPlan = {
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
  const [program] = [
    ...(entrypoint ?? [image.Config.Entrypoint ?? []].flat()),
    ...(invocation.command ?? [container['Cmd'] ?? image.Config.Cmd ?? []].flat()),
  ];
  const mention = [invocation.mention, ...(entrypoint ?? []), ...[container['Cmd'] ?? []].flat()].join('\n');
  const { directory = '/' } = invocation.script ?? {};
  const volumes = directory === '/' ? {} : { [directory]: {} };
  const options = {
    _query: given({ name, platform }),
    _body: {
      ...container,
      Image: settings.image,
      ...given({ Cmd: invocation.command }),
      // Docker ignores an empty list.
      ...(entrypoint === null ? {} : { Entrypoint: entrypoint.length === 0 ? [''] : entrypoint }),
      Env: containerEnv(attempt, mention, { ...invocation.env, ...settings.env }, plan.isShared),
      Labels: { ...(container['Labels'] as JsonObject | undefined), ...labels(plan) },
      Volumes: { ...(container['Volumes'] as JsonObject | undefined), ...volumes },
      HostConfig: { ...engine, ...(needsFirstProcess(program, host) ? { Init: false } : {}), ...host },
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

function labels({ attempt, settings: { isKept }, isShared }: ContainerPlan): Record<string, string> {
  const { runId, workflow, step, number } = attempt;
  return {
    'wf.run': runId,
    'wf.workflow': workflow.name,
    ...(isShared ? {} : { 'wf.step': step.name, 'wf.attempt': String(number) }),
    [OWNER_KEY]: ownerLabel(),
    ...(isKept ? { [KEEP_KEY]: 'true' } : {}),
  };
}

/** Removes a container of this name that the same step kept earlier. Returns false if it belongs to another step. */
async function removeFormer({ daemon, attempt, isShared }: ContainerPlan, name: string): Promise<boolean> {
  const abortSignal = daemon.over;
  const former = daemon.docker.getContainer(name);
  const { Config, State } = await former.inspect({ abortSignal });
  const labels: Readonly<Record<string, string>> = Config.Labels ?? {};
  const isSame =
    labels['wf.workflow'] === attempt.workflow.name && labels['wf.step'] === (isShared ? undefined : attempt.step.name);
  if (!isSame || State.Running || labels[KEEP_KEY] !== 'true') return false;
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
 * of the step; and last those of the executor. `isShared`: the container belongs to the run, not to this step.
 */
export function containerEnv(
  attempt: Attempt,
  mention: string,
  settings: Variables,
  isShared = false,
): readonly string[] {
  const { step, env } = attempt;
  const given = (isShared ? [] : step.env).map(({ name }) => name).filter((name) => !forTheClient.has(name));
  const variables: Variables = {
    ...pick(env, [...runVariables.run, ...runVariables.moment]),
    ...(isShared ? {} : pick(env, runVariables.step)),
    ...(handlerKind(step.name) === null ? {} : pick(env, runVariables.end)),
    ...pick(env, mentioned(mention, attempt)),
    ...pick(env, given),
    ...settings,
  };
  return Object.entries(variables).map(([name, value]) => (value === null ? name : `${name}=${value}`));
}

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
