import type { ImageInspectInfo } from 'dockerode';
import { eitherEnd } from '../../../processes/end-signal.ts';
import type { Attempt } from '../../executor.ts';
import { DockerProblem, requestMessage, requestStatus } from '../problem.ts';
import type { ContainerSettings } from '../settings.ts';
import { registryLogin } from './credentials.ts';
import type { Daemon } from './daemon.ts';
import { reportPull } from './pull-progress.ts';

/** Makes sure that the image is there, fetching it as `pull` says. Throws a `DockerProblem` when it is not to be had. */
export async function provideImage(
  daemon: Daemon,
  settings: ContainerSettings,
  attempt: Attempt,
): Promise<ImageInspectInfo> {
  const { image, pull, platform } = settings;
  const found = pull === 'always' ? null : await findImage(daemon, image);
  if (found !== null && isFor(platform, found)) return found;
  if (pull === 'never') {
    const what = found === null ? 'is not there' : `is there for ${platformOf(found)} only`;
    throw new DockerProblem(`image "${image}" ${what}, and "pull" is "never"`);
  }
  await pullImage(daemon, settings, attempt);
  const pulled = await findImage(daemon, image);
  if (pulled === null) throw new DockerProblem(`image "${image}" was pulled, but Docker at ${daemon.address} has none`);
  return pulled;
}

/** What the types of dockerode leave out. */
type Inspectable = { readonly inspect: (options: { readonly abortSignal: AbortSignal }) => Promise<ImageInspectInfo> };

async function findImage({ docker, over }: Daemon, image: string): Promise<ImageInspectInfo | null> {
  try {
    return await (docker.getImage(image) as Inspectable).inspect({ abortSignal: over });
  } catch (error) {
    if (requestStatus(error) === 404) return null;
    throw error;
  }
}

/** `linux/arm64` is also what an image for `linux/arm64/v8` serves. */
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
  const options = { abortSignal, authconfig, ...(platform === null ? {} : { platform }) };
  try {
    const progress = await docker.pull(image, options);
    await reportPull(progress, image, (line) => attempt.write('stderr', `${line}\n`));
  } catch (error) {
    throw new DockerProblem(`image "${image}" cannot be pulled: ${requestMessage(error)}`);
  }
}
