import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ImageInspectInfo } from 'dockerode';
import { given } from '#core/data/collections.ts';
import { eitherEnd } from '#processes/end-signal.ts';
import { capture } from '#processes/programs.ts';
import { decodePair } from '#system/basic-login.ts';
import { tryOr } from '#system/errors.ts';
import { readRegular } from '#system/files.ts';
import type { Attempt } from '../executor.ts';
import { type Daemon, DockerProblem, objectIn, requestMessage, requestStatus } from './docker-daemon.ts';
import type { ContainerSettings } from './docker-settings.ts';

/** Provides an image, pulling it according to `pull`. Throws a `DockerProblem` if it is not available. */
export async function provideImage(
  daemon: Daemon,
  settings: ContainerSettings,
  attempt: Attempt,
): Promise<ImageInspectInfo> {
  const { image, pull, platform } = settings;
  const found = pull === 'always' ? null : await findImage(daemon, image);
  if (found !== null && isFor(platform, found)) return found;
  if (pull === 'never') {
    const what = found === null ? 'does not exist' : `exists for ${platformOf(found)} only`;
    throw new DockerProblem(`image "${image}" ${what}, and "pull" is "never"`);
  }
  await pullImage(daemon, settings, attempt);
  const pulled = await findImage(daemon, image);
  if (pulled === null)
    throw new DockerProblem(`image "${image}" was pulled, but Docker at ${daemon.address} does not have it`);
  return pulled;
}

/** A method that dockerode's types leave out. */
type Inspectable = { readonly inspect: (options: { readonly abortSignal: AbortSignal }) => Promise<ImageInspectInfo> };

async function findImage({ docker, over }: Daemon, image: string): Promise<ImageInspectInfo | null> {
  try {
    return await (docker.getImage(image) as Inspectable).inspect({ abortSignal: over });
  } catch (error) {
    if (requestStatus(error) === 404) return null;
    throw error;
  }
}

/** An image for `linux/arm64/v8` also serves `linux/arm64`. */
function isFor(platform: string | null, image: ImageInspectInfo): boolean {
  if (platform === null) return true;
  const own = platformOf(image);
  return platform.includes('/') ? `${own}/`.startsWith(`${platform}/`) : own.split('/').includes(platform);
}

function platformOf(image: ImageInspectInfo): string {
  const { Os, Architecture, Variant } = image as ImageInspectInfo & { readonly Variant?: string };
  return [Os, Architecture, Variant].filter((part) => part !== undefined && part !== '').join('/');
}

async function pullImage({ docker, over }: Daemon, settings: ContainerSettings, attempt: Attempt): Promise<void> {
  const { image, platform } = settings;
  const abortSignal = AbortSignal.any([over, eitherEnd(attempt)]);
  const authconfig = await registryLogin(image, attempt);
  const options = { abortSignal, authconfig, ...given({ platform }) };
  try {
    const progress = await docker.pull(image, options);
    await reportPull(progress, image, (line) => attempt.write('stderr', `${line}\n`));
  } catch (error) {
    const message = requestMessage(error);
    const host = hostOf(registryOf(image));
    const login = `give a login for ${host} in "registryAuths", or run docker login`;
    const advice = authconfig === undefined ? login : `${host} refuses the login that it was given`;
    const end = REFUSAL.test(message) ? `; ${advice}` : '';
    throw new DockerProblem(`image "${image}" cannot be pulled: ${message}${end}`);
  }
}

/** A registry wants a login, or another one. */
const REFUSAL = /unauthorized|authentication required|no basic auth|access denied|incorrect username or password/i;

/** A line of the daemon's pull report. */
type PullEvent = { readonly id: string; readonly status: string; readonly error: string };

/** Prints the progress of a pull: its start, each fetched layer and the result. Rejects with the daemon's message. */
export async function reportPull(
  progress: NodeJS.ReadableStream,
  image: string,
  print: (line: string) => void,
): Promise<void> {
  print(`pulling ${image}`);
  const layers = new Set<string>();
  const arrived = new Set<string>();
  for await (const line of createInterface({ input: progress, crlfDelay: Number.POSITIVE_INFINITY })) {
    const { id, status = '', error } = objectIn<PullEvent>(line);
    if (error !== undefined) throw new Error(error);
    if (id !== undefined && /^(Pulling fs layer|Pull complete)$/.test(status)) layers.add(id);
    if (id !== undefined && status === 'Pull complete' && !arrived.has(id)) {
      arrived.add(id);
      print(`pulling ${image}: layer ${arrived.size} of ${layers.size}`);
    }
    if (status.startsWith('Status: ')) print(status.slice('Status: '.length));
  }
}

/** A registry login as Docker's API takes it; undefined if there is none. */
type RegistryLogin =
  | { readonly username: string; readonly password: string; readonly serveraddress: string }
  | { readonly identitytoken: string; readonly serveraddress: string };

/** The `config.json` that `docker login` writes. */
type ClientConfig = {
  readonly auths?: { readonly [registry: string]: { readonly auth?: string; readonly identitytoken?: string } };
  readonly credHelpers?: { readonly [registry: string]: string };
  readonly credsStore?: string;
};

const DOCKER_HUB = 'https://index.docker.io/v1/';

/**
 * The login for an image's registry: of the workflow, of the variable `DOCKER_AUTH_CONFIG`, or stored by `docker login` in the
 * client's `config.json` (in `DOCKER_CONFIG`, else `~/.docker`) or in the credential helper named there. Source: docker login,
 * "Credential stores".
 */
async function registryLogin(image: string, attempt: Attempt): Promise<RegistryLogin | undefined> {
  const registry = registryOf(image);
  const { workflow, expand, env } = attempt;
  // A variable may hold a whole `config.json`.
  const variable = objectIn<ClientConfig>(env['DOCKER_AUTH_CONFIG'] ?? '');
  const given = ownLogin(workflow.registryAuths ?? {}, expand, registry) ?? storedLogin(variable, registry);
  if (given !== undefined) return given;
  const config = readConfig(env);
  const helper = config.credHelpers?.[registry] ?? config.credsStore;
  const login = helper === undefined ? undefined : await askHelper(helper, registry, attempt);
  return login ?? storedLogin(config, registry);
}

function ownLogin(
  auths: NonNullable<Attempt['workflow']['registryAuths']>,
  expand: Attempt['expand'],
  registry: string,
): RegistryLogin | undefined {
  if (typeof auths === 'string') return storedLogin(objectIn(expand(auths)), registry);
  const [host, login] = Object.entries(auths).find(([name]) => isHost(name, registry)) ?? [];
  if (host === undefined || login === undefined) return undefined;
  const { username = '', password = '', auth } = login;
  const pair = Buffer.from(`${expand(username)}:${expand(password)}`).toString('base64');
  return storedLogin({ auths: { [host]: { auth: auth === undefined ? pair : expand(auth) } } }, registry);
}

/** An image name starts with its registry if the first part contains a dot or port, or is `localhost`. */
function registryOf(image: string): string {
  const [first = '', ...rest] = image.split('/');
  const isRegistry = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost');
  return isRegistry && first !== 'docker.io' && first !== 'index.docker.io' ? first : DOCKER_HUB;
}

function readConfig(env: Attempt['env']): ClientConfig {
  const folder = env['DOCKER_CONFIG'] || join(env['HOME'] || homedir(), '.docker');
  // Most users have no such file; the program that wrote a broken one reports it.
  return objectIn(tryOr('', () => readRegular(join(folder, 'config.json')).toString('utf8')));
}

function storedLogin({ auths = {} }: ClientConfig, registry: string): RegistryLogin | undefined {
  const [serveraddress, stored] = Object.entries(auths).find(([name]) => isHost(name, registry)) ?? [];
  if (serveraddress === undefined || stored === undefined) return undefined;
  if (stored.identitytoken) return { identitytoken: stored.identitytoken, serveraddress };
  const { username, password } = decodePair(stored.auth ?? '');
  return username === '' ? undefined : { username, password: password ?? '', serveraddress };
}

/** Docker Hub has several names. */
function isHost(name: string, registry: string): boolean {
  const host = hostOf(name);
  return (host === 'docker.io' ? hostOf(DOCKER_HUB) : host) === hostOf(registry);
}

function hostOf(registry: string): string {
  return registry.replace(/^https?:\/\//, '').replace(/\/.*$/, '');
}

/** Asks a credential helper by its protocol: the registry on standard input, `Username` and `Secret` back. */
async function askHelper(helper: string, registry: string, attempt: Attempt): Promise<RegistryLogin | undefined> {
  if (!/^[\w.-]+$/.test(helper)) return undefined;
  const { ok, stdout } = await capture(`printf %s "$1" | docker-credential-${helper} get`, {
    env: attempt.env,
    cwd: '/',
    shell: 'sh',
    params: [registry],
    signal: eitherEnd(attempt),
  });
  const { Username: username, Secret: secret } = objectIn<{ Username: string; Secret: string }>(ok ? stdout : '');
  if (username === undefined || secret === undefined) return undefined;
  // Helpers mark a token this way instead of a password.
  if (username === '<token>') return { identitytoken: secret, serveraddress: registry };
  return { username, password: secret, serveraddress: registry };
}
