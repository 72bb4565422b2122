import { connect, notDocker } from '../executors/docker/api/daemon.ts';
import { DockerProblem, isRequestError, requestMessage } from '../executors/docker/problem.ts';
import type { Check } from './check.ts';
import { checkPlaces, type Places } from './places.ts';
import { checkPrograms } from './programs.ts';

/** What is to be looked at: the environment and directory that steps would have, and where things are kept. */
export type Machine = {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly places: Places;
};

/** Looks at everything that a workflow may need, and changes nothing. */
export async function checkMachine({ env, cwd, places }: Machine): Promise<readonly Check[]> {
  const [programs, docker] = await Promise.all([checkPrograms(env, cwd), checkDocker(env)]);
  return [checkNode(), ...programs, docker, ...bundled, ...checkPlaces(places)];
}

/** An older one does not get here. */
function checkNode(): Check {
  return { name: 'node', ok: true, version: process.versions.node, detail: process.execPath, help: null };
}

/** Executors that need nothing of the machine. */
const bundled: readonly Check[] = ['jq', 'http', 'webhook', 'mail'].map((name) => {
  return { name, ok: true, version: null, detail: 'built in', help: null };
});

/** What the types of dockerode leave out. */
type Askable = { readonly version: (options: { readonly abortSignal: AbortSignal }) => Promise<{ Version?: unknown }> };

/** Once it has shown that it lives, a daemon is not given much longer. */
const patienceMs = 2000;

/** Asks the daemon that an environment names for its version. */
export async function checkDocker(env: Readonly<Record<string, string>>): Promise<Check> {
  const stop = new AbortController().signal;
  try {
    const { docker, address } = await connect(env, { stop, over: stop });
    const { Version } = await (docker as unknown as Askable).version({ abortSignal: AbortSignal.timeout(patienceMs) });
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

/** What is wrong, then what to do. */
function split(message: string): readonly string[] {
  const at = message.indexOf('; ');
  return at < 0 ? [message] : [message.slice(0, at), message.slice(at + 2)];
}
