import { type ReadonlySignal, signal } from '@preact/signals';
import type { RunHead } from '#run-view/api/types.ts';
import { api, ask } from '../api/client.ts';
import { createLiveState } from './live-state.ts';

/** Sub-runs in which a step waits for approval, by id. */
export type WaitingRuns = {
  readonly runs: ReadonlySignal<ReadonlyMap<string, RunHead>>;
  /** Adds, updates or removes a run. */
  readonly take: (run: RunHead) => void;
  /** Reads the runs that wait now. Throws an `ApiProblem`. */
  readonly load: () => Promise<void>;
};

/** Further waiting runs are not read; their later changes are received. */
const MAX_RUNS = 500;

/** Creates an empty list of waiting sub-runs. */
export function waitingRuns(): WaitingRuns {
  const runs = signal<ReadonlyMap<string, RunHead>>(new Map());
  const state = createLiveState();
  const take = (run: RunHead) => {
    if (run.waitingFor !== undefined && run.trigger === 'workflow') {
      runs.value = new Map([...runs.value, [run.runId, run]]);
    } else if (runs.value.has(run.runId)) {
      runs.value = new Map([...runs.value].filter(([id]) => id !== run.runId));
    }
  };
  return {
    runs,
    take: (run) => state.change(() => take(run)),
    load: () =>
      state.read(async ({ apply }) => {
        const query = { waiting: true, trigger: 'workflow', limit: MAX_RUNS };
        const found = await ask(api.GET('/api/v2/runs', { params: { query } }));
        apply(() => {
          runs.value = new Map(found.runs.map((run) => [run.runId, run]));
        });
      }),
  };
}
