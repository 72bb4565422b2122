import { expect, test } from 'vitest';
import type { PastRun } from '#service/history/past-run.ts';
import { runWithResults } from '#service/runs/retry-run.ts';

type Past = readonly [status: string, ...types: readonly string[]];

/** The run that the last of these runs, each a retry of the one before it, takes its results from. */
async function resultsOf(...runs: readonly Past[]): Promise<string> {
  const all = runs.map(([status, ...types], index) => ({
    runId: `r${index}`,
    state: { status, finishedAt: 1, retryOf: index === 0 ? null : `r${index - 1}` },
    stored: { events: types.map((type) => ({ type })) },
  })) as unknown as readonly PastRun[];
  const read = (runId: string) => Promise.resolve(all.find((run) => run.runId === runId) ?? null);
  return (await runWithResults(all.at(-1) as PastRun, { read })).runId;
}

const first: Past = ['failed', 'run.started', 'step.scheduled', 'step.finished'];

test.each([
  ['a retry with an attempt', 'r1', [first, first]],
  ['a retry that was canceled before it started', 'r0', [first, ['canceled', 'run.created']]],
  ['a retry that was killed while it recorded what it kept', 'r0', [first, ['failed', 'run.started', 'step.restored']]],
  ['one after the other', 'r0', [first, ['canceled'], ['skipped']]],
  ['a retry with an answer', 'r1', [first, ['failed', 'run.started', 'step.held', 'step.answered']]],
  ['a retry of which a step was marked', 'r1', [first, ['failed', 'run.started', 'step.restored', 'step.marked']]],
  ['a retry that had nothing left to run', 'r1', [first, ['succeeded', 'run.started', 'step.restored']]],
  ['a run that is no retry', 'r0', [['canceled']]],
] as const)('the results of %s are those of %s', async (_, expected, runs) => {
  expect(await resultsOf(...(runs as readonly Past[]))).toBe(expected);
});
