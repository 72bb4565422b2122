import { fstatSync, readFileSync, statSync } from 'node:fs';
import { uses } from './accelerators.ts';

/** The module `node:os`. Loading it takes half a millisecond, which most commands save: call this where it is needed. */
export function os(): typeof import('node:os') {
  return process.getBuiltinModule('node:os');
}

let host: string | null = null;

/** The name of this machine, which every run records: where Linux offers it as a file, without loading `node:os`. Read once. */
export function hostName(): string {
  host ??= readHostName();
  return host;
}

function readHostName(): string {
  try {
    const found = uses('start-up') ? readFileSync('/proc/sys/kernel/hostname', 'utf8').trimEnd() : '';
    return found || os().hostname();
  } catch {
    return os().hostname();
  }
}

/**
 * Whether a descriptor is a terminal. Only devices other than the null device are checked with `node:tty`, because loading it
 * takes longer than most commands.
 */
export function isTerminal(fd: 0 | 1 | 2): boolean {
  return (!uses('start-up') || mayBeTerminal(fd)) && process.getBuiltinModule('node:tty').isatty(fd);
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
