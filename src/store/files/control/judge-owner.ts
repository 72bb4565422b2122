import { lstatSync } from 'node:fs';
import type { ProcessOwner } from '#core/run/run.ts';
import { failedAs } from '#system/errors.ts';
import type { OwnerVerdict } from '../../store.ts';
import { isOnLocalDisk, makePrivateDirectory, storing, unlessRemoved } from '../disk/private-files.ts';
import {
  claimDirectory,
  lastOwnerPath,
  ownerSocketPath,
  type Processes,
  readOwner,
  releaseOwner,
  thisOwner,
} from './owner.ts';

/**
 * Determines whether the owner of a directory's content is alive. In this namespace its pid is enough. In other
 * namespaces of the same kernel, its socket or its open file is examined: the kernel knows both by their inodes, in
 * any namespace. After a verdict of `gone`, `isAlive` returns false for the owner. Throws a `WfError` `storage`.
 */
export async function judgeOwner(
  directory: string,
  processes: Processes,
  isLocal: (path: string) => boolean = isOnLocalDisk,
): Promise<OwnerVerdict> {
  const path = unlessRemoved(directory, () => lastOwnerPath(directory));
  const owner = path === null ? null : unlessRemoved(path, () => readOwner(path));
  if (path === null || owner === null) return 'gone';
  const { elsewhere, isAlive } = processes;
  if (elsewhere === undefined || !elsewhere.isElsewhere(owner)) return isAlive(owner) ? 'alive' : 'gone';
  const verdict = await judgeElsewhere(path, owner, { here: elsewhere.here, isLocal: isLocal(path) });
  // An owner that gives up empties its file first and may continue with other runs.
  const isOwned = () => unlessRemoved(path, () => readOwner(path)) !== null;
  if (verdict === 'gone' && isOwned()) elsewhere.declareGone(owner);
  return verdict;
}

/** Becomes the owner of a directory; returns the function that gives it up, null if another owns or may own it. */
export async function claimOwn(directory: string, processes: Processes): Promise<(() => void) | null> {
  storing('claim', directory, () => makePrivateDirectory(directory));
  await judgeOwner(directory, processes);
  try {
    const owner = thisOwner(processes);
    const ownership = storing('claim', directory, () => claimDirectory(directory, owner, processes.isAlive));
    return () => releaseOwner(ownership);
  } catch (error) {
    if (failedAs(error, 'run-active')) return null;
    throw error;
  }
}

/** Two machines that share a home have different boots, and mounts of a shared file system different inodes. */
async function judgeElsewhere(
  path: string,
  owner: ProcessOwner,
  { here, isLocal }: { readonly here: Pick<ProcessOwner, 'boot' | 'machine'>; readonly isLocal: boolean },
): Promise<OwnerVerdict> {
  if (owner.boot !== here.boot || here.boot === null) {
    const isSameMachine = typeof owner.machine === 'string' && owner.machine === here.machine;
    return owner.boot !== null && here.boot !== null && (isLocal || isSameMachine) ? 'gone' : 'unknown';
  }
  const { askSocket } = await import('./owner-socket.ts');
  const socket = ownerSocketPath(path);
  const answer = isSocket(socket) ? await askSocket(socket) : 'unknown';
  if (answer === 'alive') return 'alive';
  if (!isLocal) return 'unknown';
  if (answer === 'gone') return 'gone';
  const isOpen = await isOpenForWriting(path);
  return isOpen === null ? 'unknown' : isOpen ? 'alive' : 'gone';
}

/** Connecting to any other kind of file is refused too. */
function isSocket(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSocket() ?? false;
}

/**
 * Requests a read lease from the kernel (fcntl(2), F_SETLEASE), which is refused with EAGAIN (11) while a process of
 * any namespace has the file open for writing. Node has no such call. Exits with 0: not open, 1: open, 2 or more:
 * unknown.
 */
const PROBE = `
import fcntl, signal, sys
signal.signal(signal.SIGIO, signal.SIG_IGN)
try: file = open(sys.argv[1])
except OSError: sys.exit(3)
try: fcntl.fcntl(file, 1024, fcntl.F_RDLCK)
except OSError as error: sys.exit(1 if error.errno == 11 else 2)
`;

/** Whether any process of this kernel has a file open for writing; null if that cannot be known, as without Python. */
async function isOpenForWriting(path: string): Promise<boolean | null> {
  if (process.platform !== 'linux') return null;
  const { spawn } = process.getBuiltinModule('node:child_process');
  return new Promise((resolve) => {
    const child = spawn('python3', ['-I', '-S', '-c', PROBE, path], { stdio: 'ignore' });
    child.once('error', () => resolve(null));
    child.once('exit', (code) => resolve(code === 0 ? false : code === 1 ? true : null));
  });
}
