import type { Outcome } from '#core/run/run.ts';
import type { JsonObject } from '#core/workflow.ts';
import { canceled, eitherEnd, isAskedToEnd } from '#processes/end-signal.ts';
import type { Attempt, Executor } from '../executor.ts';
import { runInContainer, warn } from './container.ts';
import { connect, DockerProblem, isRequestError, patience, requestMessage } from './docker-daemon.ts';
import { readSettings } from './docker-settings.ts';
import { runInRunning } from './exec.ts';
import { reapOrphans } from './orphans.ts';
import { runInShared } from './shared-container.ts';

/** Runs a step in a container: a new one (`image`), or a running one (`containerName` with `exec`). */
export const executor: Executor = { run };

/** Time limit for the daemon to carry out a kill, in milliseconds; then its answers are no longer awaited. */
const KILL_TIMEOUT_MS = 5000;

async function run(config: JsonObject, attempt: Attempt): Promise<Outcome> {
  if (isAskedToEnd(attempt)) return canceled;
  const { over, release } = patience(attempt.kill, KILL_TIMEOUT_MS);
  attempt.started(null);
  try {
    return await runStep(config, attempt, over.signal);
  } catch (error) {
    if (!(error instanceof DockerProblem) && !isRequestError(error)) throw error;
    return isAskedToEnd(attempt) ? canceled : failure(error);
  } finally {
    release();
  }
}

async function runStep(config: JsonObject, attempt: Attempt, over: AbortSignal): Promise<Outcome> {
  if (config['shared'] === true) return runInShared(config, attempt, over);
  const settings = readSettings(config, attempt);
  const stop = eitherEnd(attempt);
  const daemon = await connect(attempt.env, { stop, over });
  await reapOrphans(daemon, (line) => warn(attempt, line));
  return settings.kind === 'exec' ? runInRunning(daemon, settings, attempt) : runInContainer(daemon, settings, attempt);
}

/** Time limit for removing the containers of dead owners, in milliseconds. */
const REMOVE_TIMEOUT_MS = 10_000;

/** Removes the containers whose `wf` has died from these daemons; resolves to the problems. */
export async function removeContainers(
  daemons: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const problems = await Promise.all(daemons.map((address) => removeFrom(address, env)));
  return problems.filter((problem) => problem !== null);
}

async function removeFrom(address: string, env: Readonly<Record<string, string>>): Promise<string | null> {
  const over = AbortSignal.timeout(REMOVE_TIMEOUT_MS);
  try {
    const daemon = await connect({ ...env, DOCKER_HOST: address }, { stop: over, over });
    await reapOrphans(daemon, () => {});
    return null;
  } catch (error) {
    if (!(error instanceof DockerProblem) && !isRequestError(error) && !over.aborted) throw error;
    return `containers of the run may be left: ${requestMessage(error)}`;
  }
}

function failure(error: unknown): Outcome {
  const { exitCode, reason } = error instanceof DockerProblem ? error : new DockerProblem('');
  return { status: 'failed', reason, message: requestMessage(error), exitCode, signal: null, outputs: {} };
}
