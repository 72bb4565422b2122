import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Container, VolumeInspectInfo } from 'dockerode';
import type { ProcessIdentity } from '#core/run/run.ts';
import type { Json } from '#core/workflow.ts';
import { identityFor, mayBeAlive, processScope } from '#processes/processes.ts';
import { tryOr } from '#system/errors.ts';
import type { Attempt } from '../executor.ts';
import { copyOutput } from './container-end.ts';
import { type Daemon, objectIn, requestMessage, requestStatus, whyFailed } from './docker-daemon.ts';

/** The process responsible for a container, and its context: many machines, users and containers may share a daemon. */
type ContainerOwner = ProcessIdentity & { readonly machine: string; readonly uid: number | null };

/** Label with the owner of a container, or of the record of a command in another container. */
export const OWNER_KEY = 'wf.owner';

/** This process as label text. */
export function ownerLabel(): string {
  const identity = identityFor(process.pid);
  return JSON.stringify({ ...identity, machine: machineId(), uid: userId() } satisfies ContainerOwner);
}

/**
 * Whether the process in a label is certainly gone. Only processes of this machine and user can be judged: those of
 * other users may be hidden. Processes of an earlier boot are gone; those in other namespaces of this boot are not
 * visible.
 */
export function isOwnerGone(label: string): boolean {
  const owner = objectIn<ContainerOwner>(label);
  const isOwn = owner.machine === machineId() && owner.uid === userId();
  if (typeof owner.pid !== 'number' || !isOwn) return false;
  const { machine: _, ...identity } = owner as ContainerOwner;
  return owner.boot !== processScope().boot || !mayBeAlive(identity);
}

/** The host name alone is ambiguous ("localhost"), and machine-id(5) forbids exposing the id itself. */
function machineId(): string {
  const id = tryOr('', () => readFileSync('/etc/machine-id', 'latin1').trim());
  return createHash('sha256').update(`${hostname()}\n${id}`).digest('hex').slice(0, 16);
}

function userId(): number | null {
  return process.getuid?.() ?? null;
}

/**
 * Signals every process whose environment contains a mark: `$1` is the signal, `$2` the mark; a kill repeats the search
 * for processes started in the meantime. Uses only the shell, whose `read` skips the NULs of an environment (the last
 * line may be unterminated).
 */
const SIGNAL_MARKED = `
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

/** Signals the processes with a mark, as the same user; resolves to the problem. A stopped container has none. */
export async function signalMarkedProcesses(
  { daemon, container, exec, mark }: Marked,
  signal: string,
): Promise<string | null> {
  const command = ['sh', '-c', SIGNAL_MARKED, 'sh', signal.replace(/^SIG/, ''), mark];
  const { User, Privileged } = exec;
  const problem = await runCommand(container, { User, Privileged, Cmd: command }, daemon);
  return problem !== null && (await hasStopped(container, daemon)) ? null : problem;
}

/** Whether a container is stopped or removed; false if Docker cannot tell. */
function hasStopped(container: Container, { over }: Daemon): Promise<boolean> {
  return container.inspect({ abortSignal: over }).then(
    ({ State }) => !State.Running,
    (error) => requestStatus(error) === 404,
  );
}

/**
 * Whether a process with the mark is running in the container; true if Docker cannot tell. It lists processes from
 * outside: no program is needed inside.
 */
export async function isMarkedLeft({ daemon, container, mark }: Omit<Marked, 'exec'>): Promise<boolean> {
  try {
    const { Processes } = await container.top({ ps_args: PS_ARGUMENTS, abortSignal: daemon.over } as object);
    return (Processes as readonly (readonly string[])[]).some((columns) => columns.join(' ').includes(mark));
  } catch (error) {
    const isContainerOver = [404, 409].includes(requestStatus(error) ?? 0);
    return !isContainerOver;
  }
}

/** Lists all processes, each followed by its full environment. Source: ps(1), options "e" and "w". */
const PS_ARGUMENTS = '-e e ww -o pid,args';

/** Removes a file created by this step; nothing depends on it. */
export async function removeFile(container: Container, path: string, daemon: Daemon): Promise<void> {
  await runCommand(container, { Cmd: ['rm', '-f', path], User: '0' }, daemon);
}

/** Runs a small command in a container to its end; resolves to the problem if it fails. */
async function runCommand(container: Container, options: object, daemon: Daemon): Promise<string | null> {
  const abortSignal = daemon.over;
  try {
    const exec = await container.exec({ ...options, AttachStdout: true, AttachStderr: true, abortSignal });
    const output = await exec.start({ Detach: false, abortSignal });
    let printed = '';
    await copyOutput(output, false, (_stream, chunk) => {
      printed = `${printed}${chunk}`.slice(-1000);
    }).done;
    const { ExitCode } = await exec.inspect({ abortSignal });
    return ExitCode === 0 ? null : printed.trim();
  } catch (error) {
    return whyFailed(error, daemon);
  }
}

/** The data that a later `wf` needs to find and end a command in a running container. */
type ExecRecord = {
  readonly container: string;
  /** `NAME=value` in the environment of every process of the command. */
  readonly mark: string;
  readonly exec: ExecUser;
  readonly script: string | null;
};

const RECORD_KEY = 'wf.exec';
/**
 * Records a command as an empty volume, since commands have no labels and are not listed; resolves to the function that
 * removes it. Without permission for volumes the command still runs, with a note.
 */
export async function recordExec(
  { docker, over }: Daemon,
  record: ExecRecord,
  attempt: Attempt,
): Promise<() => Promise<void>> {
  const labels = { 'wf.run': attempt.runId, 'wf.workflow': attempt.workflow.name, 'wf.step': attempt.step.name };
  const name = `wf-exec-${record.mark.split('=')[1]}`;
  const Labels = { ...labels, [OWNER_KEY]: ownerLabel(), [RECORD_KEY]: JSON.stringify(record) };
  try {
    const options = { _query: {}, _body: { Name: name, Labels }, abortSignal: over };
    const volume = await docker.createVolume(options as object);
    // A later step removes a remaining record.
    return () => volume.remove({ abortSignal: over }).catch(() => {});
  } catch (error) {
    if (requestStatus(error) === null) throw error;
    const reason = `Docker refused the volume for it: ${requestMessage(error)}`;
    attempt.write('stderr', `if wf is killed, the command keeps running: ${reason}\n`);
    return async () => {};
  }
}

/** Ends commands whose `wf` was killed before it could. Several processes may do so at the same time. */
async function endOrphanedExecs(daemon: Daemon, note: Note): Promise<void> {
  const records = (await listRecords(daemon)).filter(({ Labels }) => isOwnerGone(Labels?.[OWNER_KEY] ?? ''));
  await Promise.all(records.map((volume) => endOrphan(daemon, volume, note)));
}

/** A daemon behind a proxy that refuses volumes has no records either. */
async function listRecords({ docker, over }: Daemon): Promise<readonly VolumeInspectInfo[]> {
  try {
    return (await docker.listVolumes({ filters: { label: [RECORD_KEY] }, abortSignal: over })).Volumes ?? [];
  } catch (error) {
    if (requestStatus(error) === null) throw error;
    return [];
  }
}

async function endOrphan(daemon: Daemon, { Name, Labels }: VolumeInspectInfo, note: Note): Promise<void> {
  const record = parseRecord(Labels[RECORD_KEY] ?? '');
  if (record !== null) {
    const what = `command of step "${Labels['wf.step']}" in run ${Labels['wf.run']} in container "${record.container}"`;
    const problem = await endCommand(daemon, record, () =>
      note(`ended the ${what}: the process that started it is gone`),
    );
    if (problem !== null) {
      note(`the ${what}, whose process is gone, could not be ended: ${problem}`);
      return;
    }
  }
  const volume = daemon.docker.getVolume(Name);
  // It may already be gone.
  await volume.remove({ abortSignal: daemon.over }).catch(() => {});
}

/** Resolves to why the command could not be ended; calls `ended` if there was something to end. */
async function endCommand(daemon: Daemon, record: ExecRecord, ended: () => void): Promise<string | null> {
  const container = daemon.docker.getContainer(record.container);
  const marked = { daemon, container, mark: record.mark, exec: record.exec };
  if (await isMarkedLeft(marked)) {
    const problem = await signalMarkedProcesses(marked, 'SIGKILL');
    if (problem !== null) return problem;
    ended();
  }
  if (record.script !== null) await removeFile(container, record.script, daemon);
  return null;
}

function parseRecord(label: string): ExecRecord | null {
  const record = objectIn<ExecRecord>(label);
  return typeof record.container === 'string' && typeof record.mark === 'string' ? (record as ExecRecord) : null;
}

/** Label of a container that is kept after its end. */
export const KEEP_KEY = 'wf.keep';

type Note = (line: string) => void;

/** Removes containers and ends commands whose `wf` was killed before it could; several processes may do so at once. */
export async function reapOrphans(daemon: Daemon, note: Note): Promise<void> {
  await Promise.all([removeOrphanedContainers(daemon, note), endOrphanedExecs(daemon, note)]);
}

async function removeOrphanedContainers({ docker, over }: Daemon, note: Note): Promise<void> {
  const filters = { label: [OWNER_KEY] };
  const containers = await docker.listContainers({ all: true, filters, abortSignal: over });
  const orphans = containers.filter(({ Labels, State }) => {
    // A container that was to be kept and has ended is not an orphan.
    const isKept = Labels[KEEP_KEY] === 'true' && (State === 'exited' || State === 'dead');
    return !isKept && isOwnerGone(Labels[OWNER_KEY] ?? '');
  });
  await Promise.all(
    orphans.map(async ({ Id, Labels }) => {
      const step = Labels['wf.step'];
      const owner = step === undefined ? '' : `step "${step}" in `;
      const what = `container ${Id.slice(0, 12)} of ${owner}run ${Labels['wf.run']}`;
      try {
        await docker.getContainer(Id).remove({ force: true, v: true, abortSignal: over });
        note(`removed ${what}: the process that started it is gone`);
      } catch (error) {
        const isBeingRemoved = [404, 409].includes(requestStatus(error) ?? 0);
        if (!isBeingRemoved) note(`${what}, whose process is gone, could not be removed: ${requestMessage(error)}`);
      }
    }),
  );
}
