import { fstatSync, statSync } from 'node:fs';

/**
 * Whether a descriptor is a terminal. Only devices other than the null device are checked with `node:tty`, because loading it
 * takes longer than most commands.
 */
export function isTerminal(fd: 0 | 1 | 2): boolean {
  return isDevice(fd) && process.getBuiltinModule('node:tty').isatty(fd);
}

function isDevice(fd: number): boolean {
  try {
    const stats = fstatSync(fd);
    return stats.isCharacterDevice() && stats.rdev !== statSync('/dev/null').rdev;
  } catch {
    // The descriptor is closed, or the system has no such file.
    return true;
  }
}
