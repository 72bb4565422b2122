import type { Container } from 'dockerode';
import type { Json } from '#core/workflow.ts';
import type { Daemon } from '../api/daemon.ts';
import { copyOutput } from '../container-output.ts';
import { requestMessage, requestStatus } from '../docker-problem.ts';

/**
 * Signals every process whose environment contains a mark: `$1` is the signal, `$2` the mark; a kill repeats the search
 * for processes started in the meantime. Uses only the shell, whose `read` skips the NULs of an environment (the last
 * line may be unterminated).
 */
const signalMarked = `
for round in 1 2 3 4 5 6 7 8 9; do
  found=
  for process in /proc/[0-9]*; do
    while IFS= read -r line || [ -n "$line" ]; do
      case $line in *"$2"*) kill -s "$1" "\${process#/proc/}"; found=1; break ;; esac
    done <"$process/environ"
  done
  [ "$1$found" = KILL1 ] || exit 0
done 2>/dev/null`;

/** The user of the command: only the same user can read its environment. */
export type ExecUser = { readonly User?: Json | undefined; readonly Privileged?: Json | undefined };

type Marked = {
  readonly daemon: Daemon;
  readonly container: Container;
  readonly exec: ExecUser;
  readonly mark: string;
};

/**
 * Signals the processes with a mark, as the same user; resolves to the problem if that fails. A container that has
 * stopped has no processes, which is no problem.
 */
export async function signalMarkedProcesses(
  { daemon, container, exec, mark }: Marked,
  signal: string,
): Promise<string | null> {
  const command = ['sh', '-c', signalMarked, 'sh', signal.replace(/^SIG/, ''), mark];
  const { User, Privileged } = exec;
  const problem = await runCommand(container, { User, Privileged, Cmd: command }, daemon.over);
  return problem !== null && (await hasStopped(container, daemon)) ? null : problem;
}

/** Whether a container is stopped or removed; false if Docker cannot tell. */
async function hasStopped(container: Container, { over }: Daemon): Promise<boolean> {
  try {
    return !(await container.inspect({ abortSignal: over })).State.Running;
  } catch (error) {
    return requestStatus(error) === 404;
  }
}

/**
 * Whether a process with the mark is still running in the container. Docker lists processes from outside: one request,
 * and no program needed in the container. True if Docker cannot tell.
 */
export async function isMarkedLeft({ daemon, container, mark }: Omit<Marked, 'exec'>): Promise<boolean> {
  try {
    const { Processes } = await container.top({ ps_args: psArguments, abortSignal: daemon.over } as object);
    return (Processes as readonly (readonly string[])[]).some((columns) => columns.join(' ').includes(mark));
  } catch (error) {
    const isContainerOver = [404, 409].includes(requestStatus(error) ?? 0);
    return !isContainerOver;
  }
}

/** Lists all processes, each followed by its full environment. Source: ps(1), options "e" and "w". */
const psArguments = '-e e ww -o pid,args';

/** Removes a file created by this step; nothing depends on it. */
export async function removeFile(container: Container, path: string, abortSignal: AbortSignal): Promise<void> {
  await runCommand(container, { Cmd: ['rm', '-f', path], User: '0' }, abortSignal);
}

/** Runs a small command in a container to its end; resolves to the problem if it fails. */
async function runCommand(container: Container, options: object, abortSignal: AbortSignal): Promise<string | null> {
  try {
    const exec = await container.exec({ ...options, AttachStdout: true, AttachStderr: true, abortSignal });
    const output = await exec.start({ Detach: false, abortSignal });
    let printed = '';
    const write = (_stream: string, chunk: Buffer) => {
      printed = `${printed}${chunk}`.slice(-1000);
    };
    await copyOutput(output, { hasTerminal: false, write }).done;
    const { ExitCode } = await exec.inspect({ abortSignal });
    return ExitCode === 0 ? null : printed.trim();
  } catch (error) {
    return requestMessage(error);
  }
}
