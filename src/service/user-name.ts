import { userInfo } from 'node:os';

/** Returns the name of the user of this process. A user without an entry in the password database has only a number. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}
