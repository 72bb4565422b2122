import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DaemonApp } from '#app/daemon-app.ts';
import type { Config } from '#config/config.ts';
import { exposedFiles, readLogForwarding, readServerSettings, type ServerSettings } from '#config/part-settings.ts';
import { keepDaemonSmall } from '#fast/small-process.ts';
import { escapeControls, escapeLines, shellQuote } from '#render/text.ts';
import { accessNote, localUsers } from '#server/access/local-users.ts';
import { watchLoopLag } from '#server/connection/load-limits.ts';
import { pageReply, pageRoutes, readPageFiles } from '#server/page/page-routes.ts';
import { allRoutes } from '#server/routes.ts';
import { createServer } from '#server/server.ts';
import type { DaemonToken, SessionStore } from '#store/store.ts';
import { systemClock } from '#system/clock.ts';
import { LOCAL_ENGINE } from '#system/engine-address.ts';
import { systemProblem, WfError } from '#system/errors.ts';
import { stackOf } from '#system/stack.ts';
import type { CommonOptions } from '../../program/add-command.ts';
import { configFor } from '../../reference.ts';
import type { Console } from '../../terminal/console.ts';
import { version } from '../../version.ts';

/** The options of `wf serve`: the settings of the server by their names. */
type ServeOptions = CommonOptions & Readonly<Record<string, unknown>>;

/** The build puts the web page beside the program. */
const pageFolder = join(import.meta.dirname, 'page');

/** Serves the API and the schedules until a signal arrives. */
export async function serveCommand(options: ServeOptions, console: Console): Promise<void> {
  const settings = readServerSettings(process.env, process.cwd(), options);
  const config = configFor(options, { isDaemon: true });
  await refuseBesideEngine(config);
  const { createDaemonApp, daemonState, watchDaemonClaim } = await import('#app/daemon-app.ts');
  const collectGarbage = await keepDaemonSmall();
  const log = daemonLog(console);
  const state = await daemonState(config);
  const claim = await state.claim();
  try {
    const needsToken = settings.requireLogin && settings.login.token === null && settings.login.basic === null;
    const kept = needsToken ? state.keepToken() : null;
    const login = kept === null ? settings.login : { ...settings.login, token: kept.token };
    const app = await createDaemonApp(config, {
      state,
      dags: options.dags ?? null,
      report: log.error,
      log: log.info,
      limits: {
        running: settings.maxConcurrentRuns,
        waiting: settings.maxQueuedRuns,
        queues: new Map(settings.queues.map(({ name, maxConcurrent }) => [name, maxConcurrent])),
      },
      version,
    });
    const watch = watchDaemonClaim(claim, log.error);
    try {
      await serve(app, {
        settings: { ...settings, login },
        config,
        log,
        kept,
        isTerminal: console.outTerminal.isTerminal,
        sessions: state.sessions,
        onListening: claim.tell,
        onBegun: collectGarbage,
        lost: watch.lost,
      });
    } finally {
      watch.close();
      await app.close();
    }
  } finally {
    claim.release();
  }
}

/** Throws a `WfError` `usage` for a setting that has no effect on runs of an engine. */
async function refuseBesideEngine(config: Config): Promise<void> {
  const { read } = config.settings;
  const { value, source } = read('engine');
  if (value === LOCAL_ENGINE) return;
  const refuse = (what: string, help: string) =>
    new WfError('usage', `${what} does not work with the engine of ${source}`, { help });
  for (const key of ['maxConcurrentRuns', 'maxQueuedRuns'] as const)
    if (read(key).level !== 'default')
      throw refuse(`"${key}"`, 'its runs start at once: wf worker --slots limits the steps that run at once');
  if (read('onShutdown').value !== 'detach') throw refuse('"onShutdown"', 'its runs continue without the daemon');
  if ((await readLogForwarding(config)) !== null) throw refuse('"logForwarding"', 'turn it off');
}

type Serving = {
  readonly settings: ServerSettings;
  readonly config: Config;
  readonly log: ReturnType<typeof daemonLog>;
  /** The token that the daemon generated; null if the settings contain a login. */
  readonly kept: DaemonToken | null;
  /** Whether standard output is a terminal, and not a log that others may read. */
  readonly isTerminal: boolean;
  readonly sessions: SessionStore;
  readonly onListening: (url: string) => void;
  readonly onBegun: () => void;
  /** Resolves to the reason if this process is no longer the daemon of its home. */
  readonly lost: Promise<WfError>;
};

async function serve(
  app: DaemonApp,
  { settings, config, log, kept, isTerminal, sessions, onListening, onBegun, lost }: Serving,
): Promise<void> {
  const lag = watchLoopLag(Date.now);
  const signal = firstSignal();
  let cause: string | WfError;
  const ignored = () => log.info('SIGUSR1 is ignored and opens no debugger');
  process.on('SIGUSR1', ignored);
  try {
    // First, so that waiting runs keep their position before new ones.
    await app.life.adopt();
    const { basePath } = settings;
    const files = readPageFiles(pageFolder);
    const { token, readOnlyToken, basic } = settings.login;
    const isLoginRequired = [token, readOnlyToken, basic].some((login) => login !== null);
    const page = pageReply(files, { basePath, isLoginRequired });
    const server = await createServer({
      routes: [...allRoutes({ ...app, loopLag: lag.read, page }, basePath), ...pageRoutes(files, page, basePath)],
      page,
      settings,
      sessions,
      log: log.warning,
      observe: app.metrics.countRequest,
    });
    try {
      onListening(server.url);
      await app.life.begin();
      onBegun();
      for (const line of exposedFiles([...settings.secretFiles, ...(kept === null ? [] : [kept.path])]))
        log.warning(line);
      if (process.pid === 1) log.warning(FIRST_PROCESS_NOTE);
      logAccess(settings.login, { url: server.url, kept, isTerminal }, log);
      const { dagsDir } = config;
      const absent = dagsDir === null || existsSync(dagsDir) ? '' : ', which does not exist yet';
      const { value: engine } = config.settings.read('engine');
      if (engine !== LOCAL_ENGINE) log.info(`runs are executed by the workers of ${engine}`);
      log.info(`wf serves ${server.url}, workflows in ${dagsDir}${absent}`);
      cause = await Promise.race([signal, lost]);
      log.info(`${cause instanceof WfError ? cause.message : cause}: ending`);
    } finally {
      await Promise.all([app.life.rest(), server.close()]);
    }
    // Accepted runs are on the disk: the next daemon takes over the ones that do not finish here.
    await app.life.end(cause instanceof WfError ? 'detach' : settings.onShutdown);
    if (cause instanceof WfError) throw cause;
  } finally {
    process.off('SIGUSR1', ignored);
    lag.close();
  }
}

const FIRST_PROCESS_NOTE =
  'wf is process 1 and does not reap orphaned processes: start it under an init process (tini -- wf serve, or docker run --init)';

/** Logs who can run commands through the daemon, and how to log in; a generated token is printed on a terminal only. */
function logAccess(
  login: ServerSettings['login'],
  { url, kept, isTerminal }: Pick<Serving, 'kept' | 'isTerminal'> & { readonly url: string },
  { info, warning }: Serving['log'],
): void {
  const { isWarning, text } = accessNote(login, localUsers());
  (isWarning ? warning : info)(text);
  if (kept === null) return;
  const file = shellQuote(kept.path);
  info(
    `the token is in ${file}, where wf commands of this user find it; try: curl -u ":$(cat ${file})" ${url}/api/v1/dags/`,
  );
  if (isTerminal) info(`log in with a browser: ${url}/#token=${encodeURIComponent(kept.token)}`);
  else info(`log in with a browser at the address that this prints: echo "${url}/#token=$(cat ${file})"`);
}

/** Resolves to the first signal. A second one ends the process at once. */
async function firstSignal(): Promise<string> {
  const received = new AbortController();
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const signals = names.map((name) => once(process, name, { signal: received.signal }).then(() => name));
  const name = await Promise.race(signals);
  received.abort();
  await Promise.allSettled(signals);
  return name;
}

/** The log of the daemon: actions on standard output, problems on standard error, one line each with its time. */
function daemonLog({ out, err }: Console) {
  const line = (text: string) => `${new Date().toISOString()} ${escapeLines(text)}\n`;
  const writeProblem = (text: string) => void err.write(line(text));
  const writeError = withoutRepeats(writeProblem, systemClock.elapsed);
  return {
    info: (text: string) => void out.write(line(escapeControls(text))),
    warning: (text: string) => writeProblem(escapeControls(text)),
    /** Logs an error, the same one at most once a minute; an internal one with its stack. */
    error: (error: unknown) =>
      writeError(error instanceof WfError ? error.message : (systemProblem(error)?.message ?? stackOf(error))),
  };
}

const PAUSE_MS = 60_000;
const MOST_KNOWN = 1000;

/** Writes each text at most once a minute: a full disk makes a check fail every second, and its log may be on that disk. */
export function withoutRepeats(write: (text: string) => void, elapsed: () => number): (text: string) => void {
  const writtenAt = new Map<string, number>();
  return (text) => {
    const now = elapsed();
    const before = writtenAt.get(text);
    if (before !== undefined && now - before < PAUSE_MS) return;
    if (writtenAt.size >= MOST_KNOWN) writtenAt.clear();
    writtenAt.set(text, now);
    write(text);
  };
}
