import { fstatSync, statSync } from 'node:fs';

/**
 * Whether a descriptor is a terminal. Only devices other than the null device are checked with `node:tty`, because loading it
 * takes longer than most commands.
 */
export function isTerminal(fd: 0 | 1 | 2): boolean {
  return mayBeTerminal(fd) && process.getBuiltinModule('node:tty').isatty(fd);
}

/** Whether a descriptor is a device other than the null device. A closed terminal is no terminal, but still a device. */
export function mayBeTerminal(fd: 0 | 1 | 2): boolean {
  try {
    const stats = fstatSync(fd);
    return stats.isCharacterDevice() && stats.rdev !== statSync('/dev/null').rdev;
  } catch {
    // The descriptor is closed, or the system has no such file.
    return true;
  }
}
