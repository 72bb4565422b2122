import { readFileSync } from 'node:fs';
import { constants, getPriority } from 'node:os';

/** The priority of this process, lowered by so much, and not below the lowest one. */
export const loweredBy = (by: number): number => Math.min(getPriority() + by, constants.priority.PRIORITY_LOW);

/** The priority of a session among others, as text; 0 where Linux does not share the processors among sessions. */
export function sessionPriority(pid: number): string {
  try {
    return / nice (-?\d+)/.exec(readFileSync(`/proc/${pid}/autogroup`, 'utf8'))?.[1] ?? '0';
  } catch {
    return '0';
  }
}
