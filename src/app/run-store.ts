import { join } from 'node:path';
import type { Config } from '#config/config.ts';
import type { BlockedBy } from '#core/run/run.ts';
import { os } from '#fast/os.ts';
import { declareGone, identify, isElsewhere, mayBeAlive, processScope } from '#processes/processes.ts';
import type { Processes } from '#store/files/control/owner.ts';
import { createFileStore, type FileStore } from '#store/files/file-store.ts';
import { type JournalCalls, journalCalls } from '#store/files/journal/journal-file.ts';
import type { DaemonState, LockStore } from '#store/store.ts';
import { WfError } from '#system/errors.ts';

/** Process checks for code that needs to know whether a process is alive. */
const processes: Processes = {
  identify,
  isAlive: mayBeAlive,
  elsewhere: {
    get here() {
      return processScope();
    },
    isElsewhere,
    declareGone,
  },
};

/** What daemons store besides runs. Rejects with a `WfError` `storage` without a home directory. */
export async function daemonState({ runsDir }: Pick<Config, 'runsDir'>): Promise<DaemonState> {
  const { createDaemonState } = await import('#store/files/daemon-state.ts');
  if (runsDir !== null) return createDaemonState(runsDir, processes);
  throw new WfError('storage', 'there is no home directory to store runs in', { help: 'set WF_HOME' });
}

/** The locks of a home; those of this process alone without one. `settle`: as `LockProcesses` describes it. */
export async function lockStore(
  { runsDir }: Pick<Config, 'runsDir'>,
  settle: (runId: string) => Promise<void>,
): Promise<LockStore> {
  const { createLocks, temporaryHome } = await import('#store/files/locks/locks.ts');
  return createLocks(runsDir ?? join(temporaryHome(os().tmpdir()), 'runs'), { ...processes, settle });
}

/** Returns the look-up of the slots of locks and queues. */
export function lockSizes({ settings }: Pick<Config, 'settings'>): (kind: BlockedBy, name: string) => number {
  return (kind, name) =>
    kind === 'queue'
      ? (settings.read('queues').value.find((queue) => queue.name === name)?.maxConcurrent ?? 1)
      : (settings.read('pools').value.find((pool) => pool.name === name)?.slots ?? 1);
}

/** The size of the cache of results. */
export function cacheBytes(settings: Config['settings']): number {
  return settings.read('cacheMaxMiB').value * 2 ** 20;
}

/** The run store on the disk; `calls` replace those of the system. Throws a `WfError` `storage` without a home. */
export function fileStore({ runsDir, settings }: Config, calls: Partial<JournalCalls> = {}): FileStore {
  const parts = { ...processes, calls: { ...journalCalls, ...calls }, cacheBytes: () => cacheBytes(settings) };
  if (runsDir !== null) return createFileStore({ runsDir, ...parts });
  throw new WfError('storage', 'there is no home directory to store the run in', {
    help: 'set HOME or WF_HOME, or run with --no-history',
  });
}

/** Returns the look-up of the most runs of a queue at once, by its name. */
export function queueSizes(config: Config): (name: string) => number {
  const sizeOf = lockSizes(config);
  return (name) => sizeOf('queue', name);
}

/** The directory in which workers store logs; null: none. */
export function logStoreDirectory({ settings }: Config): string | null {
  const { value } = settings.read('engineLogs');
  return value?.startsWith(DIRECTORY) ? value.slice(DIRECTORY.length) : null;
}

const DIRECTORY = 'file:';
