import { expect, test } from 'vitest';
import type { RunSummary } from '#core/summary/summary.ts';
import { renderRecap } from '#render/views/recap.ts';
import { etlEnd } from '../support/etl.ts';
import { expectGolden } from '../support/golden.ts';
import { etlPosition, failedSummary, recapOf, recapOptions, stepSummary } from '../support/story.ts';

const style = { color: false, unicode: true };

function recap(summary: Partial<RunSummary>, settings: Parameters<typeof recapOf>[1] = {}, commands = false): string {
  return renderRecap(recapOf(summary, settings), style, {
    ...recapOptions,
    commands: { logs: commands, retry: commands },
  });
}

const failed = { status: 'failed', reason: 'step' } as const;

test.each([
  ['recap', style],
  ['recap-color', { color: true, unicode: true }],
  ['recap-ascii', { color: false, unicode: false }],
])('a failed run is printed as in goldens/%s.txt', (golden, settings) => {
  const end = recapOf(etlEnd.summary, { positions: etlEnd.positions, tails: etlEnd.tails });
  expectGolden(golden, renderRecap(end, settings, recapOptions));
});

test('a succeeded run takes one line', () => {
  expect(recap({ steps: [stepSummary('a'), stepSummary('b')] })).toBe('SUCCEEDED nightly-etl in 14s   2 succeeded\n');
});

test('every step is counted, also in an unfinished run', () => {
  const statuses = ['pending', 'scheduled', 'waiting', 'running', 'upstream_failed', 'canceled', 'skipped'] as const;
  const steps = statuses.map((status) => ({ ...stepSummary(status), status }));
  expect(recap({ steps })).toContain(
    '1 skipped · 1 canceled · 1 not run · 1 running · 1 waiting · 1 scheduled · 1 not reached',
  );
});

test('available commands are printed ready to be pasted', () => {
  const steps = [failedSummary("it's here & now"), failedSummary('-rf')];
  expect(recap({ ...failed, steps }, {}, true)).toBe(
    [
      'FAILED nightly-etl in 14s   2 failed',
      "✖ it's here & now   exit 3",
      "  logs: wf logs 01997c3e-1a2b 'it'\\''s here & now'",
      '✖ -rf   exit 3',
      '  logs: wf logs 01997c3e-1a2b -- -rf',
      '',
      'retry what failed: wf retry 01997c3e-1a2b',
      '',
    ].join('\n'),
  );
});

test('no commands are printed for a run that was not stored', () => {
  const text = recap({ ...failed, steps: [failedSummary('load')] }, { kept: false }, true);
  expect(text).toBe('FAILED nightly-etl in 14s   1 failed\n✖ load   exit 3\n');
});

test('a failure that a retry has kept is printed with the run that has its logs', () => {
  const origins = new Map([['load', '01997aaa-0000-7c4d-8e5f-001122334455']]);
  const text = recap({ ...failed, steps: [{ ...failedSummary('load'), attempts: 0 }] }, { origins }, true);
  expect(text).toBe(
    [
      'FAILED nightly-etl in 14s   1 failed',
      '✖ load   exit 3   in run 01997aaa-0000, not run again',
      '  logs: wf logs 01997aaa-0000 load',
      '',
      'retry what failed: wf retry 01997c3e-1a2b',
      '',
    ].join('\n'),
  );
});

test('the message of the run is printed if it has no failed step', () => {
  const error = 'step "c" did not succeed in an earlier run and was not rerun';
  const text = recap({ ...failed, error, steps: [stepSummary('b'), stepSummary('c', { status: 'upstream_failed' })] });
  expect(text).toBe(`FAILED nightly-etl in 14s   1 succeeded · 1 not run\n  ${error}\n`);
});

test('an id that the user chose is not shortened', () => {
  const text = recap({ ...failed, runId: 'night ly', steps: [failedSummary('load')] }, {}, true);
  expect(text).toContain("wf retry 'night ly'\n");
});

test('only the last ten lines are shown, without colours and with a limited width', () => {
  const tail = [...Array.from({ length: 12 }, (_, n) => `\u001b[31mline ${n}`), 'x'.repeat(100_000)];
  const lines = recap({ ...failed, steps: [failedSummary('load')] }, { tails: new Map([['load', tail]]) }).split('\n');
  const shown = lines.filter((line) => line.startsWith('  │ '));
  expect([shown.length, shown[0], shown.at(-1)?.length]).toEqual([10, '  │ line 3', 504]);
});

test('each row of a long line has the bar on a terminal', () => {
  const end = recapOf(
    { ...failed, steps: [failedSummary('load')] },
    { tails: new Map([['load', ['word '.repeat(9)]]]) },
  );
  const terminal = { ...style, isTerminal: true, size: () => ({ columns: 30, rows: 24 }) };
  expect(renderRecap(end, terminal, recapOptions).split('\n').slice(3, 5)).toEqual([
    '  │ word word word word word',
    '  │ word word word word',
  ]);
});

test('the message of a run that timed out is printed', () => {
  expect(recap({ status: 'failed', reason: 'timeout', error: 'timed out after 1m00s' })).toBe(
    'FAILED nightly-etl in 14s\n  timed out after 1m00s\n',
  );
});

test('failed handlers are printed like steps, with attempts and position', () => {
  const text = recap(
    { status: 'failed', reason: 'handler', handlers: [failedSummary('handlerOn.exit', { attempts: 3, log: null })] },
    { positions: new Map([['handlerOn.exit', etlPosition(30, 3)]]) },
  );
  expect(text).toBe('FAILED nightly-etl in 14s\n✖ handlerOn.exit   exit 3   after 3 attempts   etl.yaml:30:3\n');
});

test('only the first twenty of many failures are printed', () => {
  const steps = Array.from({ length: 1000 }, (_, index) => failedSummary(`step-${index}`, { log: null }));
  const lines = recap({ ...failed, steps })
    .trimEnd()
    .split('\n');
  expect([lines.length, lines.at(-1)]).toEqual([22, 'and 980 more failed']);
});

test('a run that has not started has no duration', () => {
  expect(recap({ status: 'skipped', durationMs: null, reason: 'precondition', error: 'not today' })).toBe(
    'SKIPPED nightly-etl\n  not today\n',
  );
});
