import type { DaemonClient } from '../../client/daemon-client.ts';
import { type ClientSettings, readClientSettings } from '../../config/client-settings.ts';
import type { Config } from '../../config/config.ts';
import { WfError } from '../../errors.ts';
import { escapeControls } from '../../render/text/sanitize.ts';
import type { RunAccess } from '../../service/history/run-access.ts';
import type { CommonOptions } from '../program/add-command.ts';
import { configFor } from '../reference.ts';
import type { Console } from '../terminal/console.ts';

/** The options of commands that a daemon can be asked for; `server` is false for `--no-server`. */
export type AccessOptions = CommonOptions & { readonly server?: string | false };

/**
 * Does something with the runs that the options and the configuration name: this machine's, or those of a daemon. What a person
 * should know of its absence is printed.
 */
export async function withAccess<T>(
  options: AccessOptions,
  console: Pick<Console, 'err'>,
  use: (access: RunAccess) => Promise<T>,
): Promise<T> {
  const config = configFor(options);
  const server = await serverOf(options, config);
  if (server === null) return use(await openLocal(config));
  const { openRemoteAccess } = await import('../../client/remote-access.ts');
  return withDaemon(server, console, (client) => use(openRemoteAccess(client)));
}

/** Does something with a daemon; what a person should know of its absence is printed. */
export async function withDaemon<T>(
  server: ClientSettings,
  { err }: Pick<Console, 'err'>,
  use: (client: DaemonClient) => Promise<T>,
): Promise<T> {
  const { openDaemon } = await import('../../client/remote-access.ts');
  const client = openDaemon(server, (line) => err.write(`wf: ${escapeControls(line)}\n`));
  try {
    return await use(client);
  } finally {
    client.close();
  }
}

/**
 * The daemon to ask; null: this machine. Without a login in the settings, the token that the user's own daemon has made is used.
 * Rejects with a `WfError` `usage` for settings that make no sense.
 */
export async function serverOf({ server, dags }: AccessOptions, config: Config): Promise<ClientSettings | null> {
  const found = server === false ? null : readClientSettings(config.settings.read);
  if (found === null || dags === undefined) return found === null ? null : withOwnLogin(found, config);
  throw new WfError('usage', `--dags is for workflows of this machine, and ${found.source} names a daemon`, {
    help: 'leave it out, or add --no-server',
  });
}

async function withOwnLogin(server: ClientSettings, config: Config): Promise<ClientSettings> {
  if (server.authorization !== null) return server;
  const { ownDaemonLogin } = await import('../../app.ts');
  const own = await ownDaemonLogin(config, server.url);
  return own === null ? server : { ...server, url: own.url, authorization: `Bearer ${own.token}` };
}

/**
 * Refuses to act on this machine where a daemon is meant. `instead`: what can be done, as a sentence. Throws a `WfError`
 * `usage`.
 */
export function requireLocal(options: AccessOptions, config: Config, { command, instead }: LocalOnly): void {
  const server = options.server === false ? null : config.settings.read('server');
  if (server === null || server.value === null) return;
  throw new WfError('usage', `wf ${command} works on this machine alone, and ${server.source} names a daemon`, {
    help: `${instead}; --no-server means this machine`,
  });
}

/** A command that no daemon can be asked for, and what to do there instead. */
export type LocalOnly = { readonly command: string; readonly instead: string };

async function openLocal(config: Config): Promise<RunAccess> {
  return (await import('./local-access.ts')).openLocalAccess(config);
}
