import type { Container } from 'dockerode';
import type { Json } from '../../../core/workflow.ts';
import type { Daemon } from '../api/daemon.ts';
import { copyOutput } from '../output.ts';
import { requestMessage, requestStatus } from '../problem.ts';

/**
 * Signals every process whose environment holds a mark: `$1` is the signal, `$2` the mark; a kill looks again for what
 * was started meanwhile. With nothing but the shell, which reads over the zeros in an environment (its last line may have
 * no end).
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

/** As whom a command runs: only the same user can read its environment. */
export type ExecUser = { readonly User?: Json | undefined; readonly Privileged?: Json | undefined };

type Marked = {
  readonly daemon: Daemon;
  readonly container: Container;
  readonly exec: ExecUser;
  readonly mark: string;
};

/** Signals what was started with a mark, as the same user; resolves to why that was not possible. */
export function signalMarkedProcesses(
  { daemon, container, exec, mark }: Marked,
  signal: string,
): Promise<string | null> {
  const command = ['sh', '-c', signalMarked, 'sh', signal.replace(/^SIG/, ''), mark];
  const { User, Privileged } = exec;
  return runErrand(container, { User, Privileged, Cmd: command }, daemon.over);
}

/**
 * Does anything live in the container that was started with the mark? Asked of Docker, which looks from outside: that is
 * one request, and needs no program in the container. Where it cannot tell, there may be something.
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

/** All processes, each with its environment at full width behind its command. Source: ps(1), options "e" and "w". */
const psArguments = '-e e ww -o pid,args';

/** Removes a file that this step put there; nothing depends on it. */
export async function removeFile(container: Container, path: string, abortSignal: AbortSignal): Promise<void> {
  await runErrand(container, { Cmd: ['rm', '-f', path], User: '0' }, abortSignal);
}

/** Runs a little command in a container to its end; resolves to what is wrong when it fails. */
async function runErrand(container: Container, options: object, abortSignal: AbortSignal): Promise<string | null> {
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
