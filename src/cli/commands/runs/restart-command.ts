import { given } from '#core/data/collections.ts';
import { isFinished } from '#core/run/run-state.ts';
import type { PastRun } from '#service/history.ts';
import { findActive } from '#service/local-service.ts';
import type { RunService } from '#service/service.ts';
import {
  acceptParams,
  fileOf,
  keptEnvFiles,
  keptParams,
  momentOf,
  type StartRequest,
  withDotenv,
} from '#service/start-runs.ts';
import { systemClock } from '#system/clock.ts';
import { openLocal } from '../../access/open-local.ts';
import { reachOf, requireLocal } from '../../access/open-service.ts';
import { configFor } from '../../reference.ts';
import { requester } from '../../requester.ts';
import { approvalPolicy, envFilesOf, givenParameters, hasParameters } from '../../run/parameters.ts';
import type { StartOptions } from '../../run/prepare-run.ts';
import { startLocally, withEngineOf } from '../../run/start-locally.ts';
import type { Console } from '../../terminal/console.ts';
import { runTitle, severalRuns } from './control-commands.ts';

type RestartOptions = StartOptions & { readonly run: string };

/** Stops a run and starts its file again with the same parameters, after checking all that could prevent the start. */
export async function restartCommand(options: RestartOptions, console: Console): Promise<number> {
  const config = configFor(options);
  requireLocal(options, config, 'restart', 'with a daemon, use wf stop and then wf run');
  const reach = reachOf(options, config, console);
  const { createControl } = await import('#app/history-app.ts');
  const control = createControl(config, { reach });
  const { active, last } = await findActive(options.run, { ...control, reach });
  if (active.length > 1) throw severalRuns(options.run, active);
  const run = active[0] ?? last;
  const loaded = fileOf(run, control.directories);
  const asked = hasParameters(options) ? givenParameters(options) : keptParams(run);
  const params = acceptParams(loaded.workflow, asked);
  const unread: StartRequest = {
    ...loaded,
    params,
    envFiles: envFilesOf(options) ?? keptEnvFiles(run),
    runId: options.runId ?? null,
    trigger: 'cli',
    strict: config.settings.read('strict').value,
    ...given({ selection: run.state.selection, moment: momentOf(run.state) }),
    ...approvalPolicy({ options, config }, console),
  };
  const request = await withDotenv(unread, config.processEnv);
  if (!isFinished(run.state)) {
    const { runs } = await openLocal(config, options.dags);
    await stopAndWait(run, loaded.workflow.restartWaitMs, runs, console);
  }
  return startLocally({ request, config: withEngineOf(run, config) }, options, console);
}

async function stopAndWait(run: PastRun, waitMs: number, runs: RunService, { err }: Console): Promise<void> {
  await runs.stop(run.runId, { by: requester('restart'), kill: 'never' });
  await runs.ended(run.runId);
  err.write(`${runTitle({ runId: run.runId, workflow: run.state.workflow })} is stopped\n`);
  await new Promise<void>((resolve) => systemClock.setTimer(systemClock.now() + waitMs, resolve));
}
