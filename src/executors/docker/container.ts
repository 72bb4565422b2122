import { randomBytes } from 'node:crypto';
import type { Container, ContainerInspectInfo, ImageInspectInfo } from 'dockerode';
import type { Outcome } from '#core/run/run.ts';
import type { JsonObject } from '#core/workflow.ts';
import { canceled, isAskedToEnd } from '#processes/end-signal.ts';
import type { Attempt, Containment } from '../executor.ts';
import {
  containerExitCode,
  copyOutput,
  endedOutcome,
  initProblem,
  programProblem,
  remembering,
} from './container-end.ts';
import { type ContainerPlan, createContainer } from './create.ts';
import { type Daemon, DockerProblem, isRequestError, requestMessage, requestStatus, silence } from './docker-daemon.ts';
import type { ContainerSettings } from './docker-settings.ts';
import { provideImage } from './image.ts';
import { invocationOf } from './invocation.ts';

/**
 * Runs a step in a container of its own and always removes the container, unless it is to be kept and ended by itself.
 * Throws a `DockerProblem`, or a request error.
 */
export async function runInContainer(daemon: Daemon, settings: ContainerSettings, attempt: Attempt): Promise<Outcome> {
  const [image, engine] = await Promise.all([
    provideImage(daemon, settings, attempt),
    engineDefaults(daemon, settings),
  ]);
  const invocation = invocationOf(attempt, {
    entrypoint: settings.entrypoint ?? imageEntrypoint(image),
    isEntrypointOwn: settings.entrypoint !== null,
    scriptDirectory: scriptDirectory(settings),
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
    if (!isOver || !settings.isKept) await removeContainer(container, plan);
  }
}

function imageEntrypoint({ Config }: ImageInspectInfo): readonly string[] {
  const entrypoint = Config.Entrypoint ?? [];
  return typeof entrypoint === 'string' ? [entrypoint] : entrypoint;
}

/** If the container's file system is read-only, only a volume can hold the script. */
function scriptDirectory({ host }: ContainerSettings): string {
  return host['ReadonlyRootfs'] === true ? `/.wf-${randomBytes(4).toString('hex')}` : '/';
}

/**
 * Attaches before the start, so that no output is missed, and waits from the start on, so that a quick end is not
 * missed.
 */
async function follow(container: Container, plan: ContainerPlan): Promise<Outcome> {
  const { daemon, settings, attempt, invocation } = plan;
  const abortSignal = daemon.over;
  const { script } = invocation;
  if (script !== null) {
    await container.putArchive(tarOfFile(script.name, script.text), { path: script.directory, abortSignal });
  }
  const output = await container.attach({ stream: true, stdout: true, stderr: true, abortSignal });
  const hasTerminal = settings.container['Tty'] === true;
  const { write, beginning } = remembering(attempt.write);
  const copied = copyOutput(output, { hasTerminal, write });
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
    return await endedOutcome(container, { exitCode, daemon, attempt });
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
      const why = daemon.over.aborted ? silence(daemon) : requestMessage(error);
      if (!isOver) attempt.write('stderr', `${signal} could not be sent to the container: ${why}\n`);
    }
  };
  const releases = [
    attempt.signal.onAbort(() => void send(stopSignal(plan))),
    attempt.kill.onAbort(() => void send('SIGKILL')),
  ];
  return () => {
    for (const release of releases) release();
  };
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

async function removeContainer(container: Container, { daemon, attempt }: ContainerPlan): Promise<void> {
  try {
    await container.remove({ force: true, v: true, abortSignal: daemon.over });
  } catch (error) {
    if (requestStatus(error) === 404) return;
    const why = daemon.over.aborted ? silence(daemon) : requestMessage(error);
    attempt.write(
      'stderr',
      `container ${container.id.slice(0, 12)} could not be removed: ${why}; a later docker step will remove it\n`,
    );
  }
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

const blockLength = 512;

/**
 * Creates a tar archive of one file that everyone may read and execute. Source: POSIX.1-2017, pax, ustar interchange
 * format.
 */
export function tarOfFile(name: string, text: string): Buffer {
  const content = Buffer.from(text);
  const padding = Buffer.alloc((blockLength - (content.length % blockLength)) % blockLength);
  // An archive ends with two empty blocks.
  return Buffer.concat([header(name, content.length), content, padding, Buffer.alloc(2 * blockLength)]);
}

function header(name: string, length: number): Buffer {
  const block = Buffer.alloc(blockLength);
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
