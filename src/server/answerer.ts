import { userName } from '../service/user-name.ts';
import type { Visitor } from './access/visitor.ts';

/** Returns the name under which a client answers approvals: that of its login, or of the daemon's user without logins. */
export function answererOf({ logins, user }: Visitor): string {
  if (logins.length === 0) return userName();
  return user()?.name ?? 'token';
}
