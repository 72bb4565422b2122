import { Chalk } from 'chalk';
import { describe, expect, test } from 'vitest';
import type { Prompt } from '#render/reporters/reporter.ts';
import { createTreeReporter, promptLines } from '#render/reporters/tree/tree.ts';
import { stripControls } from '#render/text/sanitize.ts';
import { textWidth } from '#render/text/width.ts';
import fc from '../../../support/fast-check.ts';
import { VirtualScreen } from '../../../support/virtual-screen.ts';
import { step, workflow } from '../../../support/workflow.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { recapOptions, runStart, tell } from '../../support/story.ts';

const prompt: Prompt = { question: 'go waits', fault: null, label: 'WHY:', typed: 'abc', cursor: 3 };
const plain = { colors: new Chalk({ level: 0 }), glyphs: { ellipsis: '…' } };

describe('a question below the live block', () => {
  test('remains there while lines scroll, shows typed text, and is erased at the end', () => {
    const two = workflow({ name: 'w', steps: [step('load'), step('other')] });
    const screen = new VirtualScreen(60, 20);
    const clock = new ManualClock(runStart);
    const terminal = { isTerminal: true, color: false, unicode: true, write: screen.write, size: screen.size };
    const signs = { title: false, progress: false };
    const reporter = createTreeReporter(terminal, { ...recapOptions, clock, output: null, signs });
    const story = tell(reporter, two, { moveTo: (at) => clock.advance(at - clock.now()) })
      .begin()
      .start('load')
      .start('other');
    story.at(200);
    reporter.prompt?.(prompt);
    expect(screen.text().trimEnd().split('\n').slice(-3)).toEqual([
      expect.stringContaining('Ctrl-C stops'),
      'go waits',
      'WHY: abc_',
    ]);
    story.finish('load');
    reporter.prompt?.({ ...prompt, fault: 'wrong', typed: 'ab', cursor: 0 });
    story.at(500);
    const lines = screen.text().trimEnd().split('\n');
    expect(lines.slice(-3)).toEqual(['go waits', 'wrong', 'WHY: ab']);
    expect(lines.filter((line) => line.startsWith('WHY'))).toHaveLength(1);
    reporter.prompt?.(null);
    expect(screen.text()).not.toMatch(/WHY|go waits/);
  });

  test('shows the part of a long line around the cursor', () => {
    const typed = 'abcdefghijklmnopqrstuvwxyz';
    const at = (cursor: number) => promptLines({ ...prompt, typed, cursor }, 20, plain).at(-1);
    expect([at(26), at(0), at(13)]).toEqual(['WHY: opqrstuvwxyz_', 'WHY: abcdefghijklm', 'WHY: bcdefghijklmn']);
  });

  test('is narrower than the terminal, whatever is typed, and contains no control characters', () => {
    const text = fc.string({ unit: 'binary', maxLength: 40 });
    const any = fc.record({ question: text, fault: fc.option(text), label: text, typed: text, cursor: fc.nat(40) });
    const check = (made: Prompt, columns: number) => {
      for (const line of promptLines({ ...made, cursor: Math.min(made.cursor, made.typed.length) }, columns, plain)) {
        expect(stripControls(line)).toBe(line);
        expect(textWidth(line)).toBeLessThan(columns);
      }
    };
    fc.assert(fc.property(any, fc.integer({ min: 12, max: 60 }), check));
  });
});
