import { readFileSync } from 'node:fs';
import { getPriority } from 'node:os';

/** The priority of a process, compared with that of this one. */
export const priorityOf = (pid: number): number => getPriority(pid) - getPriority();

/** The priority of a session among others, as text; 0 where Linux does not share the processors among sessions. */
export function sessionPriority(pid: number): string {
  try {
    return / nice (-?\d+)/.exec(readFileSync(`/proc/${pid}/autogroup`, 'utf8'))?.[1] ?? '0';
  } catch {
    return '0';
  }
}
