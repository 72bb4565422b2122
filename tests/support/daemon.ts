import { request } from 'node:http';
import { onTestFinished } from 'vitest';
import type { Answer } from './api-server.ts';
import { type Place, withPlace } from './past-runs.ts';
import type { Ended, RunningWf } from './wf.ts';

/** `wf serve` over the files of a place. */
export type Daemon = {
  readonly url: string;
  readonly process: RunningWf;
  /** Sends an action of the v1 API about a workflow; answers its status and body. */
  readonly act: (workflow: string, fields: Readonly<Record<string, string>>) => Promise<Answer>;
  readonly get: (path: string) => Promise<string>;
  readonly end: (signal: NodeJS.Signals) => Promise<Ended>;
};

/** A place in which daemons are started. They end with it, the processes of their runs do not. */
export type DaemonPlace = Place & {
  /** Starts a daemon on a port of its own. */
  readonly serve: (...options: readonly string[]) => Promise<Daemon>;
  /** Does not wait for it to listen. */
  readonly launch: (...options: readonly string[]) => RunningWf;
};

/** Uses a place of daemons and removes it; its files are the workflows, and `node` runs `wf`. */
export function withDaemons<T>(
  files: Readonly<Record<string, string>>,
  use: (place: DaemonPlace) => Promise<T>,
  node = process.execPath,
): Promise<T> {
  const startDaemons = async (place: Place): Promise<T> => {
    const daemons: RunningWf[] = [];
    const launch: DaemonPlace['launch'] = (...options) => {
      const daemon = place.start('serve', '--port', '0', '--dags', place.cwd, ...options);
      daemons.push(daemon);
      // Where the test hangs, nothing else ends it.
      onTestFinished(() => daemon.kill('SIGKILL'));
      return daemon;
    };
    try {
      return await use({ ...place, launch, serve: async (...options) => daemonOf(launch(...options)) });
    } finally {
      for (const daemon of daemons) daemon.kill('SIGKILL');
      await Promise.all(daemons.map(({ ended }) => ended));
    }
  };
  return withPlace(files, startDaemons, node);
}

async function daemonOf(daemon: RunningWf): Promise<Daemon> {
  const url = await daemonUrl(daemon);
  return {
    url,
    process: daemon,
    act: (workflow, fields) => act(url, workflow, fields),
    get: async (path) => (await fetch(`${url}${path}`)).text(),
    end: (signal) => {
      daemon.kill(signal);
      return daemon.ended;
    },
  };
}

/** Sends an action of the v1 API. Rejects when the daemon has gone, which `fetch` of Node 20 does not always notice. */
export function act(url: string, workflow: string, fields: Readonly<Record<string, string>>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const options = { method: 'POST', headers, agent: false };
    const asked = request(`${url}/api/v1/dags/${workflow}`, options, (answer) => {
      let body = '';
      answer.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      answer.on('error', reject);
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body }));
    });
    asked.on('error', reject).end(new URLSearchParams(fields).toString());
  });
}

/** Where a daemon listens, once it does. */
export async function daemonUrl({ until, printed }: RunningWf): Promise<string> {
  await until('wf serves http');
  return /wf serves (\S+),/.exec(printed())?.[1] ?? '';
}
