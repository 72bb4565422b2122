import { expect, test } from 'vitest';
import type { RunSummary } from '#core/summary/summary.ts';
import { createQuietReporter } from '#render/reporters/quiet.ts';
import { tellEtl } from '../support/etl.ts';
import { expectGolden } from '../support/golden.ts';
import { recapOf, recapOptions } from '../support/story.ts';
import { recordingTerminal } from '../support/terminal.ts';

/** The text printed at the end of a run. */
function printed(summary: Partial<RunSummary>): string {
  const { terminal, text } = recordingTerminal();
  createQuietReporter(terminal, recapOptions).end(recapOf(summary));
  return text();
}

test('a failed run prints only its recap, as in goldens/quiet.txt', () => {
  const { terminal, text } = recordingTerminal();
  const reporter = createQuietReporter(terminal, recapOptions);
  tellEtl(reporter);
  expect(reporter.wantsOutput).toBe(false);
  expectGolden('quiet', text());
});

test.each(['succeeded', 'partially_succeeded'] as const)('a run that %s prints nothing', (status) => {
  expect(printed({ status })).toBe('');
});

test.each(['failed', 'canceled', 'skipped'] as const)('a run that was %s is printed', (status) => {
  expect(printed({ status })).toBe(`${status.toUpperCase()} nightly-etl in 14s\n`);
});

test('a warning is always printed', () => {
  expect(printed({ warnings: ['no mail'] })).toBe('SUCCEEDED nightly-etl in 14s\nwarning: no mail\n');
});
