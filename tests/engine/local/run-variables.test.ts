import { expect, test } from 'vitest';
import { runVariableNames } from '#core/run-variables.ts';
import { type Work, withEngine, withJournal } from '../../support/engine-world.ts';
import { handler, step, workflow } from '../../support/workflow.ts';

/** Variables that only notifications, `wait` handlers, and steps with `outputs` or `artifacts` have. */
const ELSEWHERE = [
  ...['DAGU_OUTPUT_FILE', 'DAG_RUN_ARTIFACTS_DIR'],
  ...['WF_ARTIFACTS_DIR', 'WF_OUTPUT_FILE', 'WF_RUN_URL', 'WF_WAITING_STEPS'],
];

test('the list of variables has exactly those that a run sets', async () => {
  const seen = new Set<string>();
  const work: Work = ({ env }) => {
    for (const name of Object.keys(env)) if (/^(?:WF|DAG)/.test(name)) seen.add(name);
    return { status: 'succeeded', exitCode: 0, outputs: {} };
  };
  const steps = [step('ship', { fanOut: { items: ['a'], maxConcurrent: 1, failFast: false } })];
  const made = workflow({ steps, handlers: { exit: handler('exit') } });
  const wrapStore = withJournal(() => ({ path: '/runs/1/journal.jsonl' }));
  await withEngine({ wrapStore, work: { 'ship[a]': work, 'handlerOn.exit': work } }, async ({ start }) => {
    await start(made, { params: [{ name: 'A', value: '1' }] }).finished;
  });
  expect([...seen].filter((name) => !runVariableNames.includes(name))).toEqual([]);
  expect(runVariableNames.filter((name) => !seen.has(name)).sort()).toEqual(ELSEWHERE);
});
