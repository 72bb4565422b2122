import { readFileSync } from 'node:fs';
import type { DaemonClient } from '#client/daemon-client.ts';
import type { Config } from '#config/config.ts';
import { type ClientSettings, readClientSettings } from '#config/part-settings.ts';
import { escapeControls } from '#render/text.ts';
import type { Reach } from '#service/history.ts';
import type { Service } from '#service/service.ts';
import { workflowHere } from '#service/workflows.ts';
import { WfError } from '#system/errors.ts';
import type { CommonOptions } from '../program/add-command.ts';
import { configFor } from '../reference.ts';
import type { Console } from '../terminal/console.ts';

/** The options of commands that can use a daemon; `server` is false for `--no-server`. */
export type AccessOptions = CommonOptions & {
  readonly server?: string | false;
  readonly any?: true;
  readonly json?: true;
};

/** The word for the workflow or run that a command shows or changes. */
type Subject = { readonly shows?: string | null; readonly changes?: string };

/** Calls `use` with the service that options and configuration select: this machine or a daemon. */
export async function withService<T>(
  options: AccessOptions & Subject,
  console: Pick<Console, 'err'>,
  use: (service: Service) => Promise<T>,
): Promise<T> {
  const config = configFor(options);
  const server = await serverOf(options, config);
  if (server === null)
    return use(
      await (await import('./open-local.ts')).openLocal(config, options.dags, reachOf(options, config, console)),
    );
  const { createRemoteService } = await import('#client/remote-service.ts');
  return withDaemon(server, console, async (client) => {
    await mindFileHere(client, options, console);
    return use(createRemoteService(client));
  });
}

/**
 * A daemon that the settings name is easily forgotten. If a name means a workflow of it, and another file with that name is
 * here, prints so; throws a `WfError` `usage` if the command acts.
 */
export async function mindFileHere(
  client: DaemonClient,
  { shows, changes, any, json }: AccessOptions & Subject,
  { err }: Pick<Console, 'err'>,
): Promise<void> {
  const { url, source } = client.settings;
  const word = changes ?? shows ?? '';
  const here = source === '--server' || any ? null : workflowHere(word, process.cwd());
  if (here === null) return;
  const { sourcesOfWorkflow } = await import('#client/remote-workflow.ts');
  const [remote] = await sourcesOfWorkflow(client, word);
  if (remote === undefined || remote.text === readFileSync(here, 'utf8')) return;
  const what = `${source} selects the daemon at ${url}, whose "${word}" differs from ${here}`;
  if (changes !== undefined) {
    throw new WfError('usage', what, { help: `--no-server means the file here, --server ${url} the daemon` });
  }
  if (!json) err.write(`wf: ${escapeControls(what)}\n`);
}

/** Returns how words name runs: those of the files here, unless `--any` is given. */
export function reachOf(options: AccessOptions, { cwd }: Config, { err }: Pick<Console, 'err'>): Reach {
  const { any = false, json = false } = options;
  return { cwd, any, ...(json ? {} : { tell: (line) => err.write(`wf: ${escapeControls(line)}\n`) }) };
}

/** Calls `use` with a daemon. Prints a message while the daemon does not answer. */
export async function withDaemon<T>(
  server: ClientSettings,
  { err }: Pick<Console, 'err'>,
  use: (client: DaemonClient) => Promise<T>,
): Promise<T> {
  const { openDaemon } = await import('#client/remote-service.ts');
  const client = openDaemon(server, (line) => err.write(`wf: ${escapeControls(line)}\n`));
  try {
    return await use(client);
  } finally {
    client.close();
  }
}

/**
 * Returns the daemon to use; null: this machine. Without a login in the settings it uses the token of the user's own daemon.
 * Rejects with a `WfError` `usage` for invalid settings.
 */
export async function serverOf({ server, dags }: AccessOptions, config: Config): Promise<ClientSettings | null> {
  const found = server === false ? null : readClientSettings(config.settings.read);
  if (found === null || dags === undefined) return found === null ? null : withOwnLogin(found, config);
  throw new WfError('usage', `--dags applies to local workflows, but ${found.source} selects a daemon`, {
    help: 'leave it out, or add --no-server',
  });
}

async function withOwnLogin(server: ClientSettings, config: Config): Promise<ClientSettings> {
  if (server.authorization !== null) return server;
  const { ownDaemonLogin } = await import('#app/history-app.ts');
  const own = await ownDaemonLogin(config, server.url);
  return own === null ? server : { ...server, url: own.url, authorization: `Bearer ${own.token}` };
}

/** Throws a `WfError` `usage` if options or configuration name a daemon. `instead`: a sentence with the alternative. */
export function requireLocal(options: AccessOptions, config: Config, command: string, instead: string): void {
  const server = options.server === false ? null : config.settings.read('server');
  if (server === null || server.value === null) return;
  throw new WfError('usage', `wf ${command} works only on this machine, and ${server.source} names a daemon`, {
    help: `${instead}; --no-server means this machine`,
  });
}
