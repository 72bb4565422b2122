import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import type { ServerSettings } from '#config/part-settings.ts';
import { tryOr } from '#system/errors.ts';

/** The user of the daemon, and the machine's other users. */
type LocalUsers = {
  readonly own: { readonly name: string; readonly isRoot: boolean };
  /** The names of other users with a shell, without root, which is not restricted anyway. */
  readonly others: readonly string[];
};

/** Returns the users of `/etc/passwd`, which lacks those of a directory service such as LDAP. */
export function localUsers(): LocalUsers {
  const uid = process.getuid?.() ?? 0;
  // In a container, a user id may have no name.
  const name = tryOr(String(uid), () => userInfo().username);
  const passwd = tryOr('', () => readFileSync('/etc/passwd', 'utf8'));
  return { own: { name, isRoot: uid === 0 }, others: usersWithShell(passwd, uid) };
}

/** Returns the users of an `/etc/passwd` with a login shell, without root and the user `ownUid`. */
export function usersWithShell(passwd: string, ownUid: number): readonly string[] {
  return passwd.split('\n').flatMap((line) => {
    const [name = '', , uid = '', , , , shell = ''] = line.split(':');
    const isOther = uid !== '' && Number(uid) !== 0 && Number(uid) !== ownUid;
    return isOther && /sh$/.test(shell) ? [name] : [];
  });
}

/** Describes who can run commands through a daemon; a warning if other users of the machine need no login. */
export function accessNote(login: ServerSettings['login'], { own, others }: LocalUsers) {
  const asUser = own.isRoot ? 'as root' : `as "${own.name}"`;
  if (login.token !== null || login.basic !== null) {
    return { isWarning: false, text: `a login is required: every client that has it can run commands ${asUser}` };
  }
  if (login.readOnlyToken !== null) {
    return { isWarning: false, text: 'a login is required, and the only one is read-only' };
  }
  const named = others.length === 0 ? '' : ` (users with a shell: ${listed(others)})`;
  const who = `no login is required: every user and program on this machine${named} can run commands ${asUser}`;
  const isWarning = own.isRoot || others.length > 0;
  return { isWarning, text: `${isWarning ? 'warning: ' : ''}${who}; --require-login asks for a token` };
}

const MAX_NAMED_USERS = 3;

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMED_USERS).map((name) => `"${name}"`);
  const more = names.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
