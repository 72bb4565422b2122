import type { Config } from '#config/config.ts';
import { applyRetention, type Reach, type RetentionReport, type RetentionRequest } from '#service/history.ts';
import type { ClearedResults, ClearRequest } from '#store/files/fingerprints/result-cache.ts';
import { systemClock } from '#system/clock.ts';
import { WfError } from '#system/errors.ts';
import { fileStore } from './run-store.ts';

/** Removes past runs. */
export type Retention = {
  readonly apply: (request: RetentionRequest) => Promise<RetentionReport>;
  /** Whether the last removal was more than a day ago; true for only one of several processes that ask. */
  readonly isDue: () => boolean;
};

/** Sets up the removal of past runs. Every run asks whether it is due, so the modules that read past runs load when it is applied. */
export function createRetention(config: Config, reach: Reach = { cwd: config.cwd, any: true }): Retention {
  const archive = fileStore(config);
  return {
    apply: async (request) => {
      const { createPast, judgeFor } = await import('./history-app.ts');
      const { history } = createPast(config);
      return applyRetention(request, { archive, history, clock: systemClock, judge: judgeFor(archive), reach });
    },
    isDue: () => archive.claimTidying(systemClock.now(), TIDY_EVERY_MS),
  };
}

const TIDY_EVERY_MS = 86_400_000;

/** Removes cached results, fingerprints or both. Rejects with a `WfError` `storage`. */
export async function clearStepResults({ runsDir }: Config, asked: ClearRequest): Promise<ClearedResults> {
  if (runsDir === null) throw new WfError('storage', 'there is no home directory', { help: 'set WF_HOME' });
  const { clearResults } = await import('#store/files/fingerprints/result-cache.ts');
  return clearResults(runsDir, asked);
}
