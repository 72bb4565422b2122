import { connect, notDocker } from '../executors/docker/api/daemon.ts';
import { DockerProblem, isRequestError, requestMessage } from '../executors/docker/problem.ts';
import type { Check } from './check.ts';

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
