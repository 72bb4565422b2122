import { posix } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Container } from 'dockerode';
import type { Outcome } from '#core/run/run.ts';
import type { JsonObject } from '#core/workflow.ts';
import { canceled, EndSignal, eitherEnd, isAskedToEnd, onEnd } from '#processes/end-signal.ts';
import { patternTest } from '#system/pattern.ts';
import { withTimeLimit } from '#system/time-limit.ts';
import type { Attempt, RunScope, Shared } from '../executor.ts';
import { createContainer, engineDefaults, healthProblem, removeNow, start, tryToRemove, warn } from './container.ts';
import { copyOutput } from './container-end.ts';
import {
  connect,
  type Daemon,
  DockerProblem,
  isRequestError,
  patience,
  requestStatus,
  whyFailed,
} from './docker-daemon.ts';
import { type ContainerSettings, type ExecSettings, readSettings } from './docker-settings.ts';
import { runInRunning } from './exec.ts';
import { provideImage } from './image.ts';
import { reapOrphans } from './orphans.ts';

/** The container that the steps of a run share. */
type SharedContainer = Shared & {
  readonly id: string;
  readonly settings: ContainerSettings;
  readonly workingDir: string;
  /** Why it can no longer be used, with what it printed last; null if it is running. */
  readonly whyGone: () => Promise<string | null>;
};

/** The name of the container among the shared parts of a run. */
const PART_NAME = 'container';

/** Longest time until a started container is ready for steps, and the time between two looks at it. */
const READY_TIMEOUT_MS = 120_000;
const LOOK_AGAIN_MS = 100;

/** Time limit for the daemon to tell the state of a container. */
const ASK_TIMEOUT_MS = 5000;

/** Time limit for the daemon to remove a container whose program has ended. */
const REMOVE_TIMEOUT_MS = 10_000;

/** How much of the container's own output messages show. */
const LAST_LINE_COUNT = 5;
const LONGEST_LINE_BYTES = 10_000;

/**
 * Runs a step in the container of its run, which is started for the first step that needs it. The step fails with the
 * reason `unready` if the container could not start, is not ready in time, or has ended. Throws a `DockerProblem`, or a
 * request error.
 */
export async function runInShared(config: JsonObject, attempt: Attempt, over: AbortSignal): Promise<Outcome> {
  const opening = attempt.shared.use(PART_NAME, (run, end) => open(run, attempt, end));
  if (await isEndedFirst(opening, attempt)) return canceled;
  const shared = await opening;
  let outcome: Outcome | null = null;
  let problem: unknown = null;
  try {
    const daemon = await connect(attempt.env, { stop: eitherEnd(attempt), over });
    outcome = await runInRunning(daemon, execSettings(config, shared, attempt), attempt);
  } catch (error) {
    if (!(error instanceof DockerProblem) && !isRequestError(error)) throw error;
    problem = error;
  }
  if (outcome?.status === 'succeeded' || isAskedToEnd(attempt)) return outcome ?? canceled;
  const why = await shared.whyGone();
  if (why !== null) {
    warn(attempt, await attempt.shared.drop(PART_NAME, shared));
    throw new DockerProblem(`the container of the run ended: ${why}`, null, 'unready');
  }
  if (outcome === null) throw problem;
  return outcome;
}

/** Other steps may wait for the same container, so the end of an attempt only ends its own wait. */
function isEndedFirst(opening: Promise<unknown>, attempt: Attempt): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const release = onEnd(attempt, () => resolve(true));
    opening.then(() => resolve(false), reject).finally(release);
  });
}

function execSettings({ dir }: JsonObject, shared: SharedContainer, { expand }: Attempt): ExecSettings {
  const { id, settings, workingDir } = shared;
  const { image, shell } = settings;
  const exec = typeof dir === 'string' ? { WorkingDir: posix.resolve(workingDir, expand(dir)) } : {};
  return { kind: 'exec', container: id, env: {}, hasTerminal: false, shell, waitMs: 0, image, isShared: true, exec };
}

/** Starts the container in the variables of the run; the first attempt shows the progress. `end` ends the start. */
async function open(run: RunScope, first: Attempt, end: EndSignal): Promise<SharedContainer> {
  const { over, release } = patience(end, REMOVE_TIMEOUT_MS);
  const attempt: Attempt = {
    ...first,
    ...run,
    cwd: first.workflow.dir,
    signal: end,
    kill: new EndSignal(),
    write: (stream, chunk) => {
      if (!isAskedToEnd(first)) first.write(stream, chunk);
    },
  };
  try {
    return await startShared(attempt, over);
  } finally {
    release();
  }
}

async function startShared(attempt: Attempt, over: AbortController): Promise<SharedContainer> {
  const { container: config = {} } = attempt.workflow;
  const settings = readSettings(config, attempt);
  if (settings.kind === 'exec') throw new Error('a shared container has no image');
  const daemon = await connect(attempt.env, { stop: eitherEnd(attempt), over: over.signal });
  await reapOrphans(daemon, (line) => warn(attempt, line));
  const [image, engine] = await Promise.all([
    provideImage(daemon, settings, attempt),
    engineDefaults(daemon, settings),
  ]);
  const invocation = { entrypoint: null, command: null, script: null, env: {}, mention: '' };
  const plan = { daemon, settings, attempt, image, invocation, engine, isShared: true } as const;
  const container = await createContainer(plan);
  const output = new OwnOutput(typeof config['logPattern'] === 'string' ? config['logPattern'] : null);
  const own = { container, daemon, settings, output };
  // A container that only sleeps has nothing to finish.
  const graceMs = config['isIdle'] === true ? 0 : (attempt.step.graceMs ?? attempt.workflow.graceMs);
  const close = (force: boolean) => remove(own, over, force ? 0 : graceMs);
  try {
    const stream = await container.attach({ stream: true, stdout: true, stderr: true, abortSignal: over.signal });
    copyOutput(stream, settings.container['Tty'] === true, (_, chunk) => output.take(chunk));
    await start(container, plan).catch((error: unknown) => {
      throw error instanceof DockerProblem ? new DockerProblem(error.message, null, 'unready') : error;
    });
    await untilReady(own, config, attempt.signal);
    const { Config } = await container.inspect({ abortSignal: over.signal });
    const whyGone = asked(() => stateProblem(own));
    return { id: container.id, settings, workingDir: Config.WorkingDir || '/', whyGone, close };
  } catch (error) {
    warn(attempt, await close(true));
    throw error;
  }
}

/** Keeps the answer of a container that is gone: the first attempt that gets it ends all further requests. */
function asked(ask: () => Promise<string | null>): () => Promise<string | null> {
  let answer: Promise<string | null> | null = null;
  return () => {
    answer ??= ask().then((why) => {
      if (why === null) answer = null;
      return why;
    });
    return answer;
  };
}

/** A started container. */
type Own = {
  readonly container: Container;
  readonly daemon: Daemon;
  readonly settings: ContainerSettings;
  readonly output: OwnOutput;
};

/** Waits for `waitFor` and `logPattern`. Docker notifies of neither, so the container is polled. */
async function untilReady({ container, daemon, output }: Own, config: JsonObject, end: EndSignal): Promise<void> {
  const { waitFor, logPattern } = config;
  for (let waitedMs = 0; ; waitedMs += LOOK_AGAIN_MS) {
    if (end.aborted) throw new DockerProblem('the run ended before its container was ready', null, 'unready');
    const { State } = await container.inspect({ abortSignal: daemon.over });
    const unhealthy = waitFor === 'healthy' ? healthProblem(State) : null;
    const isOver = !State.Running || State.Health?.Status === 'unhealthy' || waitedMs >= READY_TIMEOUT_MS;
    if (!State.Running) throw unready(exitText(State.ExitCode), output);
    if (unhealthy === null && output.isSeen) return;
    const isMissing = waitFor === 'healthy' && State.Health === undefined;
    if (isMissing) throw new DockerProblem('"waitFor: healthy" needs a "healthcheck", and the image has none');
    if (isOver) {
      const what = unhealthy ?? `it printed no line that matches ${JSON.stringify(logPattern)}`;
      throw unready(waitedMs >= READY_TIMEOUT_MS ? `${what} within ${READY_TIMEOUT_MS / 1000} s` : what, output);
    }
    await pause(LOOK_AGAIN_MS, undefined, { signal: daemon.over });
  }
}

function unready(why: string, output: OwnOutput): DockerProblem {
  return new DockerProblem(`the container of the run is not ready: ${why}${output.lastLines()}`, null, 'unready');
}

function exitText(exitCode: number): string {
  return `its program ended with exit code ${exitCode}`;
}

function stateProblem({ container, daemon, output }: Own): Promise<string | null> {
  return withTimeLimit(ASK_TIMEOUT_MS, daemon.over, async (abortSignal) => {
    try {
      const { State } = await container.inspect({ abortSignal });
      return State.Running ? null : `${exitText(State.ExitCode)}${output.lastLines()}`;
    } catch (error) {
      if (requestStatus(error) === 404) return 'it was removed';
      if (!abortSignal.aborted && !isRequestError(error)) throw error;
      return whyFailed(error, { address: daemon.address, over: abortSignal });
    }
  });
}

/** Ends and removes the container, or only ends one that is to be kept. Resolves to the problem, or null. */
async function remove(own: Own, over: AbortController, graceMs: number): Promise<string | null> {
  const { container, daemon, settings } = own;
  const graceSec = Math.ceil(graceMs / 1000);
  const limit = setTimeout(() => over.abort(), graceSec * 1000 + REMOVE_TIMEOUT_MS);
  try {
    return await tryToRemove(container, daemon, async () => {
      if (graceSec > 0 || settings.isKept) {
        await container.stop({ t: graceSec, abortSignal: over.signal }).catch((error: unknown) => {
          const isStopped = requestStatus(error) === 304;
          if (!isStopped) throw error;
        });
      }
      if (!settings.isKept) await removeNow(container, daemon);
    });
  } finally {
    clearTimeout(limit);
    over.abort();
  }
}

/** Collects the output of the container's program: the last lines, and whether a line has matched a pattern. */
class OwnOutput {
  readonly #lines: string[] = [];
  readonly #matches: (line: string) => boolean;
  #rest = '';
  #isSeen: boolean;

  constructor(pattern: string | null) {
    this.#isSeen = pattern === null;
    this.#matches = pattern === null ? () => true : patternTest(pattern);
  }

  take(chunk: Buffer): void {
    const lines = `${this.#rest}${chunk}`.split('\n');
    this.#rest = (lines.pop() ?? '').slice(-LONGEST_LINE_BYTES);
    for (const line of lines) this.#isSeen ||= this.#matches(line);
    this.#lines.push(...lines);
    this.#lines.splice(0, this.#lines.length - LAST_LINE_COUNT);
  }

  get isSeen(): boolean {
    return this.#isSeen || this.#matches(this.#rest);
  }

  /** The last lines for a message; empty without output. */
  lastLines(): string {
    const lines = [...this.#lines, this.#rest].map((line) => line.trim()).filter((line) => line !== '');
    return lines.length === 0 ? '' : `: ${lines.slice(-LAST_LINE_COUNT).join(' / ')}`;
  }
}
