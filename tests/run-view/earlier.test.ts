import { expect, test } from 'vitest';
import { earlierNote, earlierRunOf } from '#run-view/texts.ts';

type Step = Parameters<typeof earlierNote>[0];

const step = (status: Step['status'], durationMs: number | null): Step => ({ name: 'load', status, durationMs });
const note = (now: Step, before: Step) => earlierNote(now, earlierRunOf({ runId: 'r', steps: [before], handlers: [] }));

test.each([
  [step('succeeded', 5200), step('succeeded', 4000), '+1.2s'],
  [step('succeeded', 4000), step('succeeded', 5200), '−1.2s'],
  [step('failed', 10), step('succeeded', 9000), 'was succeeded'],
  [step('skipped', null), step('failed', 10), 'was failed'],
  [step('succeeded', 90), step('succeeded', 1), ''],
  [step('succeeded', 60_900), step('succeeded', 60_000), ''],
  [step('running', null), step('succeeded', 10), ''],
  [step('pending', null), step('failed', 10), ''],
])('the note for %j after %j is %j', (now, before, text) => {
  expect(note(now, before)).toBe(text);
});

test('without an earlier run, or the step in it, there is no note', () => {
  expect(earlierNote(step('failed', 1), null)).toBe('');
  expect(
    earlierNote(
      { ...step('failed', 1), name: 'new' },
      earlierRunOf({ runId: 'r', steps: [step('failed', 1)], handlers: [] }),
    ),
  ).toBe('');
});
