import { expect, test } from 'vitest';
import { createPlainReporter } from '#render/reporters/plain.ts';
import type { Terminal } from '#render/reporters/reporter.ts';
import fc from '../../support/fast-check.ts';
import { step, workflow } from '../../support/workflow.ts';
import { etl, tellEtl } from '../support/etl.ts';
import { expectGolden } from '../support/golden.ts';
import { recapOf, recapOptions, runStart, tell } from '../support/story.ts';
import { recordingTerminal } from '../support/terminal.ts';

/** A plain reporter whose clock follows the story and whose deferred writes wait until `later` is run. */
function plain(settings: Partial<Omit<Terminal, 'write'>> = {}) {
  const recorded = recordingTerminal(settings);
  const deferred: (() => void)[] = [];
  let now = runStart;
  const reporter = createPlainReporter(recorded.terminal, {
    ...recapOptions,
    now: () => now,
    defer: (callback) => deferred.push(callback),
  });
  const moveTo = (at: number) => {
    now = at;
  };
  return { ...recorded, reporter, deferred, moveTo };
}

/** The lines of one step without time and prefix. */
function linesOfStep(text: string, name: string): readonly string[] {
  const marker = `[${name}]`;
  return text
    .split('\n')
    .flatMap((line) => (line.includes(marker) ? [line.slice(line.indexOf(marker) + marker.length).trim()] : []));
}

test.each([
  ['plain', {}],
  ['plain-color', { color: true }],
  ['plain-ascii', { unicode: false }],
])('a whole run is printed as in goldens/%s.txt', (golden, settings) => {
  const { reporter, moveTo, text } = plain(settings);
  tellEtl(reporter, { moveTo });
  expectGolden(golden, text());
});

test('events of one turn are written at once', () => {
  const { reporter, deferred, written } = plain();
  const names = Array.from({ length: 100 }, (_, index) => `step-${index}`);
  const story = tell(reporter, workflow({ steps: names.map((name) => step(name)) })).begin();
  for (const name of names) story.start(name).finish(name);
  expect([written.length, deferred.length]).toEqual([0, 1]);
  for (const callback of deferred) callback();
  expect([written.length, written[0]?.trimEnd().split('\n').length]).toEqual([1, 201]);
});

test('a flood of output is written before the end of the turn', () => {
  const { reporter, written } = plain();
  tell(reporter, etl).begin().start('load').output('load', 'x'.repeat(99).concat('\n').repeat(10_000));
  expect(written.length).toBeGreaterThan(10);
  expect(Math.max(...written.map((text) => text.length))).toBeLessThan(70_000);
});

test('all output is written when the reporter has ended, and nothing after it', () => {
  const { reporter, deferred, written, text } = plain();
  tell(reporter, etl).begin().start('load').output('load', 'no line end');
  reporter.end(recapOf());
  const end = text();
  for (const callback of deferred) callback();
  expect(linesOfStep(end, 'load')).toEqual(['START  python load.py', '| no line end']);
  expect([text(), written.at(-1)]).toEqual([end, 'SUCCEEDED nightly-etl in 14s\n']);
});

test('the start of an attempt names its worker', () => {
  const { reporter, text } = plain();
  tell(reporter, etl)
    .begin()
    .event((at) => ({ type: 'step.started', at, step: 'load', attempt: 1, process: null, worker: 'gpu-1\u001b' }));
  reporter.end(recapOf());
  expect(linesOfStep(text(), 'load')).toEqual(['START  python load.py on gpu-1^[']);
});

test('lines of parallel steps are not mixed', () => {
  const { reporter, text } = plain();
  tell(reporter, etl)
    .begin()
    .output('extract', 'first ')
    .output('load', 'other ')
    .output('extract', 'error\n', 'stderr')
    .output('extract', 'half\n')
    .output('load', 'line\n');
  reporter.end(recapOf());
  expect(linesOfStep(text(), 'extract')).toEqual(['| error', '| first half']);
  expect(linesOfStep(text(), 'load')).toEqual(['| other line']);
});

test('an attempt that ended within a line does not join the next attempt', () => {
  const { reporter, text } = plain();
  const story = tell(reporter, etl).begin().start('validate').output('validate', '\u001b[31mfirst');
  story.retry('validate', 0).start('validate', 2).output('validate', 'second\n', 'stdout', 2);
  reporter.end(recapOf());
  expect(linesOfStep(text(), 'validate')).toEqual([
    'START  bash: set -eu ...',
    '| \u001b[31mfirst\u001b[0m',
    'RETRY  now (attempt 2 of 3): exit 1 after 0.0s',
    'START  bash: set -eu ... (attempt 2 of 3)',
    '| second',
  ]);
});

test('a name cannot contain control sequences for the terminal', () => {
  const { reporter, text } = plain();
  const name = 'evil\u001b[2J\nname';
  tell(reporter, workflow({ name, steps: [step(name, { command: 'echo \u0007' })] }))
    .begin()
    .start(name)
    .finish(name);
  reporter.end(recapOf({ workflow: name }));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what must not be found
  expect(text()).not.toMatch(/[\x00-\x09\x0b-\x1f]/);
  expect(text()).toContain('[evil^[[2J name] OK');
});

test('each step has the same lines, however the output is cut and mixed', () => {
  const names = ['extract', 'load', 'index'];
  const texts = fc.array(fc.constantFrom('a', 'é', '日本', '👍', '\n', '\r', ' ', '\u001b[31m'), { maxLength: 20 });
  const chunk = fc.record({ step: fc.constantFrom(...names), size: fc.integer({ min: 1, max: 5 }) });
  fc.assert(
    fc.property(fc.tuple(texts, texts, texts), fc.array(chunk, { maxLength: 30 }), (written, chunks) => {
      const left = new Map(names.map((name, index) => [name, Buffer.from((written[index] ?? []).join(''))]));
      const whole = plain();
      for (const [name, bytes] of left) tell(whole.reporter, etl).output(name, bytes);
      whole.reporter.end(recapOf());

      const mixed = plain();
      const story = tell(mixed.reporter, etl);
      for (const { step: name, size } of chunks) {
        const bytes = left.get(name) ?? Buffer.alloc(0);
        story.output(name, bytes.subarray(0, size));
        left.set(name, bytes.subarray(size));
      }
      for (const [name, bytes] of left) story.output(name, bytes);
      mixed.reporter.end(recapOf());
      for (const name of names) expect(linesOfStep(mixed.text(), name)).toEqual(linesOfStep(whole.text(), name));
    }),
  );
});

/** The seconds of the times of all lines after the first, which has none. */
const secondsOf = (text: string) => Array.from(text.matchAll(/^10:(\d\d:\d\d) /gm), ([, time]) => time);

test('a line of output has the time at which it was written, and no line is earlier than the one before', () => {
  const { reporter, moveTo, text } = plain();
  const story = tell(reporter, etl, { moveTo }).begin().at(1000).start('load');
  const written = (ms: number, line: string) => {
    const bytes = Buffer.from(line);
    reporter.output({ step: 'load', attempt: 1, stream: 'output', bytes, at: runStart + ms });
  };
  story.at(5000);
  written(3000, 'one\n');
  written(4000, 'two\nthr');
  story.at(3500).start('check');
  written(4200, 'ee\n');
  story.finish('load').at(6000).finish('check');
  reporter.end(recapOf({ status: 'succeeded' }));
  expect(secondsOf(text())).toEqual(['31:03', '31:05', '31:06', '31:06', '31:06', '31:06', '31:08']);
});

test('times follow a clock that was set back', () => {
  const { reporter, text } = plain();
  tell(reporter, etl).begin().at(120_000).start('load').at(30_000).finish('load');
  reporter.end(recapOf({ status: 'succeeded' }));
  expect(secondsOf(text())).toEqual(['33:02', '31:32']);
});
