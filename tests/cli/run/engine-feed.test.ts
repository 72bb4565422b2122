import { expect, test } from 'vitest';
import { EngineFeed } from '#cli/run/foreground.ts';
import { createOutput } from '#cli/terminal/console.ts';
import { buildGraph } from '#core/graph.ts';
import type { StoredEvent } from '#core/run/run.ts';
import { initialRun } from '#core/run/run-state.ts';
import { nextTurn } from '#system/turns.ts';
import { step, workflow } from '../../support/workflow.ts';

/** A feed, and the sequence numbers of the events that its reporter was given. */
function feedOf({ kept }: { kept: boolean }) {
  const shown: number[] = [];
  const reporter = {
    wantsOutput: false,
    begin: () => {},
    event: ({ seq }: StoredEvent) => void shown.push(seq),
    output: () => {},
    end: () => void shown.push(Number.POSITIVE_INFINITY),
  };
  const out = createOutput(1, () => {});
  const described = workflow({ steps: [step('a')] });
  const feed = new EngineFeed({ reporter, out, kept }, { workflow: described, sources: [] });
  const state = initialRun(buildGraph(described), described);
  const watch = (seq: number) => feed.watch({ seq, type: 'run.warned', at: 0, step: null, message: '' }, state);
  return { shown, watch, end: () => feed.end(state) };
}

test('events are shown in order, in the turn after the one that may start the next step', async () => {
  const { shown, watch } = feedOf({ kept: true });
  for (const seq of [1, 2]) watch(seq);
  await Promise.resolve();
  expect(shown).toEqual([]);
  await nextTurn();
  expect(shown).toEqual([1, 2]);
  watch(3);
  expect(shown).toEqual([1, 2]);
  await nextTurn();
  expect(shown).toEqual([1, 2, 3]);
});

test('the recap comes after the events before it', async () => {
  const { shown, watch, end } = feedOf({ kept: true });
  watch(1);
  await end();
  expect(shown).toEqual([1, Number.POSITIVE_INFINITY]);
});

test('events of a run that is not stored are shown at once, while its logs exist', () => {
  const { shown, watch } = feedOf({ kept: false });
  watch(1);
  expect(shown).toEqual([1]);
});
