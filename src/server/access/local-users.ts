import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';

/** The user that a daemon runs as, and the machine's other users. */
export type LocalUsers = {
  readonly own: { readonly name: string; readonly isRoot: boolean };
  /** Names of the others that have a shell, without root, which may do everything anyway. */
  readonly others: readonly string[];
};

/** The users that `/etc/passwd` names; those of a directory service such as LDAP are not in it. */
export function localUsers(): LocalUsers {
  const uid = process.getuid?.() ?? 0;
  return { own: { name: nameOf(uid), isRoot: uid === 0 }, others: usersWithShell(readPasswd(), uid) };
}

/** Users of an `/etc/passwd` who can log in to a shell, besides root and the user with an id. */
export function usersWithShell(passwd: string, ownUid: number): readonly string[] {
  return passwd.split('\n').flatMap((line) => {
    const [name = '', , uid = '', , , , shell = ''] = line.split(':');
    const isOther = uid !== '' && Number(uid) !== 0 && Number(uid) !== ownUid;
    return isOther && /sh$/.test(shell) ? [name] : [];
  });
}

/** A container may run under a number that has no name. */
function nameOf(uid: number): string {
  try {
    return userInfo().username;
  } catch {
    return String(uid);
  }
}

function readPasswd(): string {
  try {
    return readFileSync('/etc/passwd', 'utf8');
  } catch {
    return '';
  }
}
