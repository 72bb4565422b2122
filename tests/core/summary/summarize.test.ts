import { expect, test } from 'vitest';
import { evolve } from '#core/run/evolve.ts';
import type { RunEvent } from '#core/run/run.ts';
import { summarize } from '#core/summary/summarize.ts';
import { DrivenRun } from '../../support/driven-run.ts';
import { failure, success } from '../../support/outcome.ts';
import { handler, step } from '../../support/workflow.ts';

const created: RunEvent = {
  type: 'run.created',
  at: 0,
  runId: 'r1',
  workflow: 'deploy',
  group: 'ops',
  file: '/deploy.yaml',
  trigger: 'api',
  retryOf: 'r0',
  params: [{ name: 'A', value: '1' }],
};
const owner = { host: 'h', pid: 7, startTime: 1, boot: 'b' };
const log = (name: string, attempt: number) => `/logs/${name}.${attempt}`;

test('a finished run, with handlers, warnings and a step that waited', () => {
  const run = new DrivenRun({
    steps: [step('build', { retry: { limit: 1, intervalMs: 500 } }), step('ship', { depends: ['build'] })],
    handlers: { failure: handler('failure'), success: handler('success'), exit: handler('exit') },
  });
  const tell = (event: RunEvent) => {
    run.state = evolve(run.state, event);
  };
  tell(created);
  tell({ type: 'run.owned', at: 1, owner });
  tell({
    type: 'run.prepared',
    at: 2,
    params: [
      { name: 'A', value: '1' },
      { name: null, value: 'x' },
    ],
  });
  run.start();
  run.now = 1100;
  run.begin('build');
  run.end('build', failure());
  run.now = 1600;
  run.fire('build');
  run.now = 1700;
  run.end('build', failure({ message: 'exit 3', exitCode: 3, outputs: { LOG: 'l' } }));
  tell({ type: 'run.warned', at: 1700, step: null, message: 'the mail server is down' });
  tell({ type: 'run.warned', at: 1700, step: 'build', message: 'its log is full' });
  run.begin('handlerOn.failure');
  run.now = 2000;
  run.end('handlerOn.failure', success());
  run.succeed('handlerOn.exit');

  const none = { reason: null, error: null, exitCode: null, signal: null, durationMs: null, outputs: {}, log: null };
  const second = '1970-01-01T00:00:02.000Z';
  expect(summarize(run.state, log)).toEqual({
    runId: 'r1',
    workflow: 'deploy',
    group: 'ops',
    file: '/deploy.yaml',
    status: 'failed',
    reason: 'step',
    error: 'step "build" failed: exit 3',
    trigger: 'api',
    retryOf: 'r0',
    scheduledFor: null,
    params: [
      { name: 'A', value: '1' },
      { name: null, value: 'x' },
    ],
    owner: { pid: 7, host: 'h' },
    createdAt: '1970-01-01T00:00:00.000Z',
    startedAt: '1970-01-01T00:00:01.000Z',
    finishedAt: second,
    durationMs: 1000,
    steps: [
      {
        name: 'build',
        status: 'failed',
        reason: 'exit',
        error: 'exit 3',
        attempts: 2,
        exitCode: 3,
        signal: null,
        startedAt: '1970-01-01T00:00:01.100Z',
        finishedAt: '1970-01-01T00:00:01.700Z',
        durationMs: 600,
        outputs: { LOG: 'l' },
        log: '/logs/build.2',
      },
      {
        ...none,
        name: 'ship',
        status: 'upstream_failed',
        error: '"build" failed',
        attempts: 0,
        startedAt: null,
        finishedAt: '1970-01-01T00:00:01.700Z',
      },
    ],
    handlers: [
      {
        ...none,
        name: 'handlerOn.failure',
        status: 'succeeded',
        attempts: 1,
        exitCode: 0,
        startedAt: '1970-01-01T00:00:01.700Z',
        finishedAt: second,
        durationMs: 300,
        log: '/logs/handlerOn.failure.1',
      },
      {
        ...none,
        name: 'handlerOn.exit',
        status: 'succeeded',
        attempts: 1,
        exitCode: 0,
        startedAt: null,
        finishedAt: second,
        log: '/logs/handlerOn.exit.1',
      },
    ],
    warnings: ['the mail server is down', 'build: its log is full'],
  });
});

test('a run that was only created has no unknown values', () => {
  const run = new DrivenRun({ steps: [step('a')], handlers: { exit: handler('exit') } });
  expect(summarize(evolve(run.state, created), log)).toMatchObject({
    status: 'queued',
    reason: null,
    error: null,
    owner: null,
    params: [{ name: 'A', value: '1' }],
    startedAt: null,
    finishedAt: null,
    durationMs: null,
    steps: [{ name: 'a', status: 'pending', attempts: 0, startedAt: null, log: null }],
    handlers: [],
    warnings: [],
  });
});

test('a handler is listed once its turn has come', () => {
  const run = DrivenRun.started({
    steps: [step('a')],
    handlers: { success: handler('success'), exit: handler('exit') },
  });
  run.succeed('a');
  expect(summarize(run.state, log).handlers.map(({ name }) => name)).toEqual(['handlerOn.success']);
});

test('a duration is not negative when the clock was set back', () => {
  const run = DrivenRun.started({ steps: [step('a')] });
  run.now = 10;
  run.succeed('a');
  expect(summarize(run.state, log)).toMatchObject({ durationMs: 0 });
});

test('an attempt whose log was not stored has none', () => {
  const run = DrivenRun.started({ steps: [step('a')] });
  expect(summarize(run.state, () => null).steps[0]?.log).toBeNull();
});

test('a step names the worker of its last attempt', () => {
  const run = DrivenRun.started({ steps: [step('a'), step('b')] });
  run.send({ type: 'attempt-started', at: 1, step: 'a', attempt: 1, process: null, worker: 'gpu-1' });
  run.send({ type: 'attempt-started', at: 1, step: 'b', attempt: 1, process: null });
  run.succeed('a');
  expect(summarize(run.state, log).steps.map(({ worker }) => worker)).toEqual(['gpu-1', undefined]);
});
