import type Docker from 'dockerode';
import { isDocker } from '../identity.ts';
import { DockerProblem, type RequestError, requestMessage } from '../problem.ts';
import { type DockerAddress, dockerAddress } from './address.ts';

/** A daemon that has answered. */
export type Daemon = {
  readonly docker: Docker;
  /** As it is named in messages. */
  readonly address: string;
  /** Aborted when its answers are not waited for any more; goes with every request. */
  readonly over: AbortSignal;
};

/** A daemon that is well answers at once, however busy it is. */
const patienceMs = 3000;

/**
 * Finds the daemon that an environment names and asks it for a sign of life. `stop` ends the question, `over` any later
 * request. Throws a `DockerProblem` that says where it should be and what to do.
 */
export async function connect(
  env: Readonly<Record<string, string>>,
  { stop, over }: { readonly stop: AbortSignal; readonly over: AbortSignal },
): Promise<Daemon> {
  const address = dockerAddress(env);
  const { default: Client } = await import('dockerode');
  const timeout = AbortSignal.timeout(patienceMs);
  const docker = new Client(address.options);
  const isRight = await isDocker(docker, AbortSignal.any([stop, over, timeout])).catch((error: unknown) => {
    throw new DockerProblem(timeout.aborted ? silence(address) : explain(error, address));
  });
  if (!isRight) throw notDocker(address.label);
  return { docker, address: address.label, over };
}

/** Something answers at an address, in another way than Docker does. */
export function notDocker(label: string): DockerProblem {
  return new DockerProblem(`what answers at ${label} is not Docker; correct DOCKER_HOST`);
}

const elsewhere = 'or name the address of another in DOCKER_HOST';

function silence({ label }: DockerAddress): string {
  return `Docker at ${label} does not answer (waited ${patienceMs / 1000} s): restart the daemon, ${elsewhere}`;
}

function explain(error: unknown, { label, options }: DockerAddress): string {
  switch ((error as RequestError).code) {
    case 'ENOENT':
      return `no Docker at ${label}: there is no such socket; start the daemon, ${elsewhere}`;
    case 'ECONNREFUSED':
      return `no Docker at ${label}: nothing listens there; start the daemon, ${elsewhere}`;
    case 'EACCES':
    case 'EPERM':
      return `no permission for Docker at ${label}: join the group of the socket (mostly "docker") and log in again, ${elsewhere}`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `no Docker at ${label}: the host is unknown; correct DOCKER_HOST`;
    default:
      return `Docker at ${label} cannot be used: ${requestMessage(error)}${options.protocol === 'https' ? tlsAdvice : ''}`;
  }
}

const tlsAdvice = '; its certificates are those in DOCKER_CERT_PATH';
