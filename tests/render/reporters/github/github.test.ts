import { expect, test } from 'vitest';
import { createGithubReporter } from '#render/reporters/github.ts';
import type { Recap } from '#render/reporters/reporter.ts';
import fc from '../../../support/fast-check.ts';
import { step, workflow } from '../../../support/workflow.ts';
import { etl, tellEtl } from '../../support/etl.ts';
import { readAsRunner } from '../../support/github-runner.ts';
import { expectGolden } from '../../support/golden.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { failedSummary, recapOf, recapOptions, runStart, stepSummary, tell } from '../../support/story.ts';
import { recordingTerminal } from '../../support/terminal.ts';

function github() {
  const recorded = recordingTerminal();
  const clock = new ManualClock(runStart);
  const summarized: Recap[] = [];
  let tokens = 0;
  const reporter = createGithubReporter(recorded.terminal, {
    ...recapOptions,
    clock,
    workspace: '/project',
    token: () => `token${++tokens}`,
    summarize: (recap) => summarized.push(recap),
  });
  return { ...recorded, reporter, clock, summarized, lastToken: () => `token${tokens}` };
}

const commandsOf = (log: string) => readAsRunner(log).map(({ name }) => name);

test('a whole run is printed as in goldens/github.txt', () => {
  const { reporter, text, summarized } = github();
  tellEtl(reporter);
  expectGolden('github', text());
  expect(summarized.map(({ summary }) => summary.status)).toEqual(['failed']);
});

test('each finished step is printed whole in its own group, even if steps run in parallel', () => {
  const { reporter, text } = github();
  tell(reporter, etl)
    .begin()
    .start('extract')
    .start('load')
    .output('extract', 'one\n')
    .output('load', 'two\n')
    .output('extract', 'three\n')
    .finish('extract')
    .finish('load');
  const groups = text().split('::group::').slice(1);
  expect(groups.map((group) => group.split('\n').filter((line) => /^(one|two|three|extract|load)/.test(line)))).toEqual(
    [
      ['extract OK 0.0s', 'one', 'three'],
      ['load OK 0.0s', 'two'],
    ],
  );
});

test('failures are printed last, outside groups, with an annotation at their line', () => {
  const { reporter, text } = github();
  tell(reporter, etl).begin().start('load').output('load', 'boom\n').fail('load').start('index').finish('index');
  expect(text()).not.toContain('boom');
  const position = { file: '/project/a,b.yaml', start: { line: 14, column: 5 }, end: { line: 14, column: 9 } };
  reporter.end(
    recapOf(
      {
        status: 'failed',
        reason: 'step',
        steps: [failedSummary('load', { error: 'exit 3: 100%' }), stepSummary('index')],
      },
      { positions: new Map([['load', position]]), tails: new Map([['load', ['boom', '\u001b[31mcrash\u001b[0m']]]) },
    ),
  );
  const end = text().slice(text().lastIndexOf('::endgroup::'));
  expect(end.indexOf('\nboom\n')).toBeGreaterThan(0);
  expect(end).not.toContain('::group::');
  expect(readAsRunner(text()).at(-1)?.line).toBe(
    '::error file=a%2Cb.yaml,line=14,col=5,endLine=14,endColumn=8,title=load::exit 3: 100%25%0Aboom%0Acrash',
  );
});

test('a tolerated failure is a warning, as are the warnings of the run', () => {
  const { reporter, text } = github();
  const tolerant = workflow({ steps: [step('a', { continueOn: { failure: true, skipped: false } })] });
  tell(reporter, tolerant).begin().start('a').fail('a');
  reporter.end(
    recapOf({
      status: 'partially_succeeded',
      steps: [failedSummary('a', { tolerated: 'failure' })],
      warnings: ['no mail'],
    }),
  );
  const annotations = readAsRunner(text()).filter(({ name }) => name === 'warning' || name === 'error');
  expect(annotations.map(({ line }) => line)).toEqual(['::warning::no mail', '::warning title=a::exit 3']);
});

test('a run that fails without a failed step is annotated too', () => {
  const { reporter, text } = github();
  tell(reporter, etl).begin();
  reporter.end(recapOf({ status: 'failed', reason: 'timeout', error: 'timed out after 5s' }));
  expect(text()).toContain('::error title=nightly-etl::timed out after 5s\n');
});

test('a step that never ran is printed in one line', () => {
  const { reporter, text } = github();
  tell(reporter, etl).begin().finish('report', { status: 'upstream_failed', attempt: 0, message: '"load" failed' });
  expect(text().split('\n').at(-2)).toBe('10:31:02 [report] NOTRUN "load" failed');
});

test('a silent run prints its progress every 30 seconds', () => {
  const { reporter, text, clock } = github();
  tell(reporter, etl).begin().start('load').start('index');
  clock.advance(29_000);
  expect(text()).not.toContain('running:');
  clock.advance(32_000);
  expect(text().match(/^.*running: .*$/gm)).toEqual([
    '10:31:32 running: load (30s), index (30s)',
    '10:32:02 running: load (1m00s), index (1m00s)',
  ]);
  reporter.end(recapOf());
  expect(clock.pending()).toBe(0);
});

test('of a very long output the start and the end are kept, with the size of the gap', () => {
  const { reporter, text } = github();
  const story = tell(reporter, etl).begin().start('load');
  for (let i = 0; i < 100; i++) story.output('load', `${`line ${i} `.padEnd(99, 'x')}\n`.repeat(1000));
  story.finish('load');
  expect(text().length).toBeLessThan(1_200_000);
  expect(text()).toContain('line 0 x');
  expect(text()).toContain('line 99 x');
  const [, missing] = /\[(\d+) lines are left out here/.exec(text()) ?? [];
  const shown = text()
    .split('\n')
    .filter((line) => line.startsWith('line ')).length;
  expect(Number(missing) + shown).toBe(100_000);
});

/** Stands for the last token that the log shows: a step can read the log, but cannot guess the next token. */
const usedToken = 'USED-TOKEN';

const hostile = fc
  .array(
    fc.constantFrom(
      '::',
      'error',
      'set-env name=X',
      '##[',
      ']',
      ' ',
      '\n',
      '\r',
      '\r\n',
      'stop-commands',
      usedToken,
      'a',
      '\t',
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

test('nothing that a step prints, and no name or message, is a command', () => {
  fc.assert(
    fc.property(fc.array(hostile, { minLength: 1, maxLength: 4 }), hostile, hostile, (outputs, name, message) => {
      const { reporter, text, lastToken } = github();
      const flow = workflow({ name: `w${name}`, steps: [step(`a${name}`, { command: message }), step(`b${name}`)] });
      const story = tell(reporter, flow).begin([{ name: null, value: message }]);
      for (const which of [`a${name}`, `b${name}`]) {
        story.start(which);
        for (const output of outputs) {
          const written = output.replaceAll(usedToken, lastToken());
          story.output(which, written).output(which, written, 'stderr');
        }
        if (which === `a${name}`) story.finish(which);
      }
      story.fail(`b${name}`, message);
      reporter.end(
        recapOf({
          status: 'failed',
          error: message,
          workflow: name,
          steps: [failedSummary(`b${name}`, { error: message })],
        }),
      );
      const commands = commandsOf(text()).filter((command) => command !== 'stop-commands');
      expect(commands).toEqual(['group', 'endgroup', 'error']);
    }),
  );
});

test('a token that was already printed does not end a later fence', () => {
  const { reporter, text, lastToken } = github();
  const story = tell(reporter, etl).begin().start('load').output('load', 'one\n').finish('load');
  const [firstToken, forged] = [lastToken(), `::${lastToken()}::\n::error::no\n`];
  story.start('index').output('index', forged).finish('index');
  expect(text()).toContain(forged);
  expect(lastToken()).not.toBe(firstToken);
  expect(commandsOf(text()).filter((command) => command === 'error')).toEqual([]);
});

test('the parser of logs finds commands', () => {
  const log =
    'a ::error::no\n  ::error::yes\nx ##[warning]old\n::stop-commands::t\n::error::no\n::t::\rb\r::notice::yes';
  expect(commandsOf(log)).toEqual(['error', 'warning', 'stop-commands', 'notice']);
});
