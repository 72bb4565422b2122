import { describe, expect, test } from 'vitest';
import type { OutputMode } from '#render/reporters/held-lines.ts';
import type { TerminalSigns } from '#render/reporters/tree/live-region.ts';
import { createTreeReporter } from '#render/reporters/tree/tree.ts';
import { VirtualScreen } from '../../../support/virtual-screen.ts';
import { handler, step, workflow } from '../../../support/workflow.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { recapOf, recapOptions, runStart, tell } from '../../support/story.ts';

const two = workflow({ name: 'w', steps: [step('load'), step('other')] });
const commands = { logs: true, retry: true };
const noSigns = { title: false, progress: false };

function onScreen({
  output = null,
  signs = noSigns,
  columns = 80,
}: {
  output?: OutputMode;
  signs?: TerminalSigns;
  columns?: number;
} = {}) {
  const screen = new VirtualScreen(columns, 60);
  const clock = new ManualClock(runStart);
  const { write, size } = screen;
  const terminal = { isTerminal: true, color: false, unicode: true, write, size };
  const reporter = createTreeReporter(terminal, { ...recapOptions, commands, clock, output, signs });
  return { screen, clock, reporter, moveTo: (at: number) => clock.advance(at - clock.now()) };
}

function linesOf(count: number): string {
  return Array.from({ length: count }, (_, n) => `line ${n + 1}\n`).join('');
}

/** The lines on the screen after a step that has printed `count` lines. */
function left(count: number, output: OutputMode, fails = false, columns = 80): readonly string[] {
  const { screen, reporter, moveTo } = onScreen({ output, columns });
  const story = tell(reporter, two, { moveTo }).begin().start('load').start('other').output('load', linesOf(count));
  if (fails) story.fail('load');
  else story.finish('load');
  story.at(500);
  const all = screen.text().split('\n');
  const from = all.findIndex((line) => line.includes('load ')) + 1;
  return all.slice(from, all.length - 2).map((line) => line.trim());
}

const last = (count: number) => Array.from({ length: 10 }, (_, n) => `│ line ${count - 9 + n}`);

describe('a finished step prints', () => {
  test('up to twenty lines completely', () => {
    expect(left(20, null)).toEqual(
      linesOf(20)
        .trimEnd()
        .split('\n')
        .map((line) => `│ ${line}`),
    );
  });

  test('the last ten of more lines, and the command for the rest', () => {
    expect(left(490, null)).toEqual(['… 480 lines more: wf logs 01997c3e-1a2b load', ...last(490)]);
  });

  test('no command that would be cut by the terminal', () => {
    expect(left(490, null, false, 40)[0]).toBe('… 480 lines more');
  });

  test('all lines with full, ten with last, none with none', () => {
    expect(left(490, 'full')).toHaveLength(490);
    expect(left(11, 'last')).toEqual(['… 1 line more: wf logs 01997c3e-1a2b load', ...last(11)]);
    expect(left(490, 'none')).toEqual([]);
  });

  test('with errors only the output of a failed step', () => {
    expect(left(3, 'errors')).toEqual([]);
    expect(left(3, 'errors', true)).toEqual(['│ line 1', '│ line 2', '│ line 3']);
  });

  test('only the output of its last attempt', () => {
    const { screen, reporter, moveTo } = onScreen();
    tell(reporter, two, { moveTo })
      .begin()
      .start('load')
      .output('load', 'first\n')
      .retry('load', 1000)
      .at(1000)
      .start('load', 2)
      .output('load', 'second\n', 'stdout', 2)
      .finish('load', { attempt: 2 })
      .at(2000);
    expect(screen.text()).toContain('│ second');
    expect(screen.text()).not.toContain('│ first');
  });
});

describe('the lines of a failed step', () => {
  const tails = new Map([['load', ['no such table']]]);
  const failed = { status: 'failed', reason: 'exit', error: 'exit 3', exitCode: 3, log: 'l' } as const;
  const end = (steps = [{ ...stepOf('load'), ...failed }]) =>
    recapOf({ workflow: 'w', status: 'failed', reason: 'step', steps }, { tails });
  const countOf = (text: string, part: string) => text.split(part).length - 1;

  test.each([
    [null, two],
    ['errors', two],
    ['full', two],
    [null, workflow({ name: 'w', steps: [step('load')] })],
  ] as const)('are printed once with --output %s', (output, shape) => {
    const { screen, reporter, moveTo } = onScreen({ output });
    tell(reporter, shape, { moveTo }).begin().start('load').output('load', 'no such table\n').fail('load').at(500);
    reporter.end(end());
    expect(countOf(screen.text(), 'no such table')).toBe(1);
    expect(screen.text()).toMatch(/✖ load {3}exit 3\n {2}logs: wf logs 01997c3e-1a2b load$/m);
  });

  test('are printed by the recap if the tree leaves them out', () => {
    const { screen, reporter, moveTo } = onScreen({ output: 'none' });
    tell(reporter, two, { moveTo }).begin().start('load').output('load', 'no such table\n').fail('load').at(500);
    reporter.end(end());
    expect(screen.text()).toMatch(/✖ load {3}exit 3\n {2}│ no such table\n/);
    expect(countOf(screen.text(), 'no such table')).toBe(1);
  });
});

test('each row of a long line has the bar', () => {
  const { screen, reporter, moveTo } = onScreen({ columns: 32 });
  const story = tell(reporter, two, { moveTo }).begin().start('load').start('other');
  story
    .output('load', `\u001b[31m${'word '.repeat(9)}\n`)
    .finish('load')
    .at(500);
  expect(screen.text().split('\n').slice(1, 4)).toEqual([
    '  ✔ load    0.0s',
    '    │ word word word word word',
    '    │ word word word word',
  ]);
});

test('the lines of a child run are indented under its step', () => {
  const child = workflow({ name: 'child', steps: [step('compile'), step('pack')] });
  const { screen, reporter, moveTo } = onScreen();
  const story = tell(reporter, two, { moveTo }).begin().start('load').start('other');
  const inner = reporter.child?.({ runId: 'c1', workflow: child, path: ['load'] });
  if (inner === undefined) throw new Error('The tree shows no child runs.');
  const of = tell({ ...reporter, ...inner, begin: () => undefined }, child, { moveTo: () => undefined }).begin();
  of.start('compile').output('compile', 'made it\n').finish('compile').start('pack');
  story.at(1200);
  expect(screen.text().split('\n').slice(1)).toEqual([
    '  ⠙ load      1s',
    '    ✔ compile   0.0s',
    '    ⠙ pack        1s',
    '  ⠙ other     1s',
    '  0/2 · 2 running   1s   Ctrl-C stops',
  ]);
  of.fail('pack');
  story.output('load', '{"name":"child"}\n').at(2000).fail('load', 'step "pack": exit 3').at(2500);
  expect(screen.text().split('\n').slice(1, 5)).toEqual([
    '  ✖ load    2.0s  step "pack": exit 3',
    '    ✔ compile   0.0s',
    '      │ made it',
    '    ✖ pack      0.0s  exit 3',
  ]);
});

test('a handler is aligned with the column of times', () => {
  const { screen, reporter, moveTo } = onScreen();
  const shape = workflow({ name: 'w', steps: [step('a')], handlers: { success: handler('success', {}) } });
  tell(reporter, shape, { moveTo })
    .begin()
    .start('a')
    .finish('a')
    .event((at) => ({ type: 'run.handling', at, status: 'succeeded', reason: null, handlers: ['success'] }))
    .start('handlerOn.success')
    .finish('handlerOn.success')
    .at(500);
  const columns = screen
    .text()
    .match(/^.*0\.0s/gm)
    ?.map((line) => line.length);
  expect(columns).toEqual([columns?.[0], columns?.[0]]);
});

test('a name of 3,000 letters is cut, on a terminal and in the recap', () => {
  const name = 'x'.repeat(3000);
  const { screen, reporter, moveTo } = onScreen();
  const shape = workflow({ name, steps: [step(name), step('other')] });
  tell(reporter, shape, { moveTo }).begin().start(name).fail(name).at(500);
  const failed = { status: 'failed', reason: 'exit', error: 'exit 3', exitCode: 3, log: 'l' } as const;
  reporter.end(recapOf({ workflow: name, status: 'failed', reason: 'step', steps: [{ ...stepOf(name), ...failed }] }));
  expect(screen.text()).not.toMatch(/x{101}/);
  expect(screen.text()).toContain('logs: wf logs 01997c3e-1a2b\n');
});

function stepOf(name: string) {
  const nothing = { reason: null, error: null, exitCode: null, signal: null, startedAt: null, finishedAt: null };
  return { ...nothing, name, status: 'succeeded' as const, attempts: 1, durationMs: null, outputs: {}, log: null };
}

describe('the title and the progress of the terminal', () => {
  const signs = { title: true, progress: true };

  test('follow the run and are reset at its end', () => {
    const { screen, reporter, moveTo } = onScreen({ signs });
    const story = tell(reporter, two, { moveTo }).begin().start('load').start('other').at(200);
    expect([screen.title, screen.progress, screen.keepsTitle]).toEqual(['0/2 w', '1;0', true]);
    story.fail('load').at(500);
    expect([screen.title, screen.progress]).toEqual(['1/2 w', '2;50']);
    reporter.end(recapOf());
    expect([screen.title, screen.progress, screen.keepsTitle]).toEqual(['', '0;0', false]);
  });

  test('are reset, with the cursor, when the reporter is abandoned', () => {
    const { screen, reporter, clock, moveTo } = onScreen({ signs });
    tell(reporter, two, { moveTo }).begin().start('load').at(200);
    expect(screen.isCursorVisible).toBe(false);
    screen.write(reporter.abandon?.() ?? '');
    expect([screen.title, screen.progress, screen.isCursorVisible, clock.pending()]).toEqual(['', '0;0', true, 0]);
  });

  test('contain no sequence of a name that could end them', () => {
    const { screen, reporter, moveTo } = onScreen({ signs });
    const shape = workflow({ name: 'evil\u0007\u001b[2J', steps: [step('load')] });
    tell(reporter, shape, { moveTo }).begin().start('load').at(200);
    expect(screen.title).toBe('0/1 evil^G^[[2J');
  });

  test('are not changed on terminals without support for them', () => {
    const { screen, reporter, moveTo } = onScreen();
    tell(reporter, two, { moveTo }).begin().start('load').at(200);
    reporter.end(recapOf());
    expect([screen.title, screen.progress, screen.keepsTitle]).toEqual([null, '0;0', false]);
  });
});
