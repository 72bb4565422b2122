import { fstatSync, statSync } from 'node:fs';

/**
 * Whether a descriptor is a terminal. Only a device can be one, and not the one that is nothing: about all else `node:tty` is
 * not asked, since loading it takes longer than most commands do.
 */
export function isTerminal(fd: 0 | 1 | 2): boolean {
  return isDevice(fd) && process.getBuiltinModule('node:tty').isatty(fd);
}

function isDevice(fd: number): boolean {
  try {
    const stats = fstatSync(fd);
    return stats.isCharacterDevice() && stats.rdev !== statSync('/dev/null').rdev;
  } catch {
    // A descriptor that is closed, or a system without this file.
    return true;
  }
}
