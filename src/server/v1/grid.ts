import type { StepSummary } from '../../core/run/summary.ts';
import { handlerKind } from '../../core/workflow.ts';
import type { ShownRun } from './parts.ts';
import { runDetailView } from './run-view.ts';
import { stepStatus } from './status-numbers.ts';
import { shownName } from './step-view.ts';

/**
 * Past runs as the v1 API tells them: a row for each step with a value for each run, and the runs themselves. `runs` are newest
 * first, and so are the values; `Logs` are oldest first, each with the handle under which its logs are asked for.
 */
export function gridOf(runs: readonly ShownRun[]): object {
  const rows = new Map<string, number[]>();
  for (const [index, { summary }] of runs.entries()) {
    for (const step of [...summary.steps, ...summary.handlers]) setValue(rows, step, { index, count: runs.length });
  }
  // Steps in the order in which the newest run has them, then what only older ones had, then handlers.
  const names = [...rows.keys()].sort((a, b) => Number(handlerKind(a) !== null) - Number(handlerKind(b) !== null));
  return {
    GridData: names.map((name) => ({ Name: shownName(name), Vals: rows.get(name) })),
    Logs: runs.map((run) => ({ File: run.past.runId, Status: runDetailView(run) })).reverse(),
  };
}

type Place = { readonly index: number; readonly count: number };

function setValue(rows: Map<string, number[]>, { name, status }: StepSummary, { index, count }: Place): void {
  const values = rows.get(name) ?? Array.from({ length: count }, () => 0);
  values[index] = stepStatus(status).Status;
  rows.set(name, values);
}
