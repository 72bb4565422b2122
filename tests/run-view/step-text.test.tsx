import { expect, it } from 'vitest';
import { markup } from '#render/report.tsx';
import { FailureList } from '#run-view/failure-box.tsx';
import { attemptsText } from '#run-view/texts.ts';

it('attempts of a repeating step are named repetitions, and retries of them attempts', () => {
  const texts = [{ attempts: 1 }, { attempts: 3 }, { attempts: 3, repetitions: 3 }, { attempts: 4, repetitions: 3 }];
  expect(texts.map(attemptsText)).toEqual(['', '3 attempts', '3 repetitions', '3 repetitions in 4 attempts']);
});

const failure = {
  path: ['deploy[eu]', 'push'],
  runId: 'r2',
  step: 'push',
  key: null,
  reason: null,
  error: 'exit 7',
  exitCode: 7,
  signal: null,
  attempts: 2,
  place: null,
  lines: ['pushing', '10%\r20%\rdenied'],
  log: null,
  command: 'wf logs r2 push',
};

it('a failure has the path of its steps, the reason, what tolerates it, its last lines and a link', () => {
  const failures = [failure, { ...failure, path: ['noted'], step: 'noted', tolerated: 'output' as const, lines: [] }];
  const text = markup(
    <FailureList
      view={{ failures, moreFailures: 2 }}
      hrefOf={({ step }) => `#${step}`}
      positionOf={() => 'one.yaml:7:5'}
    />,
  );
  const [first = '', second = ''] = text.split('<article').slice(1);
  expect(first).toContain('<a href="#push"><bdi>deploy[eu] > push</bdi></a>');
  expect(first).toContain('exit 7 after 2 attempts');
  expect(first).toContain('at one.yaml:7:5');
  expect(first).toContain('aria-label="Last lines of push">pushing\ndenied\n');
  expect(first).not.toContain('tolerated');
  expect(first).toContain('class="icon failed"');
  expect(second).toContain('class="icon tolerated"');
  expect(second).toContain('tolerated by <code>continueOn.output</code>');
  expect(second).toContain('and 2 more failed');
});
