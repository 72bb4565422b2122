import { describe, expect, it } from 'vitest';
import { noSchedule } from '#core/workflow.ts';
import { codesOf, workflowOf } from './load-text.ts';

const STEP = 'steps:\n  - {name: a, command: echo}\n';

describe('a workflow', () => {
  it('has every default filled in', () => {
    expect(workflowOf(STEP)).toEqual({
      name: 'stdin',
      file: null,
      dir: '/',
      group: '',
      description: '',
      tags: [],
      schedule: noSchedule,
      params: [],
      env: [],
      secrets: [],
      preconditions: [],
      steps: [
        {
          name: 'a',
          description: '',
          dir: null,
          command: 'echo',
          args: [],
          script: null,
          shell: null,
          executor: { type: 'command', config: {} },
          depends: [],
          preconditions: [],
          continueOn: { failure: false, skipped: false },
          retry: { limit: 0, intervalMs: 0 },
          repeat: null,
          stdout: null,
          stderr: null,
          output: null,
          env: [],
          signalOnStop: 'SIGTERM',
          timeoutMs: 0,
          mailOn: { failure: false, success: false },
          leaveBackground: false,
        },
      ],
      handlers: { success: null, failure: null, cancel: null, exit: null },
      mailOn: { failure: false, success: false, cancel: false },
      smtp: null,
      errorMail: null,
      infoMail: null,
      logDir: null,
      histRetentionDays: 30,
      delayMs: 0,
      maxActiveSteps: 0,
      timeoutMs: 0,
      restartWaitMs: 0,
      graceMs: 60_000,
      shell: 'sh',
    });
  });

  it('can keep its runs forever, as in Dagu', () => {
    expect(workflowOf(`histRetentionDays: -1\n${STEP}`).histRetentionDays).toBe(-1);
  });

  it('has the values of the file', () => {
    const text = `
name: 1.10
description: nightly
group: etl
tags: daily, etl ,
schedule: {start: 0 5 * * *, stop: ["0 8 * * 1-5", "@daily"], restart: CRON_TZ=Europe/Berlin 0 0 * jan sun}
logDir: /var/log
histRetentionDays: "7"
delaySec: 0.5
maxActiveSteps: 4
timeout_sec: 10
RestartWaitSec: 2
MaxCleanUpTimeSec: 5
shell: bash -e
working_dir: data
mailOn: {failure: yes, success: no, cancel: "true"}
smtp: {host: mail, port: 587, username: u}
errorMail: {from: a@b, to: "x@y, z@y", prefix: "[E]", attachLogs: on}
infoMail: {from: a@b, to: [x@y]}
secrets: [A, {name: B, env: C}, {name: D, file: /d}]
env: [{A: 1}]
${STEP}`;
    expect(workflowOf(text)).toMatchObject({
      name: '1.10',
      description: 'nightly',
      group: 'etl',
      tags: ['daily', 'etl'],
      schedule: {
        start: ['0 5 * * *'],
        stop: ['0 8 * * 1-5', '@daily'],
        restart: ['CRON_TZ=Europe/Berlin 0 0 * jan sun'],
      },
      logDir: '/var/log',
      histRetentionDays: 7,
      delayMs: 500,
      maxActiveSteps: 4,
      timeoutMs: 10_000,
      restartWaitMs: 2000,
      graceMs: 5000,
      shell: 'bash -e',
      dir: '/data',
      mailOn: { failure: true, success: false, cancel: true },
      smtp: { host: 'mail', port: '587', username: 'u', password: null },
      errorMail: { from: 'a@b', to: ['x@y', 'z@y'], prefix: '[E]', attachLogs: true },
      infoMail: { from: 'a@b', to: ['x@y'], prefix: '', attachLogs: false },
      secrets: [
        { name: 'A', env: null, file: null },
        { name: 'B', env: 'C', file: null },
        { name: 'D', env: null, file: '/d' },
      ],
    });
  });

  it.each([
    ['text', '0 5 * * *', ['0 5 * * *']],
    ['a list', '["0 5 * * *", "0 6 * * *"]', ['0 5 * * *', '0 6 * * *']],
  ])('takes a schedule as %s', (_, written, start) => {
    expect(workflowOf(`schedule: ${written}\n${STEP}`).schedule).toEqual({ ...noSchedule, start });
  });

  it.each([
    ['timezone: Europe/Berlin', { timeZone: 'Europe/Berlin' }],
    ['overlap: queue', { overlap: 'queue', isOverlapGiven: true }],
    ['catchup: all', { catchup: 'all' }],
    ['catchupWindow: 2d12h', { catchup: 'latest', catchupWindowMs: 60 * 3_600_000 }],
    ['catchup_window: 90', { catchup: 'latest', catchupWindowMs: 90_000 }],
    ['{catchup: all, catchupWindow: 1.5h}', { catchup: 'all', catchupWindowMs: 5_400_000 }],
  ])('takes its scheduling as %s', (written, expected) => {
    const keys = written.startsWith('{') ? written.slice(1, -1).replace(', ', '\n') : written;
    expect(workflowOf(`${keys}\n${STEP}`).schedule).toEqual({ ...noSchedule, ...expected });
  });

  it.each([
    ['single-entry maps', '[{A: 1}, {B: "x y"}, {C: }]'],
    ['a map', '{A: 1, B: x y, C: ""}'],
    ['texts', '[A=1, "B=x y", C=]'],
  ])('takes env as %s', (_, written) => {
    expect(workflowOf(`env: ${written}\n${STEP}`).env).toEqual([
      { name: 'A', value: '1' },
      { name: 'B', value: 'x y' },
      { name: 'C', value: '' },
    ]);
  });

  it.each([
    ['text', 'params: first A=1 B="x y" C=`date +\'%Y %m\'` D=', [null, 'A', 'B', 'C', 'D']],
    ['a list', 'params: [first, A=1, {B: x y}, "C=`date +\'%Y %m\'`", D=]', [null, 'A', 'B', 'C', 'D']],
  ])('takes params as %s', (_, written, names) => {
    const { params } = workflowOf(`${written}\n${STEP}`);
    expect(params.map(({ name }) => name)).toEqual(names);
    expect(params.map(({ value }) => value)).toEqual(['first', '1', 'x y', "`date +'%Y %m'`", '']);
  });

  it('takes params as a map and as a number', () => {
    expect(workflowOf(`params: {A: 1.50, B: true}\n${STEP}`).params).toEqual([
      { name: 'A', value: '1.50' },
      { name: 'B', value: 'true' },
    ]);
    expect(workflowOf(`params: 5\n${STEP}`).params).toEqual([{ name: null, value: '5' }]);
  });

  it.each([
    ['text', 'precondition: test -f x', [{ condition: 'test -f x', expected: null }]],
    ['an object', 'precondition: {condition: $1, expected: 5}', [{ condition: '$1', expected: '5' }]],
    [
      'a list',
      'preconditions: [{condition: $1, expected: "re:^a"}, test]',
      [
        { condition: '$1', expected: 're:^a' },
        { condition: 'test', expected: null },
      ],
    ],
  ])('takes preconditions as %s', (_, written, expected) => {
    expect(workflowOf(`${written}\n${STEP}`).preconditions).toEqual(expected);
  });

  it('has handlers that are named after their kind', () => {
    const { handlers } = workflowOf(`handler_on: {exit: {command: echo, dir: x}, Failure: {script: y}}\n${STEP}`);
    expect([handlers.success, handlers.cancel]).toEqual([null, null]);
    expect(handlers.exit).toMatchObject({ name: 'handlerOn.exit', command: 'echo', dir: 'x', depends: [] });
    expect(handlers.failure).toMatchObject({ name: 'handlerOn.failure', script: 'y' });
  });

  it('lets a handler have a name and an id of its own', () => {
    const { handlers } = workflowOf(`handlerOn: {exit: {id: bye, name: say bye, command: echo}}\n${STEP}`);
    expect(handlers.exit).toMatchObject({ name: 'handlerOn.exit', command: 'echo' });
  });

  it('ignores free keys, including those that contain anchors', () => {
    const text =
      'x-common: &common\n  retry_policy: {limit: 2}\n  x-more: [1]\nsteps:\n  - <<: *common\n    name: a\n    command: echo\n';
    expect(workflowOf(text).steps[0]?.retry).toEqual({ limit: 2, intervalMs: 0 });
    expect(codesOf(text.replace('x-more', 'queue'))).toEqual(['not-supported']);
  });

  it('lets the own keys of a map override merged keys', () => {
    const text = 'x-a: &a {command: one, dir: d}\nsteps:\n  - name: a\n    command: two\n    <<: *a\n';
    expect(workflowOf(text).steps[0]).toMatchObject({ command: 'two', dir: 'd' });
  });

  it('runs steps without depends as a chain', () => {
    const text =
      'type: chain\nsteps:\n  - {name: a, command: x}\n  - {name: b, command: x}\n  - {name: c, command: x, depends: []}\n  - {name: d, command: x, depends: a}\n';
    expect(workflowOf(text).steps.map(({ depends }) => depends)).toEqual([[], ['a'], [], ['a']]);
  });

  it('passes a working directory with variables to the steps without a dir', () => {
    const text = 'workingDir: $HOME/x\nsteps:\n  - {name: a, command: x}\n  - {name: b, command: x, dir: y}\n';
    const workflow = workflowOf(text);
    expect([workflow.dir, ...workflow.steps.map(({ dir }) => dir)]).toEqual(['/', '$HOME/x', 'y']);
  });

  it('reads a byte order mark, line ends of each kind and a document start', () => {
    expect(workflowOf(STEP.replaceAll('\n', '\r')).steps[0]?.name).toBe('a');
    expect(workflowOf(`\uFEFF---\r\n${STEP.replaceAll('\n', '\r\n')}`).steps[0]?.name).toBe('a');
  });
});

it('treats labels as additional tags', () => {
  const tagsOf = (text: string) => workflowOf(`${text}\n${STEP}`).tags;
  expect(tagsOf('labels: {env: prod, tier: 1}\ntags: daily')).toEqual(['daily', 'env=prod', 'tier=1']);
  expect(tagsOf('labels: [env=prod, daily]\ntags: [daily]')).toEqual(['daily', 'env=prod']);
});
