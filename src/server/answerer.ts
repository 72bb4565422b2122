import { userName } from '#service/user-name.ts';
import type { Visitor } from './access/visitor.ts';

/** Returns the name under which a client answers approvals: that of its login, or of the daemon's user without logins. */
export function answererOf(visitor: Visitor): string {
  return loginOf(visitor) ?? userName();
}

/** Returns the name of a client that stops a run or marks a step: that of its login, or `the API` without logins. */
export function actorOf(visitor: Visitor): string {
  return loginOf(visitor) ?? 'the API';
}

function loginOf({ logins, user }: Visitor): string | null {
  return logins.length === 0 ? null : (user()?.name ?? 'token');
}
