import { type Command, Option } from 'commander';
import { type Setting, type SettingUser, settings } from '#config/settings.ts';
import { append } from './options.ts';

const serverUsers: readonly SettingUser[] = ['wf serve', 'wf serve and clients'];
const clientUsers: readonly SettingUser[] = ['clients', 'wf serve and clients'];

/** Short forms that other runners of this format have. */
const shortForms: Readonly<Record<string, string>> = { host: '-s, ', port: '-p, ' };

/** Adds the options of `wf serve`: one for each of its settings with a flag. */
export function withServerSettings(command: Command): Command {
  return withSettings(command, serverUsers);
}

/** Adds the options of commands that can use a daemon: its address and the login. */
export function withClientSettings(command: Command): Command {
  return withSettings(command, clientUsers).option(
    '--no-server',
    'use the runs of this machine, even if a daemon is configured',
  );
}

/** Adds the options of commands that work only on this machine, so that they can refuse a daemon with a clear error. */
export function withLocalOnly(command: Command): Command {
  return command
    .addOption(new Option('--server <url>').hideHelp())
    .option('--no-server', 'use the runs of this machine, even if a daemon is configured');
}

function withSettings(command: Command, users: readonly SettingUser[]): Command {
  for (const [key, { usedBy, flag, kind, about }] of Object.entries<Setting<unknown>>(settings)) {
    if (!users.includes(usedBy) || flag === null) continue;
    const option = new Option(`${shortForms[key] ?? ''}${flag}`, about.replaceAll('`', ''));
    command.addOption(kind.name.startsWith('list') ? option.argParser(append) : option);
  }
  return command;
}
