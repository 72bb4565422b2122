import { readFileSync } from 'node:fs';

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
    return readFileSync('/proc/sys/kernel/hostname', 'utf8').trimEnd() || os().hostname();
  } catch {
    return os().hostname();
  }
}
