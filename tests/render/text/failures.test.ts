import { expect, test } from 'vitest';
import type { InstanceSummary, RunSummary, StepSummary } from '#core/summary/summary.ts';
import { type FailedRun, failureCommand, failurePath, failuresIn, failuresOf } from '#render/text/failures.ts';
import { etlPosition, failedSummary, runSummary, stepSummary } from '../support/story.ts';

const childId = '01997aaa-0000-7c4d-8e5f-001122334455';

function failedRun(steps: readonly StepSummary[], rest: Partial<FailedRun> & { summary?: RunSummary } = {}): FailedRun {
  const summary = runSummary({ status: 'failed', reason: 'step', steps });
  return { summary, tails: new Map(), positions: new Map(), origins: new Map(), children: new Map(), ...rest };
}

function instance(step: string, key: string, settings: Partial<StepSummary> = {}): InstanceSummary {
  return { ...failedSummary(`${step}[${key}]`, settings), key, index: 0, item: key };
}

const fanOut = (items: readonly InstanceSummary[], settings: Partial<StepSummary> = {}) =>
  failedSummary('build', { error: `${items.length} of 9 failed`, items, ...settings });

function texts(run: FailedRun): readonly string[] {
  return failuresOf(run).failures.map((failure) => `${failurePath(failure)}: ${failure.error} (${failure.command})`);
}

test('a fan-out is replaced by its first three failed instances, and the others are counted', () => {
  const items = ['a', 'b', 'c', 'd', 'e'].map((key) => instance('build', key));
  const positions = new Map([['build', etlPosition(3, 5)]]);
  const tails = new Map([['build[a]', ['why']]]);
  const { failures, moreFailures } = failuresOf(
    failedRun([fanOut(items), failedSummary('last')], { positions, tails }),
  );
  expect(failures.map(({ step, key }) => [step, key])).toEqual([
    ['build[a]', 'a'],
    ['build[b]', 'b'],
    ['build[c]', 'c'],
    ['last', null],
  ]);
  expect(moreFailures).toBe(2);
  expect(failures[0]).toEqual({
    path: ['build[a]'],
    runId: '01997c3e-1a2b-7c4d-8e5f-001122334455',
    step: 'build[a]',
    key: 'a',
    reason: 'exit',
    error: 'exit 3',
    exitCode: 3,
    signal: null,
    attempts: 1,
    place: { file: '/project/etl.yaml', line: 3, column: 5 },
    lines: ['why'],
    log: '/state/runs/1/build[a].out',
    command: "wf logs 01997c3e-1a2b 'build[a]'",
  });
});

test('a fan-out that failed without a failed instance is a failure itself', () => {
  const items = [instance('build', 'a', { status: 'succeeded' })];
  expect(texts(failedRun([fanOut(items, { error: 'output "X" is too large' })]))).toEqual([
    'build: output "X" is too large (wf logs 01997c3e-1a2b build)',
  ]);
});

test('a sub-workflow is replaced by the failures of its run, at any depth', () => {
  const grand = failedRun([failedSummary('leaf', { error: 'exit 9' })]);
  const inner = { ...failedRun([failedSummary('push'), failedSummary('deep', { child: 'x' })]) };
  const child = {
    ...inner,
    summary: { ...inner.summary, runId: childId },
    tails: new Map([['push', ['denied']]]),
    children: new Map([['deep', grand]]),
  };
  const run = failedRun([fanOut([instance('build', 'eu', { child: childId })])], {
    tails: new Map([['build[eu]', ['{"json": "of the child"}']]]),
    children: new Map([['build[eu]', child]]),
  });
  expect(texts(run)).toEqual([
    'build[eu] > push: exit 3 (wf logs 01997aaa-0000 push)',
    'build[eu] > deep > leaf: exit 9 (wf logs 01997c3e-1a2b leaf)',
  ]);
  expect(failuresOf(run).failures.map(({ lines }) => lines)).toEqual([['denied'], []]);
});

test('a child run without a failed step gives its reason and the command that shows it', () => {
  const summary = runSummary({ runId: childId, status: 'failed', reason: 'timeout', error: 'timed out after 1s' });
  const children = new Map([['deploy', failedRun([], { summary })]]);
  expect(texts(failedRun([failedSummary('deploy', { child: childId })], { children }))).toEqual([
    'deploy: timed out after 1s (wf status 01997aaa-0000)',
  ]);
});

test('a child run that was removed is named, and its JSON is not shown', () => {
  const tails = new Map([['deploy', ['{}']]]);
  const [failure] = failuresOf(failedRun([failedSummary('deploy', { child: childId })], { tails })).failures;
  expect(failure).toMatchObject({ error: 'exit 3', lines: [], note: 'its run 01997aaa-0000 cannot be read' });
});

test('tolerated failures come last, those below a tolerated step too, and only if the run is not strict', () => {
  const child = failedRun([failedSummary('push')]);
  const steps = [
    failedSummary('a', { tolerated: 'failure', child: childId }),
    failedSummary('b', { tolerated: 'exitCode' }),
    failedSummary('c'),
  ];
  const run = failedRun(steps, { children: new Map([['a', child]]) });
  const marks = (of: FailedRun) => failuresOf(of).failures.map((one) => [failurePath(one), one.tolerated]);
  expect(marks(run)).toEqual([
    ['c', undefined],
    ['a > push', 'failure'],
    ['b', 'exitCode'],
  ]);
  expect(marks({ ...run, summary: { ...run.summary, strict: true } })).toEqual([
    ['a > push', undefined],
    ['b', undefined],
    ['c', undefined],
  ]);
});

test('at most 20 failures are listed', () => {
  const run = failedRun(Array.from({ length: 25 }, (_, index) => failedSummary(`s${index}`)));
  const { failures, moreFailures } = failuresOf(run);
  expect([failures.length, moreFailures]).toEqual([20, 5]);
});

test('a run that is not stored has no commands; other options of commands are added', () => {
  const run = failedRun([failedSummary('a'), stepSummary('b')]);
  expect(failuresOf(run, false).failures.map(({ command }) => command)).toEqual([null]);
  const [failure] = failuresOf(run).failures;
  expect(failure && failureCommand(failure, ' --server http://x')).toBe('wf logs --server http://x 01997c3e-1a2b a');
});

test('the failures of a summary without them are those of its steps', () => {
  const { summary } = failedRun([failedSummary('a')]);
  expect(failuresIn(summary)).toMatchObject({
    failures: [{ path: ['a'], error: 'exit 3', lines: [] }],
    moreFailures: 0,
  });
});
