import type { Client, Connection } from '@temporalio/client';
import { WfError } from '#system/errors.ts';
import { connectClient, type EngineAccess, type EngineSettings, packages } from '../connection.ts';
import { isAway } from './mirror.ts';

/** An engine that answers. */
export type Reached = { readonly access: EngineAccess<Connection>; readonly client: Client };

/** The pause after a connection that failed. */
const RECONNECT_MS = 5000;
const CALL_MS = 10_000;

/** The connections of this process to engines, by their addresses. They do not keep it alive. */
export class EngineConnections {
  readonly #settingsOf: (url: string) => EngineSettings;
  readonly #reached = new Map<string, Promise<Reached>>();

  constructor(settingsOf: (url: string) => EngineSettings) {
    this.#settingsOf = settingsOf;
  }

  /** Connects once to each engine. Throws a `WfError`: `usage`, `unreachable`. */
  reach(url: string): Promise<Reached> {
    const known = this.#reached.get(url) ?? connect(this.#settingsOf(url));
    if (this.#reached.get(url) === known) return known;
    this.#reached.set(url, known);
    known.catch(() => setTimeout(() => this.#reached.delete(url), RECONNECT_MS).unref());
    return known;
  }

  /** Ends the connections, with the calls that wait for an answer, so that the process can exit. */
  async close(): Promise<void> {
    const reached = await Promise.allSettled(this.#reached.values());
    await Promise.all(reached.map((one) => one.status === 'fulfilled' && one.value.access.connection.close()));
  }
}

async function connect(settings: EngineSettings): Promise<Reached> {
  const access = await connectClient(settings);
  const { Client } = await packages.client();
  const { connection, namespace, dataConverter } = access;
  return { access, client: new Client({ connection, namespace, dataConverter }) };
}

const AWAY_HELP = 'check that its server runs';

/** The library repeats calls to a server that is away for longer than a person waits. */
export function soon<T>({ access }: Reached, call: () => Promise<T>): Promise<T> {
  return access.connection.withDeadline(Date.now() + CALL_MS, call);
}

/** Throws errors of the connection as a `WfError` `unreachable`. */
export function asked<T>(engine: string, request: Promise<T>): Promise<T> {
  return request.catch((error: unknown) => {
    throw isAway(error)
      ? new WfError('unreachable', `the engine ${engine} does not answer`, { help: AWAY_HELP, cause: error })
      : error;
  });
}
