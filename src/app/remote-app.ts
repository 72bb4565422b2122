import type { Config } from '#config/config.ts';
import type { TemporalEngine, TemporalEngineTools } from '#engine/temporal/client/temporal-engine.ts';
import type { EngineSettings } from '#engine/temporal/client/temporal-host.ts';
import type { History } from '#service/history.ts';
import { checkRunId } from '#store/files/run-directory.ts';
import { systemClock } from '#system/clock.ts';
import { engineAddress } from '#system/engine-address.ts';
import { WfError } from '#system/errors.ts';
import { ownRelease } from './package-root.ts';
import { fileStore, logStoreDirectory, queueSizes } from './run-store.ts';
import { type FailedBefore, knownWorkflowTools } from './subworkflows.ts';

/** How long runs are copied, who receives the errors of it, and what precedes a start; see `TemporalEngineTools`. */
export type Copying = Pick<TemporalEngineTools, 'lasting' | 'report' | 'accepting'>;

/** Opens the access to the runs of engines; nothing is connected before it is used. */
export async function openRemoteEngine(
  config: Config,
  {
    readHistory,
    failedBefore,
    ...copying
  }: Copying & { readonly readHistory: () => Pick<History, 'read'>; readonly failedBefore: FailedBefore },
): Promise<TemporalEngine> {
  const { createTemporalEngine } = await import('#engine/temporal/client/temporal-engine.ts');
  const store = fileStore(config);
  return createTemporalEngine({
    ...copying,
    archive: store,
    store,
    control: store,
    queue: store,
    clock: systemClock,
    processEnv: config.processEnv,
    lostAfterMs: lostAfterMs(config),
    release: ownRelease(),
    logStore: logStoreDirectory(config),
    queueSize: queueSizes(config),
    pools: config.settings.read('pools').value,
    known: knownWorkflowTools(config, readHistory, failedBefore),
    settingsOf: (url) => engineSettings(config, url),
    checkId: checkRunId,
  });
}

/** How long a worker may be silent. */
export function lostAfterMs({ settings }: Config): number {
  return settings.read('lostAfter').value * 1000;
}

/** How to reach the engine at an address. Throws a `WfError` `usage` for the local one. */
export function engineSettings({ settings, processEnv }: Config, url: string): EngineSettings {
  const address = engineAddress(url);
  if (address === null)
    throw new WfError('usage', 'this needs an engine', { help: 'name it: --engine temporal://HOST:PORT' });
  return { ...address, url, keyFile: settings.read('engineKeyFile').value, env: processEnv };
}
