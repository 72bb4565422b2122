import { randomUUID } from 'node:crypto';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Container, Exec, ExecInspectInfo } from 'dockerode';
import type { Outcome } from '#core/run/run.ts';
import { canceled, eitherEnd, isAskedToEnd, onEnd } from '#processes/end-signal.ts';
import type { Attempt } from '../executor.ts';
import { containerEnv, containment, tarOfFile, warn } from './container.ts';
import { copyOutput, exitOutcome, remembering, startProblem } from './container-end.ts';
import { type Daemon, DockerProblem, isRequestError, requestStatus } from './docker-daemon.ts';
import type { ExecSettings } from './docker-settings.ts';
import { invocationOf } from './invocation.ts';
import { type ExecUser, isMarkedLeft, recordExec, removeFile, signalMarkedProcesses } from './orphans.ts';

/** The variable that marks every process a command starts. */
const MARK_NAME = 'WF_EXEC';

/** Runs a step in a running container, which stays. Throws a `DockerProblem`, or a request error. */
export async function runInRunning(daemon: Daemon, settings: ExecSettings, attempt: Attempt): Promise<Outcome> {
  const container = await findRunning(daemon, settings, attempt);
  const { script, command, entrypoint, env, mention } = invocationOf(attempt, {
    entrypoint: [],
    isEntrypointOwn: false,
    scriptDirectory: '/',
    shell: settings.shell,
  });
  const words = [...(entrypoint ?? []), ...(command ?? [])];
  if (words.length === 0) throw new DockerProblem('the step has no command to run in the container');
  const mark = randomUUID();
  const abortSignal = daemon.over;
  const scriptPath = script === null ? null : `/${script.name}`;
  const { User, Privileged } = settings.exec;
  const marked = { mark: `${MARK_NAME}=${mark}`, exec: { User, Privileged } };
  const record = { ...marked, container: settings.container, script: scriptPath };
  // A shared container is removed with all that runs in it.
  const forget = settings.isShared ? async () => {} : await recordExec(daemon, record, attempt);
  try {
    if (script !== null) await container.putArchive(tarOfFile(script.name, script.text), { path: '/', abortSignal });
    const exec = await container.exec({
      ...settings.exec,
      Cmd: words,
      Env: [...containerEnv(attempt, mention, { ...env, [MARK_NAME]: mark, ...settings.env })],
      AttachStdout: true,
      AttachStderr: true,
      Tty: settings.hasTerminal,
      abortSignal,
    });
    if (isAskedToEnd(attempt)) return canceled;
    attempt.contained(containment(container, settings.image, daemon));
    return await follow(exec, { ...marked, daemon, container, settings, attempt });
  } finally {
    if (scriptPath !== null) await removeFile(container, scriptPath, daemon);
    await forget();
  }
}

/** Time between two looks at a container that is not running yet. */
const LOOK_AGAIN_MS = 200;

async function findRunning(daemon: Daemon, settings: ExecSettings, attempt: Attempt): Promise<Container> {
  const { container: name, waitMs } = settings;
  const end = eitherEnd(attempt);
  for (let waitedMs = 0; ; waitedMs += LOOK_AGAIN_MS) {
    const { id, problem } = await lookFor(daemon, name);
    if (problem === null) return daemon.docker.getContainer(id);
    if (waitMs === 0) throw new DockerProblem(problem);
    if (waitedMs >= waitMs) throw new DockerProblem(`${problem} (waited ${waitMs / 1000} s)`, null, 'unready');
    await pause(LOOK_AGAIN_MS, undefined, { signal: end });
  }
}

/** The id of a container, and why it cannot be used; null if it is running. */
async function lookFor({ docker, over }: Daemon, name: string): Promise<{ id: string; problem: string | null }> {
  try {
    const { Id, State } = await docker.getContainer(name).inspect({ abortSignal: over });
    return { id: Id, problem: State.Running ? null : `container "${name}" is not running (${State.Status})` };
  } catch (error) {
    if (requestStatus(error) === 404) return { id: name, problem: `no container named "${name}"` };
    throw error;
  }
}

type Running = {
  readonly daemon: Daemon;
  readonly container: Container;
  readonly settings: ExecSettings;
  readonly attempt: Attempt;
  readonly mark: string;
  readonly exec: ExecUser;
};

async function follow(exec: Exec, running: Running): Promise<Outcome> {
  const { daemon, settings, attempt } = running;
  const abortSignal = daemon.over;
  const output = await exec.start({ Detach: false, Tty: settings.hasTerminal, abortSignal });
  const connection = connectionOf(output);
  const { write, beginning } = remembering(attempt.write);
  const copied = copyOutput(output, settings.hasTerminal, write);
  const release = onEnd(
    attempt,
    () => void send(running, attempt.step.signalOnStop),
    () => void send(running, 'SIGKILL'),
  );
  try {
    await copied.done;
    if (isAskedToEnd(attempt)) await signalMarkedProcesses(running, 'SIGKILL');
    const { ExitCode, Pid } = await untilEnded(exec, connection, abortSignal);
    // Nothing ran: the output is the error of the container runtime.
    const problem = Pid === 0 ? startProblem(beginning(), `container "${settings.container}"`) : null;
    if (problem !== null) throw problem;
    if (Pid !== 0 && !isAskedToEnd(attempt)) await endBackground(running);
    return exitOutcome(ExitCode ?? 0);
  } catch (error) {
    // Nothing reads its output any more, and a retry would run beside it.
    if (isRequestError(error) && !isAskedToEnd(attempt)) await send(running, 'SIGKILL');
    throw error;
  } finally {
    release();
  }
}

/** The error that ended the connection of an output. Node reports it only to the request; the output seems complete. */
function connectionOf(output: NodeJS.ReadableStream): { readonly error: Error | null } {
  const connection: { error: Error | null } = { error: null };
  (output as IncomingMessage & { readonly req: ClientRequest }).req.once('error', (error) => {
    connection.error = error;
  });
  return connection;
}

/** Polls: a program may close its output and keep running. Rejects if its output was cut off. */
async function untilEnded(
  exec: Exec,
  connection: ReturnType<typeof connectionOf>,
  abortSignal: AbortSignal,
): Promise<ExecInspectInfo> {
  for (let waitMs = 20; ; waitMs = Math.min(2 * waitMs, 1000)) {
    const state = await exec.inspect({ abortSignal });
    if (!state.Running) return state;
    if (connection.error !== null) throw connection.error;
    await pause(waitMs, undefined, { signal: abortSignal });
  }
}

/** As in a container of its own, background processes end with the command: nothing else would ever end them. */
async function endBackground(running: Running): Promise<void> {
  const { attempt } = running;
  if (attempt.step.leaveBackground || !(await isMarkedLeft(running))) return;
  const problem = await signalMarkedProcesses(running, 'SIGKILL');
  warn(attempt, problem && `processes left by the command keep running in the container: ${problem}`);
}

/** Docker cannot signal a command run by `exec`, so a program in the container does. */
async function send(running: Running, signal: string): Promise<void> {
  const problem = await signalMarkedProcesses(running, signal);
  warn(running.attempt, problem && `the command keeps running in the container: ${problem}`);
}
