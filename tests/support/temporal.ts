import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { connectClient } from '#engine/temporal/connection.ts';
import { isInstalled } from './require.ts';
import { type Ended, type RunningWf, startWf, wf } from './wf.ts';

/** The program of the Temporal server; null if there is none. */
const program = process.env['WF_TEMPORAL'] ?? (isInstalled('temporal') ? 'temporal' : null);

/** Whether a Temporal server can be started here. */
export const hasTemporal = program !== null && (program === 'temporal' || existsSync(program));

/** A server with its workers, in a directory. */
export type TemporalServer = {
  readonly url: string;
  readonly port: number;
  /** Starts a worker of the built program, with its name in `$WORKER` of its steps; resolves when it serves. */
  readonly worker: (name: string, options?: WorkerOptions) => Promise<StartedWorker>;
  /** Kills the server and starts it again on its port and database, after a time; resolves when it answers. */
  readonly restart: (awayMs?: number) => Promise<void>;
  /** Kills the server; `restart` starts it again. */
  readonly stop: () => Promise<void>;
  readonly close: () => Promise<void>;
};

type WorkerOptions = {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** See `WfOptions`. */
  readonly through?: readonly string[];
};

/** A worker; `directory`: that of its runs. */
export type StartedWorker = RunningWf & { readonly name: string; readonly directory: string };

/** How a server is started. */
type ServerOptions = {
  /** Where it is started instead of here, with the address under which all reach it. */
  readonly at?: { readonly through: readonly string[]; readonly address: string };
  /** Of its dynamic configuration, as KEY=JSON. */
  readonly settings?: readonly string[];
};

/** Starts a server on a free port, with its database in the directory; resolves when it answers. */
export async function startTemporal(
  directory: string,
  { at, settings = [] }: ServerOptions = {},
): Promise<TemporalServer> {
  const { through, address } = at ?? { through: [], address: '127.0.0.1' };
  const port = await freePort();
  const url = `temporal://${address}:${port}`;
  const database = ['--db-filename', join(directory, 'temporal.db')];
  const pragmas = ['--sqlite-pragma', 'journal_mode=wal', '--sqlite-pragma', 'synchronous=full'];
  const listened = at === undefined ? address : '0.0.0.0';
  const args = ['server', 'start-dev', '--headless', '--ip', listened, '--port', String(port), '--log-level', 'error'];
  const dynamic = settings.flatMap((setting) => ['--dynamic-config-value', setting]);
  const [first = '', ...words] = [...through, program ?? '', ...args, ...database, ...pragmas, ...dynamic];
  const start = () => spawn(first, words, { stdio: 'ignore' });
  const end = async (running: ChildProcess) => {
    if (running.exitCode !== null || running.signalCode !== null) return;
    const exited = once(running, 'exit');
    running.kill('SIGKILL');
    await exited;
  };
  let server = start();
  await answering(url);
  const workers: RunningWf[] = [];
  return {
    url,
    port,
    worker: async (name, { args: more = [], env = {}, through = [] } = {}) => {
      const shared = join(directory, 'machine', name);
      mkdirSync(shared, { recursive: true });
      const options = ['--engine', url, '--name', name, '--dir', shared, ...more];
      const home = { WF_HOME: join(directory, 'home', name), HOME: directory, WORKER: name };
      const started = { cwd: directory, env: { ...home, ...env }, mergesErrors: true, through };
      const worker = startWf(['worker', ...options], started);
      workers.push(worker);
      await worker.until('serves');
      return { ...worker, name, directory: join(shared, name, 'runs') };
    },
    restart: async (awayMs = 0) => {
      await end(server);
      await new Promise((resolve) => setTimeout(resolve, awayMs));
      server = start();
      await answering(url);
    },
    stop: () => end(server),
    close: async () => {
      for (const worker of workers) worker.kill('SIGKILL');
      await Promise.all(workers.map(({ ended }) => ended));
      await end(server);
    },
  };
}

/** A server for the tests of a group, with its workers. */
export type TemporalWorld = {
  /** Of the server, and of all places. */
  readonly directory: string;
  /** Throws before the first test. */
  readonly server: TemporalServer;
  /** A directory with files, as if on a machine of its own. */
  readonly place: (files: Readonly<Record<string, string>>, env?: Readonly<Record<string, string>>) => TemporalPlace;
};

/** A directory, and `wf` in it with a home of its own. */
export type TemporalPlace = {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly call: (...args: readonly string[]) => Promise<Ended>;
  /** Killed after the test, with its errors beside its output. */
  readonly start: (...args: readonly string[]) => RunningWf;
};

/** Starts a server before the tests of a group, with workers as `begin` does, and ends them with all that is left of it. */
export function temporalWorld(begin: (server: TemporalServer) => Promise<unknown>): TemporalWorld {
  const directory = mkdtempSync(join(tmpdir(), 'wf-test-'));
  const started: RunningWf[] = [];
  let server: TemporalServer | null = null;
  const begun = () => {
    if (server === null) throw new Error('the server starts before the first test');
    return server;
  };
  beforeAll(async () => {
    server = await startTemporal(directory);
    await begin(server);
  }, 120_000);
  afterEach(async () => {
    for (const run of started) run.kill('SIGKILL');
    await Promise.all(started.splice(0).map(({ ended }) => ended));
  });
  afterAll(async () => {
    await server?.close();
    rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
  });
  return {
    directory,
    get server() {
      return begun();
    },
    place: (files, more = {}) => {
      const cwd = mkdtempSync(join(directory, 'run-'));
      for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
      const env = { HOME: cwd, WF_HOME: join(cwd, 'home'), ...more };
      return {
        cwd,
        env,
        call: (...args) => wf(args, { cwd, env }),
        start: (...args) => {
          const run = startWf(args, { cwd, env, mergesErrors: true });
          started.push(run);
          return run;
        },
      };
    },
  };
}

/** Settings of a connection to a server of the tests. */
function settingsOf(url: string): Parameters<typeof connectClient>[0] {
  return { url, address: url.replace('temporal://', ''), namespace: 'default', keyFile: null, env: {} };
}

/** A client of a server, which the caller closes. */
export async function clientOf({ url }: Pick<TemporalServer, 'url'>): Promise<Client> {
  const { connection, dataConverter } = await connectClient(settingsOf(url));
  return new Client({ connection, dataConverter });
}

/** It listens before it can serve. */
async function answering(url: string): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      const { connection } = await connectClient(settingsOf(url));
      return await connection.close();
    } catch (error) {
      if (tries === 60) throw error;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
}

/** A port that was free a moment ago: the server cannot choose one. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}
