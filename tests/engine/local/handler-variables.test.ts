import { expect, test } from 'vitest';
import type { Outcome } from '#core/run/run.ts';
import type { Workflow } from '#core/workflow.ts';
import { untilStopped, type Work, withEngine } from '../../support/engine-world.ts';
import { handler, step, workflow } from '../../support/workflow.ts';

const handlers = { failure: handler('failure') };

function failure(message: string, outputs: Readonly<Record<string, string>> = {}): Outcome {
  return { status: 'failed', reason: 'exit', message, exitCode: 1, signal: null, outputs };
}

/** A handler that records its variables. */
function listener() {
  const told: Record<string, string | undefined> = {};
  const work: Work = ({ env }) => {
    for (const name of ['WF_STATUS', 'WF_FAILED_STEP', 'WF_ERROR', 'OUT']) told[name] = env[name];
    return { status: 'succeeded', exitCode: 0, outputs: {} };
  };
  return { told, work };
}

test('a handler gets the status of the run and the variables of its steps', async () => {
  const { told, work } = listener();
  const a: Work = () => failure('exit 3', { OUT: 'text' });
  await withEngine({ work: { a, 'handlerOn.failure': work } }, async ({ start }) => {
    await start(workflow({ steps: [step('a')], handlers })).finished;
  });
  expect(told).toEqual({ WF_STATUS: 'failed', WF_FAILED_STEP: 'a', WF_ERROR: 'exit 3', OUT: 'text' });
});

test('a handler gets the step that failed first, whatever its position in the file', async () => {
  const { told, work } = listener();
  let end = (_: Outcome) => {};
  const late: Work = () => new Promise((resolve) => (end = resolve));
  const early: Work = () => failure('exit 2');
  await withEngine({ work: { late, early, 'handlerOn.failure': work } }, async ({ start, told: until, clock }) => {
    const { finished } = start(workflow({ steps: [step('late'), step('early')], handlers }));
    await until('step.finished', 'early');
    clock.advance(10);
    end(failure('exit 1'));
    await finished;
  });
  expect(told).toMatchObject({ WF_FAILED_STEP: 'early', WF_ERROR: 'exit 2' });
});

test('a handler gets a failure that counts rather than an earlier one that is tolerated', async () => {
  const { told, work } = listener();
  const tolerated = step('a', { continueOn: { failure: true, skipped: false } });
  const steps = [tolerated, step('b', { depends: ['a'] })];
  const fails = { a: () => failure('exit 2'), b: () => failure('exit 3') };
  await withEngine({ work: { ...fails, 'handlerOn.failure': work } }, async ({ start }) => {
    await start(workflow({ steps, handlers })).finished;
  });
  expect(told).toMatchObject({ WF_FAILED_STEP: 'b', WF_ERROR: 'exit 3' });
});

test('a handler gets the timeout of the run as the reason if no step has failed itself', async () => {
  const { told, work } = listener();
  const slow: Workflow = workflow({ timeoutMs: 1000, steps: [step('a')], handlers });
  await withEngine({ work: { a: untilStopped, 'handlerOn.failure': work } }, async ({ start, told: until, clock }) => {
    const { finished } = start(slow);
    await until('step.started', 'a');
    clock.advance(1000);
    await finished;
  });
  expect(told).toMatchObject({ WF_STATUS: 'failed', WF_FAILED_STEP: '', WF_ERROR: 'timed out after 1s' });
});
