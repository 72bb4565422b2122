import { createApp, createPast, workflowPlaces } from '../../src/app.ts';
import type { Config } from '../../src/config/config.ts';
import type { ActiveRun } from '../../src/engine/engine.ts';
import { WfError } from '../../src/errors.ts';
import { fileOf } from '../../src/service/runs/local-desk.ts';
import { retryRequest } from '../../src/service/runs/retry-run.ts';
import type { AcceptedRun, RunDesk } from '../../src/service/runs/run-desk.ts';
import { type StartRequest, startRun } from '../../src/service/runs/runs.ts';
import { getWorkflow } from '../../src/service/workflows/workflows.ts';

/** A desk whose runs are real and in the real store, but go on in this process, so that a test can wait for their ends. */
export type InProcessDesk = RunDesk & {
  /** Resolves when every run of the desk is over. */
  readonly settled: () => Promise<void>;
};

export function inProcessDesk(config: Config): InProcessDesk {
  const { engine } = createApp(config, { keepHistory: true });
  const { history } = createPast(config);
  const places = workflowPlaces(config);
  const runs = new Map<string, ActiveRun>();
  const begin = (request: StartRequest): AcceptedRun => {
    try {
      const run = startRun(engine, request, () => {});
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
      const request = retryRequest(run, { selection, params, current, runId: newRunId, strict });
      return request === null ? null : begin({ ...request, trigger: 'api' });
    },
    stop: async (runId, by) => {
      const run = runs.get(runId);
      if (run === undefined || run.state().finishedAt !== null) return 'over';
      run.cancel({ reason: 'stop', message: `stopped by ${by}`, force: false });
      return 'asked';
    },
    settled: async () => {
      await Promise.all([...runs.values()].map((run) => run.finished));
    },
  };
}
