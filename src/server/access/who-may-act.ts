import type { ServerSettings } from '../../config/server-settings.ts';
import type { LocalUsers } from './local-users.ts';

/** A line about the users and programs that can run commands as the user of the daemon. */
export type AccessNote = { readonly isWarning: boolean; readonly text: string };

/** Describes who can run commands through a daemon; a warning if other users of the machine need no login. */
export function accessNote(login: ServerSettings['login'], { own, others }: LocalUsers): AccessNote {
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
