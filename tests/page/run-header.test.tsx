import { expect, test } from 'vitest';
import { markup } from '#render/report.tsx';
import type { RunHead } from '#run-view/api/types.ts';
import { RunHeader } from '#run-view/run-header.tsx';
import { runHead } from './data/held-daemon.ts';

test('the header of a finished run without a start has no duration', () => {
  const head = { ...runHead('r'), status: 'failed', startedAt: null, durationMs: null } as const;
  const textOf = (finishedAt: string | null) =>
    markup(<RunHeader run={{ ...head, finishedAt }} steps={[]} now={Date.parse(head.createdAt) + 5000} name="etl" />);

  expect(textOf(head.createdAt)).toContain('<strong>Failed</strong>');
  expect(textOf(null)).toContain('<strong>Failed for 5s</strong>');
});

test('the header of a running run compares its time with the usual one', () => {
  const textOf = (changes: object, usualMs: number | null) => {
    const run = {
      ...runHead('r'),
      status: 'running',
      startedAt: runHead('r').createdAt,
      durationMs: null,
      finishedAt: null,
      ...changes,
    };
    const now = Date.parse(run.createdAt) + 12_000;
    return markup(<RunHeader run={run as RunHead} steps={[]} now={now} usualMs={usualMs} name="etl" />);
  };

  expect(textOf({}, 125_000)).toContain('<strong>Running for 12s of ~2m05s</strong>');
  expect(textOf({}, null)).toContain('<strong>Running for 12s</strong>');
  expect(textOf({ status: 'queued' }, 125_000)).not.toContain('2m05s');
  expect(textOf({ status: 'succeeded', durationMs: 9000 }, 125_000)).toContain('<strong>Succeeded after 9.0s</strong>');
});
