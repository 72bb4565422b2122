import { homedir } from 'node:os';
import { join } from 'node:path';
import { capture } from '../../../processes/capture.ts';
import { eitherEnd } from '../../../processes/end-signal.ts';
import { readRegular } from '../../../regular-file.ts';
import type { Attempt } from '../../executor.ts';

/** A login at a registry as the Docker API takes it; undefined: nobody has logged in there. */
export type RegistryLogin =
  | { readonly username: string; readonly password: string; readonly serveraddress: string }
  | { readonly identitytoken: string; readonly serveraddress: string };

/** What `docker login` leaves in `config.json`. */
type ClientConfig = {
  readonly auths?: { readonly [registry: string]: { readonly auth?: string; readonly identitytoken?: string } };
  readonly credHelpers?: { readonly [registry: string]: string };
  readonly credsStore?: string;
};

const dockerHub = 'https://index.docker.io/v1/';

/**
 * The login that `docker login` stored for the registry of an image, in the client's `config.json` (in `DOCKER_CONFIG`,
 * else `~/.docker`) or in the credential helper that it names. Source: docker login, "Credential stores".
 */
export async function registryLogin(image: string, attempt: Attempt): Promise<RegistryLogin | undefined> {
  const config = readConfig(attempt.env);
  const registry = registryOf(image);
  const helper = config.credHelpers?.[registry] ?? config.credsStore;
  const login = helper === undefined ? undefined : await askHelper(helper, registry, attempt);
  return login ?? storedLogin(config, registry);
}

/** The registry's name comes first where it looks like one: with a dot, a port, or `localhost`. */
function registryOf(image: string): string {
  const [first = '', ...rest] = image.split('/');
  const isRegistry = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost');
  return isRegistry && first !== 'docker.io' && first !== 'index.docker.io' ? first : dockerHub;
}

function readConfig(env: Attempt['env']): ClientConfig {
  const folder = env['DOCKER_CONFIG'] || join(env['HOME'] || homedir(), '.docker');
  try {
    const config: unknown = JSON.parse(readRegular(join(folder, 'config.json')).toString('utf8'));
    return typeof config === 'object' && config !== null ? config : {};
  } catch {
    // Most people have none; a broken one is a matter of its own program.
    return {};
  }
}

function storedLogin({ auths = {} }: ClientConfig, registry: string): RegistryLogin | undefined {
  const [serveraddress, stored] = Object.entries(auths).find(([name]) => hostOf(name) === hostOf(registry)) ?? [];
  if (serveraddress === undefined || stored === undefined) return undefined;
  if (stored.identitytoken) return { identitytoken: stored.identitytoken, serveraddress };
  const [username = '', ...password] = Buffer.from(stored.auth ?? '', 'base64')
    .toString()
    .split(':');
  return username === '' ? undefined : { username, password: password.join(':'), serveraddress };
}

function hostOf(registry: string): string {
  return registry.replace(/^https?:\/\//, '').replace(/\/.*$/, '');
}

/** Asks a credential helper by its protocol: the registry on its input, an object with `Username` and `Secret` back. */
async function askHelper(helper: string, registry: string, attempt: Attempt): Promise<RegistryLogin | undefined> {
  if (!/^[\w.-]+$/.test(helper)) return undefined;
  const { ok, stdout } = await capture(`printf %s "$1" | docker-credential-${helper} get`, {
    env: attempt.env,
    cwd: '/',
    shell: 'sh',
    params: [registry],
    signal: eitherEnd(attempt),
  });
  if (!ok) return undefined;
  try {
    const { Username: username, Secret: secret } = JSON.parse(stdout) as { Username: string; Secret: string };
    // So a helper says that it has a token instead of a password.
    if (username === '<token>') return { identitytoken: secret, serveraddress: registry };
    return { username, password: secret, serveraddress: registry };
  } catch {
    return undefined;
  }
}
