import type { EarlierResult, Restored } from '#core/run/run.ts';
import { stepState } from '#core/run/run-state.ts';
import { resultNames } from '#core/words/step-results.ts';
import type { Workflow } from '#core/workflow.ts';
import type { PastRun } from '../history/past-run.ts';

const REFERENCE = /\$\{([A-Za-z_]\w*)\.(?:stdout|stderr|exitCode|exit_code)\b/g;

/** Adds the results of restored steps to which texts of the workflow refer. */
export function withResults(restored: readonly Restored[], run: PastRun, workflow: Workflow): readonly Restored[] {
  const names = new Set([...JSON.stringify(workflow).matchAll(REFERENCE)].map(([, name]) => name));
  if (names.size === 0) return restored;
  const steps = workflow.steps.filter((step) => resultNames(step).some((name) => names.has(name)));
  const mentioned = new Set(steps.map(({ name }) => name));
  return restored.map((step) =>
    'status' in step && mentioned.has(step.step) ? { ...step, ...resultOf(step.step, run) } : step,
  );
}

function resultOf(name: string, { state, stored }: PastRun): { result?: EarlierResult } {
  if (stored === null || !state.graph.index.has(name)) return {};
  const { attempt, exitCode, earlierLogs } = stepState(state, name);
  if (earlierLogs !== undefined) return { result: { exitCode, ...earlierLogs } };
  if (attempt === 0) return {};
  const path = (stream: 'stdout' | 'stderr') => stored.logs.pathOf(name, attempt, stream);
  return { result: { exitCode, stdout: path('stdout'), stderr: path('stderr') } };
}
