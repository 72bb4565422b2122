import { statfsSync } from 'node:fs';

/**
 * The numbers (statfs(2)) of file systems that one kernel has to itself: ext2 to ext4, XFS, Btrfs, bcachefs, F2FS, ZFS, JFS,
 * ReiserFS, tmpfs, ramfs and overlays. All others may be seen by several machines (NFS, CIFS, 9p), or have files that are not
 * the same for two mounts (FUSE).
 */
const localTypes = new Set([
  0xef53, 0x58465342, 0x9123683e, 0xca451a4e, 0xf2f52010, 0x2fc12fc1, 0x3153464a, 0x52654973, 0x01021994, 0x858458f6,
  0x794c7630,
]);

/** Whether no other machine has the file system of a path, as far as that is certain. */
export function isOnLocalDisk(path: string): boolean {
  try {
    // Some numbers have their highest bit set, which makes them negative on some machines.
    return localTypes.has(statfsSync(path).type >>> 0);
  } catch {
    return false;
  }
}
