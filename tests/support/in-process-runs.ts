import { createApp } from '#app/app.ts';
import { createPast } from '#app/history-app.ts';
import { type Config, workflowDirectories } from '#config/config.ts';
import type { ActiveRun } from '#engine/engine.ts';
import { fileOf } from '#service/runs/local-runs.ts';
import { retryRequest } from '#service/runs/retry-run.ts';
import { runRequest, type StartRequest } from '#service/runs/start-run.ts';
import type { AcceptedRun, RunActions } from '#service/service.ts';
import { getWorkflow } from '#service/workflows/workflows.ts';
import { WfError } from '#system/errors.ts';

/** Runs that are real and in the real store, but executed in this process, so that a test can wait for their ends. */
export type InProcessRuns = Pick<RunActions, 'start' | 'retry' | 'stop'> & {
  /** Resolves when every run has finished. */
  readonly settled: () => Promise<void>;
};

export function inProcessRuns(config: Config): InProcessRuns {
  const { host } = createApp(config, { keepHistory: true });
  const { history } = createPast(config);
  const places = workflowDirectories(config);
  const runs = new Map<string, ActiveRun>();
  const begin = (request: StartRequest): AcceptedRun => {
    try {
      const run = host.start(runRequest(request), () => {});
      runs.set(run.runId, run);
      return { runId: run.runId, isNew: true };
    } catch (error) {
      if (!(error instanceof WfError) || error.code !== 'run-exists') throw error;
      return { runId: request.runId ?? '', isNew: false };
    }
  };
  return {
    start: async ({ workflow, params, runId, trigger, strict = false }) =>
      begin({ ...getWorkflow(workflow, places), params: params ?? [], runId, trigger, strict }),
    retry: async ({ runId, selection, params, useFile, newRunId, strict = false }) => {
      const run = await history.read(runId);
      if (run === null) throw new WfError('not-found', `there is no run "${runId}"`);
      const current = useFile ? fileOf(run, places) : null;
      const request = await retryRequest(run, { selection, params, current, runId: newRunId, strict }, history);
      return request === null ? null : begin({ ...request, trigger: 'api' });
    },
    stop: async (runId, { by, kill }) => {
      const forced = kill === 'now';
      const run = runs.get(runId);
      if (run === undefined || run.state().finishedAt !== null) return { result: 'over', forced: false };
      run.cancel({ reason: 'stop', message: `stopped by ${by}`, force: forced });
      return { result: 'asked', forced };
    },
    settled: async () => {
      await Promise.all([...runs.values()].map((run) => run.finished));
    },
  };
}
