import type { Config } from '../../config/config.ts';
import { WfError } from '../../errors.ts';

/** How long the end of a run may wait for the removal of others; what is left then goes another day. */
const longestMs = 2000;

/**
 * Removes, once a day, the runs that neither their files nor the settings want kept. For whoever has just carried the run
 * `runId`, which stays; a disk that refuses is told by `wf gc` and spoils no run.
 */
export async function tidyHistory(config: Config, runId: string, stopped: AbortSignal): Promise<void> {
  const { createRetention } = await import('../../app.ts');
  try {
    const retention = createRetention(config);
    if (!retention.isDue()) return;
    const keepRuns = config.settings.read('historyKeepRuns').value;
    const signal = AbortSignal.any([stopped, AbortSignal.timeout(longestMs)]);
    await retention.apply({
      rule: { type: 'settings', keepRuns },
      workflow: null,
      dryRun: false,
      spare: runId,
      signal,
    });
  } catch (error) {
    if (!(error instanceof WfError)) throw error;
  }
}
