import { isFinished } from '../../core/run/run-state.ts';
import { systemClock } from '../../engine/clock.ts';
import type { Engine, RunWatcher } from '../../engine/engine.ts';
import { findActive } from '../../service/history/active-runs.ts';
import type { PastRun } from '../../service/history/past-run.ts';
import { checkGivenParams } from '../../service/runs/given-params.ts';
import { fileOf } from '../../service/runs/local-desk.ts';
import { keptParams } from '../../service/runs/retry-run.ts';
import { type StartRequest, startRun } from '../../service/runs/runs.ts';
import { type StopTools, stopRun, untilOver } from '../../service/runs/stop-run.ts';
import { type AccessOptions, requireLocal } from '../access/open-access.ts';
import { configFor } from '../reference.ts';
import { requester } from '../requester.ts';
import { startDetached } from '../run/detached.ts';
import { type ForegroundOptions, runInForeground } from '../run/foreground.ts';
import { givenParameters, hasParameters, type ParameterOptions } from '../run/parameters.ts';
import type { Console } from '../terminal/console.ts';
import { runTitle, severalRuns } from './stop.ts';

/** The options of `wf restart`. */
export type RestartOptions = AccessOptions &
  ParameterOptions &
  ForegroundOptions & { readonly run: string; readonly runId?: string; readonly detach?: true };

/**
 * Stops a run and starts the current version of its workflow with the same parameters. Everything that could prevent the start
 * is checked before the stop.
 */
export async function restartCommand(options: RestartOptions, console: Console): Promise<number> {
  const config = configFor(options);
  requireLocal(options, config, { command: 'restart', instead: 'wf stop and then wf run do it with a daemon' });
  const { createControl } = await import('../../app.ts');
  const control = createControl(config);
  const { active, last } = await findActive(options.run, { ...control, cwd: config.cwd });
  if (active.length > 1) throw severalRuns(options.run, active);
  const run = active[0] ?? last;
  const loaded = fileOf(run, control.places);
  const params = hasParameters(options) ? givenParameters(options) : keptParams(run);
  checkGivenParams(loaded.workflow, params);
  const request: StartRequest = {
    ...loaded,
    params,
    runId: options.runId ?? null,
    trigger: 'cli',
    strict: config.settings.read('strict').value,
  };
  if (!isFinished(run.state)) await stopAndWait(run, loaded.workflow.restartWaitMs, control, console);
  if (options.detach) return startDetached(request, { ...options, config }, console);
  const start = (engine: Engine, watcher: RunWatcher) => startRun(engine, request, watcher);
  return runInForeground({ loaded, params, start, config }, options, console);
}

async function stopAndWait(run: PastRun, waitMs: number, tools: StopTools, { err }: Console): Promise<void> {
  await stopRun(run.runId, { by: requester('restart'), force: false }, tools);
  await untilOver(run.runId, tools);
  err.write(`${runTitle({ runId: run.runId, workflow: run.state.workflow })} is stopped\n`);
  await new Promise<void>((resolve) => systemClock.setTimer(systemClock.now() + waitMs, resolve));
}
