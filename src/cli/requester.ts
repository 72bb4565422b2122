import { userInfo } from 'node:os';

/** Returns the requester for the journal of a run: `alice (wf stop)`. */
export function requester(command: string): string {
  return `${userName()} (wf ${command})`;
}

/** A user without an entry in the password database has only a number. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}
