import { connect, notDocker } from '#executors/docker/api/daemon.ts';
import { DockerProblem, isRequestError, requestMessage } from '#executors/docker/docker-problem.ts';
import type { Check } from './check.ts';
import { type CheckedPlaces, checkPlaces } from './checked-places.ts';
import { checkPrograms } from './programs.ts';

/** Input of the checks: the environment and directory of steps, and the user's directories. */
export type Machine = {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly places: CheckedPlaces;
};

/** Checks everything that workflows may need; changes nothing. */
export async function checkMachine({ env, cwd, places }: Machine): Promise<readonly Check[]> {
  const [programs, docker] = await Promise.all([checkPrograms(env, cwd), checkDocker(env)]);
  return [checkNode(), ...programs, docker, ...bundled, ...checkPlaces(places)];
}

/** Always passes: the launcher refuses older versions. */
function checkNode(): Check {
  return { name: 'node', ok: true, version: process.versions.node, detail: process.execPath, help: null };
}

/** Executors without external requirements. */
const bundled: readonly Check[] = ['jq', 'http', 'webhook', 'mail'].map((name) => {
  return { name, ok: true, version: null, detail: 'built in', help: null };
});

/** A method that dockerode's types leave out. */
type Askable = { readonly version: (options: { readonly abortSignal: AbortSignal }) => Promise<{ Version?: unknown }> };

/** Time limit for the version, once the daemon has answered a ping, in milliseconds. */
const versionTimeoutMs = 10_000;

/** Asks the Docker daemon named by the environment for its version. */
export async function checkDocker(env: Readonly<Record<string, string>>): Promise<Check> {
  const stop = new AbortController().signal;
  try {
    const { docker, address } = await connect(env, { stop, over: stop });
    const { Version } = await (docker as unknown as Askable).version({
      abortSignal: AbortSignal.timeout(versionTimeoutMs),
    });
    if (typeof Version !== 'string') throw notDocker(address);
    return { name: 'docker', ok: true, version: Version, detail: `a daemon at ${address}`, help: null };
  } catch (error) {
    if (!(error instanceof DockerProblem) && !isRequestError(error)) throw error;
    const [detail = '', help = 'install Docker (https://docs.docker.com/engine/install)'] = split(
      requestMessage(error),
    );
    return { name: 'docker', ok: false, version: null, detail, help };
  }
}

/** Splits a message into the problem and the advice. */
function split(message: string): readonly string[] {
  const at = message.indexOf('; ');
  return at < 0 ? [message] : [message.slice(0, at), message.slice(at + 2)];
}
