import type { VolumeInspectInfo } from 'dockerode';
import type { Attempt } from '../../executor.ts';
import type { Daemon } from '../api/daemon.ts';
import { isOwnerGone, ownerKey, ownerLabel } from '../container-owner.ts';
import { requestMessage, requestStatus } from '../docker-problem.ts';
import { type ExecUser, isMarkedLeft, removeFile, signalMarkedProcesses } from './exec-commands.ts';

/** The data that a later `wf` needs to find and end a command in a running container. */
export type ExecRecord = {
  readonly container: string;
  /** `NAME=value` in the environment of every process of the command. */
  readonly mark: string;
  readonly exec: ExecUser;
  /** Path of the step's script in the container. */
  readonly script: string | null;
};

const recordKey = 'wf.exec';
type Note = (line: string) => void;

/**
 * Records a command as an empty volume, since commands have no labels and Docker does not list them. Resolves to a
 * function that removes the record. Without permission to create volumes the command still runs, with a note.
 */
export async function recordExec(
  { docker, over }: Daemon,
  record: ExecRecord,
  attempt: Attempt,
): Promise<() => Promise<void>> {
  const labels = { 'wf.run': attempt.runId, 'wf.workflow': attempt.workflow.name, 'wf.step': attempt.step.name };
  const name = `wf-exec-${record.mark.split('=')[1]}`;
  const Labels = { ...labels, [ownerKey]: ownerLabel(), [recordKey]: JSON.stringify(record) };
  try {
    const volume = await docker.createVolume({
      _query: {},
      _body: { Name: name, Labels },
      abortSignal: over,
    } as object);
    // A later step removes a remaining record.
    return () => volume.remove({ abortSignal: over }).catch(() => {});
  } catch (error) {
    if (requestStatus(error) === null) throw error;
    const reason = requestMessage(error);
    attempt.write(
      'stderr',
      `if wf is killed, the command keeps running: Docker refused the volume for it: ${reason}\n`,
    );
    return async () => {};
  }
}

/** Ends commands whose `wf` was killed before it could. Several processes may do so at the same time. */
export async function endOrphanedExecs(daemon: Daemon, note: Note): Promise<void> {
  const records = (await listRecords(daemon)).filter(({ Labels }) => isOwnerGone(Labels?.[ownerKey] ?? ''));
  await Promise.all(records.map((volume) => endOrphan(daemon, volume, note)));
}

/** A daemon behind a proxy that refuses volumes has no records either. */
async function listRecords({ docker, over }: Daemon): Promise<readonly VolumeInspectInfo[]> {
  try {
    const filters = { label: [recordKey] };
    const { Volumes } = await docker.listVolumes({ filters, abortSignal: over });
    return Volumes ?? [];
  } catch (error) {
    if (requestStatus(error) === null) throw error;
    return [];
  }
}

async function endOrphan(daemon: Daemon, { Name, Labels }: VolumeInspectInfo, note: Note): Promise<void> {
  const record = parseRecord(Labels[recordKey] ?? '');
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
  // The volume may already be gone.
  await daemon.docker
    .getVolume(Name)
    .remove({ abortSignal: daemon.over })
    .catch(() => {});
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
  if (record.script !== null) await removeFile(container, record.script, daemon.over);
  return null;
}

function parseRecord(label: string): ExecRecord | null {
  try {
    const record = JSON.parse(label) as ExecRecord | null;
    return typeof record?.container === 'string' && typeof record.mark === 'string' ? record : null;
  } catch {
    return null;
  }
}
