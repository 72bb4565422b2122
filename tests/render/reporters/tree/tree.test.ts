import { describe, expect, test } from 'vitest';
import type { Workflow } from '#core/workflow.ts';
import type { Terminal } from '#render/reporters/reporter.ts';
import { createTreeReporter, type TreeOptions } from '#render/reporters/tree/tree.ts';
import fc from '../../../support/fast-check.ts';
import { VirtualScreen } from '../../../support/virtual-screen.ts';
import { step, workflow } from '../../../support/workflow.ts';
import { etl, tellEtl } from '../../support/etl.ts';
import { expectGolden } from '../../support/golden.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { recapOf, recapOptions, runStart, tell } from '../../support/story.ts';
import { recordingTerminal } from '../../support/terminal.ts';

const noSigns = { title: false, progress: false };

type TreeLook = Pick<TreeOptions, 'output' | 'signs' | 'pushesRows'>;

/** A tree on a virtual screen, whose clock moves with the story. */
function onScreen(columns = 80, rows = 24, settings: Partial<Terminal> & Partial<TreeLook> = {}) {
  const { output = null, signs = noSigns, pushesRows = false } = settings;
  const screen = new VirtualScreen(columns, rows, pushesRows);
  const clock = new ManualClock(runStart);
  const { write, size } = screen;
  const terminal = { isTerminal: true, color: true, unicode: true, write, size, ...settings };
  const reporter = createTreeReporter(terminal, { ...recapOptions, clock, output, signs, pushesRows });
  const moveTo = (at: number) => clock.advance(at - clock.now());
  const begin = (shape: Workflow) => tell(reporter, shape, { moveTo }).begin();
  return { screen, clock, reporter, moveTo, begin };
}

function many(count: number): Workflow {
  return workflow({ name: 'many', steps: Array.from({ length: count }, (_, index) => step(`step-${index}`)) });
}

describe('the live block', () => {
  test.each([
    ['tree-80', 80, {}],
    ['tree-20', 20, {}],
    ['tree-200', 200, {}],
    ['tree-ascii', 80, { unicode: false }],
  ])('is drawn as in goldens/%s.txt', (golden, columns, settings) => {
    const { screen, begin } = onScreen(columns, 24, settings);
    begin(etl)
      .start('extract')
      .start('validate')
      .finish('weekly-only', { status: 'skipped', attempt: 0, message: '`date +%u` was "5", expected "7"' })
      .at(1200)
      .finish('extract')
      .start('index')
      .output('index', 'shard 2/8\n\u001b[32mshard 3/8\u001b[0m\r\n\n')
      .retry('validate', 5000)
      .at(4300);
    expectGolden(golden, `${screen.text()}\n`);
  });

  test('shows how long the workflow usually takes', () => {
    const { screen, reporter, begin } = onScreen();
    const story = begin(many(2)).start('step-0').at(1200);
    expect(screen.text()).toMatch(/1s {3}Ctrl-C stops/);
    reporter.estimate?.(125_000);
    story.at(2400);
    expect(screen.text()).toMatch(/2s of ~2m05s {3}Ctrl-C stops/);
  });

  test('shows the person who approved a step, and a mark of its own beside a tolerated failure', () => {
    const { screen, begin } = onScreen();
    const answer = { answer: 'approved', by: 'anna', comment: 'looks\ngood', inputs: {} } as const;
    const end = { attempt: 1, reason: null, message: '', exitCode: 0, signal: null, outputs: {} } as const;
    const failure = { status: 'failed', reason: 'exit', message: 'exit 3', exitCode: 3 } as const;
    begin(many(3))
      .start('step-0')
      .event((at) => ({ ...end, type: 'step.held', at, step: 'step-0', prompt: 'Ship?', until: null }))
      .event((at) => ({ ...answer, type: 'step.answered', at, step: 'step-0' }))
      .finish('step-0')
      .finish('step-1', { ...failure, tolerated: 'failure' })
      .finish('step-2', failure)
      .at(100);
    expect(screen.text()).toMatch(/✔ step-0 +approved by anna: looks good$/m);
    expect(screen.text()).toMatch(/⚠ step-1 +exit 3 {2}tolerated$/m);
    expect(screen.text()).toMatch(/✖ step-2 +exit 3$/m);
  });

  test('shows the container of an attempt, and that a service is ready', () => {
    const { screen, begin } = onScreen();
    const container = { id: '4f1d2c8a9b1c7e6d5f', image: 'postgres:17' };
    const story = begin(many(2)).start('step-0');
    story.event((at) => ({ type: 'step.contained', at, step: 'step-0', attempt: 1, container, daemon: '' })).at(100);
    expect(screen.text()).toMatch(/step-0 +0s +container 4f1d2c8a9b1c$/m);
    story
      .output('step-0', 'listening\n')
      .event((at) => ({ type: 'step.serving', at, step: 'step-0', attempt: 1 }))
      .at(300);
    expect(screen.text()).toMatch(/step-0 +0s +ready +container 4f1d2c8a9b1c +│ listening$/m);
    story.start('step-0', 2).at(500);
    expect(screen.text()).not.toMatch(/ready|container/);
  });

  test('has the colours of goldens/tree-color.txt', () => {
    const recorded = recordingTerminal({ color: true, isTerminal: true });
    const clock = new ManualClock(runStart);
    const reporter = createTreeReporter(recorded.terminal, { ...recapOptions, clock, output: null, signs: noSigns });
    tellEtl(reporter, { moveTo: (at) => clock.advance(at - clock.now()) });
    expectGolden('tree-color', recorded.text());
  });

  test('fits the height of the terminal and counts hidden steps', () => {
    const { screen, begin } = onScreen(80, 8);
    const story = begin(many(1000));
    for (let index = 0; index < 500; index++) story.start(`step-${index}`);
    story.at(1100);
    const window = screen.window();
    expect(window.filter((line) => line.includes('step-'))).toHaveLength(5);
    expect(window.at(-2)).toBe('  0/1000 · 500 running · 500 waiting   1s   Ctrl-C stops');
    expect(screen.text().split('\n')).toHaveLength(7);
  });

  test('is omitted in a window of one line', () => {
    const { screen, begin } = onScreen(80, 1);
    begin(many(3)).start('step-0').at(5000).finish('step-0').at(6000);
    expect(screen.text()).toBe('▶ many  01997c3e-1a2b\n  ✔ step-0   5.0s');
  });

  test('shows the steps that delay a stop', () => {
    const { screen, begin } = onScreen();
    begin(many(3))
      .start('step-0')
      .event((at) => ({ type: 'run.canceling', at, reason: 'stop', message: 'SIGINT', force: false }))
      .at(2100);
    expect(screen.text().split('\n').slice(1)).toEqual([
      '  ⠹ step-0     2s',
      '  0/3 · 1 running · 2 waiting   2s   stopping… Ctrl-C again kills',
    ]);
  });
});

describe('painting', () => {
  test('happens at most ten times a second, whatever the number of events', () => {
    const { screen, clock, begin } = onScreen();
    const story = begin(many(1000));
    for (let index = 0; index < 1000; index++) {
      story.start(`step-${index}`).output(`step-${index}`, 'line\n');
      clock.advance(1);
    }
    expect(screen.writes).toBeLessThanOrEqual(10);
    expect(screen.writes).toBeGreaterThanOrEqual(9);
  });

  test('happens once a second if only time passes', () => {
    const { screen, clock, begin } = onScreen();
    begin(etl).start('extract').at(100);
    const before = screen.writes;
    clock.advance(10_000);
    expect(screen.writes - before).toBe(10);
  });

  test('does not happen when nothing runs', () => {
    const { screen, clock, begin } = onScreen();
    begin(etl).at(100);
    const before = screen.writes;
    clock.advance(60_000);
    expect([screen.writes - before, clock.pending()]).toEqual([0, 0]);
  });

  test('stops at the end: no timer remains, the block is erased, the cursor is visible', () => {
    const { screen, clock, reporter, begin } = onScreen();
    begin(etl).start('extract').at(1000);
    expect(screen.isCursorVisible).toBe(false);
    reporter.end(recapOf({ status: 'canceled' }));
    expect([clock.pending(), screen.isCursorVisible]).toEqual([0, true]);
    expect(screen.text()).toBe('▶ nightly-etl  01997c3e-1a2b\nCANCELED nightly-etl in 14s');
  });

  test('of a run that finishes at once shows only its result', () => {
    const { screen, reporter, begin } = onScreen();
    begin(many(2)).start('step-0').finish('step-0').start('step-1').finish('step-1');
    reporter.end(recapOf({ workflow: 'many' }));
    expect(screen.text()).toBe('▶ many  01997c3e-1a2b\n  ✔ step-0   0.0s\n  ✔ step-1   0.0s\nSUCCEEDED many in 14s');
  });
});

test.each([
  ['tree-end-80', 80],
  ['tree-end-20', 20],
])('after the end the screen is as in goldens/%s.txt', (golden, columns) => {
  const { screen, reporter, moveTo } = onScreen(columns, 12);
  tellEtl(reporter, { moveTo });
  expectGolden(golden, `${screen.text()}\n`);
});

test('of very many finished steps the first hundred and every failed one keep a line', () => {
  const { screen, reporter, begin } = onScreen(80, 10);
  const story = begin(many(1000));
  for (let index = 0; index < 1000; index++) {
    story.start(`step-${index}`).at(index * 10);
    if (index === 700) story.fail(`step-${index}`);
    else story.finish(`step-${index}`);
  }
  reporter.end(recapOf({ workflow: 'many' }));
  const lines = screen.text().split('\n');
  expect(lines.filter((line) => line.includes('✔'))).toHaveLength(100);
  expect(lines.slice(-3)).toEqual(['  ✖ step-700   0.0s  exit 3', '  … and 899 succeeded', 'SUCCEEDED many in 14s']);
});

describe('a workflow of one step', () => {
  const single = workflow({ name: 'hello', steps: [step('greet')] });

  test('shows all of its output above the block', () => {
    const { screen, reporter, begin } = onScreen();
    const story = begin(single).start('greet').output('greet', 'hello\nwor').at(200);
    expect(screen.text().split('\n').slice(1, 3)).toEqual(['hello', '  ⠋ greet     0s  │ wor']);
    story.output('greet', 'ld').at(1000).finish('greet');
    reporter.end(recapOf({ workflow: 'hello' }));
    expect(screen.text()).toBe('▶ hello  01997c3e-1a2b\nhello\nworld\n  ✔ greet   1.0s\nSUCCEEDED hello in 14s');
  });

  test('loses no line in a repaint, whatever the number, width and time of lines', () => {
    const line = fc.oneof(fc.stringMatching(/^[a-z ]{0,50}[a-z]$/), fc.constant(''));
    const burst = fc.record({ lines: fc.array(line, { maxLength: 8 }), afterMs: fc.integer({ min: 0, max: 1500 }) });
    fc.assert(
      fc.property(fc.array(burst, { maxLength: 15 }), fc.integer({ min: 2, max: 12 }), (bursts, rows) => {
        const { screen, clock, reporter, begin } = onScreen(60, rows);
        const story = begin(single).start('greet');
        for (const { lines, afterMs } of bursts) {
          story.output('greet', lines.map((text) => `${text}\n`).join(''));
          clock.advance(afterMs);
        }
        reporter.end(recapOf({ workflow: 'hello' }));
        const written = bursts.flatMap(({ lines }) => lines);
        expect(screen.text().split('\n')).toEqual(['▶ hello  01997c3e-1a2b', ...written, 'SUCCEEDED hello in 14s']);
      }),
    );
  });

  test('writes a flood of output without waiting for the next frame', () => {
    const { screen, begin } = onScreen();
    begin(single).start('greet').output('greet', 'x'.repeat(79).concat('\n').repeat(10_000));
    expect(screen.text().split('\n').length).toBeGreaterThan(9000);
  });
});

test('a window that is being resized gets one frame, when it has kept its size, on erased rows', () => {
  let resized = () => {};
  const onResize = (callback: () => void) => {
    resized = callback;
    return () => {};
  };
  const { screen, clock, reporter, begin } = onScreen(80, 24, { onResize });
  const story = begin(many(3)).start('step-0').output('step-0', 'some output '.repeat(9)).at(1000);
  const { writes } = screen;
  screen.resize(50, 24);
  for (let times = 0; times < 3; times++) {
    resized();
    clock.advance(200);
    story.output('step-0', 'more output '.repeat(9));
  }
  expect(screen.writes).toBe(writes);
  clock.advance(100);
  expect(screen.writes).toBe(writes + 1);
  expect(screen.text().split('\n').slice(1)).toEqual([
    '  ⠙ step-0     1s  │ some output some output som…',
    '  ○ step-1         waits for its turn',
    '  ○ step-2         waits for its turn',
    '  0/3 · 1 running · 2 waiting   1s   Ctrl-C stops',
  ]);
  reporter.end(recapOf());
});

test('a block at the top of the window is erased too', () => {
  const { screen, reporter, begin } = onScreen(80, 6);
  const story = begin(many(8)).start('step-0').output('step-0', 'some output '.repeat(9)).start('step-1').at(1000);
  screen.resize(30, 6);
  story.at(2000).finish('step-0').at(3000).finish('step-1');
  reporter.end(recapOf({ workflow: 'many' }));
  const remains = screen.text().match(/○/g) ?? [];
  expect(remains).toEqual([]);
});

test('a window that becomes narrower leaves no remains of the block', () => {
  const { screen, clock, reporter, begin } = onScreen(80, 24);
  begin(etl)
    .start('extract')
    .output('extract', `${'a long line of output '.repeat(5)}\n`)
    .at(200);
  screen.resize(30, 24);
  clock.advance(1000);
  expect(screen.text().split('\n').slice(1)).toEqual([
    '  ⠙ extract          1s',
    '  ○ validate',
    '  ○ load',
    '  ○ index',
    '  ○ weekly-only',
    '  ○ report',
    '  0/6 · 1 running · 5 waitin…',
  ]);
  reporter.end(recapOf());
  expect(screen.text()).toBe('▶ nightly-etl  01997c3e-1a2b\nSUCCEEDED nightly-etl in 14s');
});

test('a window of half the width leaves no remains, however many steps run', () => {
  const shape = fc.record({
    steps: fc.integer({ min: 2, max: 30 }),
    columns: fc.integer({ min: 41, max: 160 }),
    rows: fc.integer({ min: 5, max: 30 }),
    output: fc.integer({ min: 1, max: 12 }),
    pushesRows: fc.boolean(),
    before: fc.integer({ min: 0, max: 12 }),
  });
  fc.assert(
    fc.property(shape, ({ steps, columns, rows, output, pushesRows, before }) => {
      const { screen, clock, reporter, begin } = onScreen(columns, rows, { pushesRows });
      const story = begin(many(steps + before));
      for (let n = steps; n < steps + before; n++) story.start(`step-${n}`).finish(`step-${n}`);
      for (let n = 0; n < steps; n += 2) story.start(`step-${n}`).output(`step-${n}`, 'some output '.repeat(output));
      clock.advance(1000);
      screen.resize(Math.max(40, Math.ceil(columns / 2)), rows);
      clock.advance(1000);
      story.fail('step-0').at(3000);
      reporter.end(recapOf({ workflow: 'many' }));
      expect(screen.text()).not.toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏○]|running/);
    }),
  );
});

test('in tmux no narrower window leaves remains, from 40 columns up', () => {
  const shape = fc.record({
    steps: fc.integer({ min: 2, max: 12 }),
    columns: fc.integer({ min: 41, max: 250 }),
    widths: fc.array(fc.integer({ min: 40, max: 250 }), { minLength: 1, maxLength: 4 }),
    rows: fc.integer({ min: 8, max: 30 }),
    output: fc.integer({ min: 1, max: 20 }),
    before: fc.integer({ min: 0, max: 20 }),
  });
  fc.assert(
    fc.property(shape, ({ steps, columns, widths, rows, output, before }) => {
      const { screen, clock, reporter, begin } = onScreen(columns, rows, { pushesRows: true });
      const story = begin(many(steps + before));
      for (let n = steps; n < steps + before; n++) story.start(`step-${n}`).finish(`step-${n}`);
      for (let n = 0; n < steps; n += 2) story.start(`step-${n}`).output(`step-${n}`, 'some output '.repeat(output));
      clock.advance(1000);
      for (const width of widths) {
        screen.resize(width, rows);
        clock.advance(1000);
      }
      story.fail('step-0').at(9000);
      reporter.end(recapOf({ workflow: 'many' }));
      expect(screen.text()).not.toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏○]|running/);
    }),
  );
});

test('in tmux a detail has as many columns as the lines above it allow', () => {
  const { screen, clock, reporter, begin } = onScreen(200, 30, { pushesRows: true });
  const story = begin(many(9)).start('step-0').output('step-0', 'x'.repeat(300)).start('step-1');
  const width = () => /^.*xxx.*$/m.exec(screen.text())?.[0].length;
  clock.advance(1000);
  expect([width(), screen.text().includes('Ctrl-C stops')]).toEqual([39, true]);
  story.start('step-2').finish('step-2').start('step-3').finish('step-3');
  clock.advance(1000);
  expect(width()).toBe(119);
  reporter.end(recapOf({ workflow: 'many' }));
});

test('a step cannot control the terminal by its name, its message or its output', () => {
  const nasty = 'x\u001b[2J\u0007\ny';
  const { screen, reporter, begin } = onScreen();
  begin(workflow({ name: nasty, steps: [step(nasty), step('other')] }))
    .start(nasty)
    .output(nasty, `${nasty}\u001b]0;title\u0007\n`)
    .at(1000)
    .fail(nasty, nasty)
    .at(2000);
  reporter.end(recapOf({ workflow: nasty }));
  expect(screen.text().split('\n')[1]).toBe('  ✖ x^[[2J^G y   1.0s  x^[[2J^G y');
});
