import type { ContainerInfo } from 'dockerode';
import type { Daemon } from './api/daemon.ts';
import { isOwnerGone, ownerKey } from './container-owner.ts';
import { requestMessage, requestStatus } from './docker-problem.ts';
import { endOrphanedExecs } from './exec/exec-record.ts';

/** Label of a container that is kept after its end. */
export const keepKey = 'wf.keep';

type Note = (line: string) => void;

/**
 * Removes containers, and ends commands in other containers, whose `wf` was killed before it could. Several processes
 * may do so at the same time.
 */
export async function reapOrphans(daemon: Daemon, note: Note): Promise<void> {
  await Promise.all([removeOrphanedContainers(daemon, note), endOrphanedExecs(daemon, note)]);
}

async function removeOrphanedContainers({ docker, over }: Daemon, note: Note): Promise<void> {
  const filters = { label: [ownerKey] };
  const containers = await docker.listContainers({ all: true, filters, abortSignal: over });
  const orphans = containers.filter(isOrphan);
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

/** A container that was to be kept and has ended is not an orphan. */
function isOrphan({ Labels, State }: ContainerInfo): boolean {
  const isKept = Labels[keepKey] === 'true' && (State === 'exited' || State === 'dead');
  return !isKept && isOwnerGone(Labels[ownerKey] ?? '');
}
