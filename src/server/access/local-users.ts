import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';

/** The user of the daemon, and the machine's other users. */
export type LocalUsers = {
  readonly own: { readonly name: string; readonly isRoot: boolean };
  /** The names of other users with a shell, without root, which is not restricted anyway. */
  readonly others: readonly string[];
};

/** Returns the users of `/etc/passwd`, which lacks those of a directory service such as LDAP. */
export function localUsers(): LocalUsers {
  const uid = process.getuid?.() ?? 0;
  return { own: { name: nameOf(uid), isRoot: uid === 0 }, others: usersWithShell(readPasswd(), uid) };
}

/** Returns the users of an `/etc/passwd` with a login shell, without root and the user `ownUid`. */
export function usersWithShell(passwd: string, ownUid: number): readonly string[] {
  return passwd.split('\n').flatMap((line) => {
    const [name = '', , uid = '', , , , shell = ''] = line.split(':');
    const isOther = uid !== '' && Number(uid) !== 0 && Number(uid) !== ownUid;
    return isOther && /sh$/.test(shell) ? [name] : [];
  });
}

/** Returns the name of a user; in a container, a user id may have no name. */
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
