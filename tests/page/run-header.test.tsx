import { expect, test } from 'vitest';
import { RunHeader } from '../../src/page/run-view/header.tsx';
import { markup } from '../../src/render/report/markup.ts';
import { runHead } from './data/held-daemon.ts';

test('the header of a finished run without a start has no duration', () => {
  const head = { ...runHead('r'), status: 'failed', startedAt: null, durationMs: null } as const;
  const textOf = (finishedAt: string | null) =>
    markup(
      <RunHeader run={{ ...head, finishedAt }} counts={new Map()} now={Date.parse(head.createdAt) + 5000} name="etl" />,
    );

  expect(textOf(head.createdAt)).toContain('<strong>Failed</strong>');
  expect(textOf(null)).toContain('<strong>Failed for 5s</strong>');
});
