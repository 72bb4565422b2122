import type { DaemonInfo } from '#run-view/api/types.ts';

type Disk = NonNullable<DaemonInfo['disk']>;

/** On small disks a share of them, on large ones a number of bytes. */
const FULL_SHARE = 0.05;
const FULL_BYTES = 10 * 1024 ** 3;

/** Whether so little space is left that runs may soon fail. */
export function isNearlyFull({ totalBytes, freeBytes }: Disk): boolean {
  return freeBytes < Math.min(totalBytes * FULL_SHARE, FULL_BYTES);
}
