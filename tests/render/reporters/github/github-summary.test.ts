import { expect, test } from 'vitest';
import { githubSummary } from '#render/reporters/github.ts';
import { step, workflow } from '../../../support/workflow.ts';
import { etl, etlEnd } from '../../support/etl.ts';
import { expectGolden } from '../../support/golden.ts';
import { failedSummary, runSummary, stepSummary } from '../../support/story.ts';

const mebibyte = 1024 * 1024;

test('a run is printed as in goldens/github-summary.txt', () => {
  expectGolden('github-summary', githubSummary(runSummary(etlEnd.summary), etl, mebibyte));
});

test('a tolerated failure looks different, unless the run is strict', () => {
  const steps = [failedSummary('a', { tolerated: 'failure' }), failedSummary('b')];
  const flow = workflow({ steps: [step('a'), step('b')] });
  const rows = (settings: { strict?: true }) =>
    githubSummary(runSummary({ steps, ...settings }), flow, mebibyte).match(/(?<=^\| [ab] \| )[^|]+(?= \|)/gm);
  expect(rows({})).toEqual(['failed (tolerated)', 'failed']);
  expect(rows({ strict: true })).toEqual(['failed', 'failed']);
});

test('names and messages can neither leave their cell nor add formatting', () => {
  const name = 'a|b <b>*x*</b> `c` [d](e) @f :tada: \n#g';
  const summary = runSummary({ steps: [failedSummary(name, { error: `${name}` })] });
  const row = githubSummary(summary, workflow({ steps: [step(name)] }), mebibyte)
    .split('\n')
    .find((line) => line.includes('| failed |'));
  expect(row?.match(/(?<!\\)\|/g)).toHaveLength(6);
  expect(row).not.toMatch(/[<>@]|(?<!\\)[*`[\]]/);
  expect(row).toContain('a&#124;b &#60;b&#62;\\*x\\*');
});

test('a large summary omits the graph, then steps, and keeps failed ones', () => {
  const names = Array.from({ length: 2000 }, (_, i) => `step ${i}`);
  const flow = workflow({ steps: names.map((name) => step(name)) });
  const steps = names.map((name, i) => (i === 1999 ? failedSummary(name) : stepSummary(name)));
  const whole = githubSummary(runSummary({ steps }), flow, mebibyte);
  expect(whole).not.toContain('```mermaid');
  expect(whole.split('\n').filter((line) => line.startsWith('| step '))).toHaveLength(2000);
  const cut = githubSummary(runSummary({ steps }), flow, 10_000);
  expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(10_000);
  expect(cut).toContain('| step 1999 | failed |');
  const rows = cut.split('\n').filter((line) => line.startsWith('| step ')).length;
  expect(cut).toContain(`\nand ${2000 - rows} more steps\n`);
  expect(githubSummary(runSummary({ steps }), flow, 10)).toBe('');
});
