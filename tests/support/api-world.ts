import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createDaemonApp, type DaemonApp } from '#app/daemon-app.ts';
import { readConfig } from '#config/config.ts';
import type { Route } from '#server/route.ts';
import { allRoutes } from '#server/routes.ts';
import type { ListenSettings, ServerOptions } from '#server/server.ts';
import { type ApiServer, apiServer } from './api-server.ts';
import { described } from './described-answers.ts';
import { type InProcessRuns, inProcessRuns } from './in-process-runs.ts';
import { createMemoryDaemonState } from './memory-daemon-state.ts';
import { switches } from './wf.ts';

/** The API over a workflows directory of its own, until the test ends. Answers that are not as described make a test fail. */
export type ApiWorld = ApiServer & {
  readonly app: DaemonApp;
  readonly runs: InProcessRuns;
  /** Holds everything of the world, the workflows directory `dags` too. */
  readonly directory: string;
  readonly dags: string;
  readonly routes: readonly Route[];
  /** What differs from world to world is replaced: paths, ids, times, process numbers. */
  readonly stable: (text: string) => string;
};

/** Makes a world of these files, by their paths in the workflows directory. */
export async function apiWorld(
  files: Readonly<Record<string, string>>,
  settings: Partial<ListenSettings> = {},
  options: Partial<ServerOptions> = {},
): Promise<ApiWorld> {
  const directory = mkdtempSync(join(tmpdir(), 'wf-test-'));
  const dags = join(directory, 'dags');
  mkdirSync(dags);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dags, name)), { recursive: true });
    writeFileSync(join(dags, name), text);
  }
  const env = { PATH: process.env['PATH'], ...switches, WF_HOME: join(directory, 'home') };
  const config = readConfig(env, directory, { dags }, { isDaemon: true });
  const report = (error: unknown) => {
    throw error;
  };
  const daemon = await createDaemonApp(config, { dags, report, state: createMemoryDaemonState() });
  const app = { ...daemon, runs: { ...daemon.runs, ...inProcessRuns(config) } };
  onTestFinished(async () => {
    await app.close();
    await app.runs.settled();
    rmSync(directory, { recursive: true });
  });
  const routes = allRoutes({ ...app, loopLag: () => ({ mean: 0, p99: 0, max: 0 }) }, settings.basePath);
  const server = await apiServer(routes, settings, options);
  return {
    ...server,
    ask: described((method, path, sent) => server.ask(method, endingPath(path), sent), settings.basePath),
    routes,
    directory,
    app,
    runs: app.runs,
    dags,
    stable: (text) => stable(text, directory),
  };
}

/** The stream of all changes does not end by itself: the path is changed to return only past events. */
function endingPath(path: string): string {
  if (!/\/api\/v2\/events(\?|$)/.test(path)) return path;
  const asked = path.replace(/([?&]follow=)(true)?(?=&|$)/g, '$1false');
  return /[?&]follow=/.test(asked) ? asked : `${asked}${asked.includes('?') ? '&' : '?'}follow=false`;
}

function stable(text: string, directory: string): string {
  return (
    text
      .replaceAll(directory, '<dir>')
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<run>')
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<time>')
      .replace(/"Pid":( ?)[1-9]\d*/g, '"Pid":$1"<pid>"')
      .replace(/"pid":\d+,"startTime":\d+,"boot":"[^"]+"/g, '"pid":"<pid>","startTime":"<ticks>","boot":"<boot>"')
      .replace(/"namespace":"[^"]+"/g, '"namespace":"<namespace>"')
      // A container has none.
      .replace(/,"machine":"[^"]+"/g, '')
      .replace(/("pid":"<pid>".*?"host":)"[^"]+"/g, '$1"<host>"')
      .replace(/"pid":[1-9]\d*,"host":"[^"]*"/g, '"pid":"<pid>","host":"<host>"')
      .replace(/"(durationMs|medianMs)":( ?)\d+/g, '"$1":$2"<ms>"')
      // Later lines of Node than 20 add this to the error of JSON.
      .replace(/( in JSON at position \d+) \(line \d+ column \d+\)/g, '$1')
  );
}
