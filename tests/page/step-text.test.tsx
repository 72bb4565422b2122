import { expect, it } from 'vitest';
import { FailureBox } from '../../src/page/run-view/failure-box.tsx';
import { attemptsText } from '../../src/page/run-view/step-text.ts';
import { markup } from '../../src/render/report/markup.ts';

it('attempts of a repeating step are named repetitions, and retries of them attempts', () => {
  const texts = [{ attempts: 1 }, { attempts: 3 }, { attempts: 3, repetitions: 3 }, { attempts: 4, repetitions: 3 }];
  expect(texts.map(attemptsText)).toEqual(['', '3 attempts', '3 repetitions', '3 repetitions in 4 attempts']);
});

it('a failure names the key that tolerates it, except in a strict run', () => {
  const step = { name: 'noted', error: 'exit 2', attempts: 2, tolerated: 'output' } as const;
  const textOf = (isStrict: boolean) => markup(<FailureBox step={step} isStrict={isStrict} href={null} />);

  expect(textOf(false)).toContain('exit 2 after 2 attempts');
  expect(textOf(false)).toContain('tolerated by <code>continueOn.output</code>');
  expect(textOf(true)).not.toContain('tolerated');
});
