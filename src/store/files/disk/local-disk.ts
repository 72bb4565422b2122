import { statfsSync } from 'node:fs';

/**
 * Type numbers (statfs(2)) of file systems that only one kernel uses: ext2 to ext4, XFS, Btrfs, bcachefs, F2FS, ZFS,
 * JFS, ReiserFS, tmpfs, ramfs and overlays. All others may be shared by several machines (NFS, CIFS, 9p), or show
 * different inodes in two mounts (FUSE).
 */
const localTypes = new Set([
  0xef53, 0x58465342, 0x9123683e, 0xca451a4e, 0xf2f52010, 0x2fc12fc1, 0x3153464a, 0x52654973, 0x01021994, 0x858458f6,
  0x794c7630,
]);

/** Whether the file system of a path certainly belongs to this machine alone. */
export function isOnLocalDisk(path: string): boolean {
  try {
    // Numbers whose highest bit is set are negative on some machines.
    return localTypes.has(statfsSync(path).type >>> 0);
  } catch {
    return false;
  }
}
