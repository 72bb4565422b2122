import type { JsonObject } from '../../core/workflow.ts';
import type { Daemon } from './api/daemon.ts';
import { isRequestError } from './problem.ts';
import type { ContainerSettings } from './settings.ts';

/** They keep a container's output in files of the daemon, which go with the container. */
const ownFiles: ReadonlySet<unknown> = new Set(['json-file', 'local']);

/** What the types of dockerode leave out. */
type Askable = {
  readonly info: (options: { readonly abortSignal: AbortSignal }) => Promise<{ readonly LoggingDriver?: string }>;
};

/**
 * What Docker does with the output besides sending it to us, as a part of `HostConfig`. Where it would only keep it in
 * files until the container is removed, nothing: many short lines take thirty times as long with such files. A daemon
 * that sends output elsewhere goes on doing so.
 */
export async function chooseLog({ docker, over }: Daemon, { isKept, host }: ContainerSettings): Promise<JsonObject> {
  if (isKept || host['LogConfig'] !== undefined) return {};
  try {
    const { LoggingDriver: driver } = await (docker as Askable).info({ abortSignal: over });
    return ownFiles.has(driver) ? { LogConfig: { Type: 'none' } } : {};
  } catch (error) {
    // No reason to fail: a proxy before the daemon may keep such questions from it.
    if (isRequestError(error)) return {};
    throw error;
  }
}
