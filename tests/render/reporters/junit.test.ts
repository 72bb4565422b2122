import { expect, test } from 'vitest';
import { junitReport } from '#render/reporters/junit.ts';
import fc from '../../support/fast-check.ts';
import { etlEnd } from '../support/etl.ts';
import { expectGolden } from '../support/golden.ts';
import { failedSummary, recapOf, stepSummary } from '../support/story.ts';
import { type Element, parseXml } from '../support/xml.ts';

const report = (...args: Parameters<typeof recapOf>) => parseXml(junitReport(recapOf(...args), '/project'));

function casesOf(root: Element): readonly Element[] {
  return root.children[0]?.children.filter(({ name }) => name === 'testcase') ?? [];
}

/** The result of each test case, without its output. */
function verdicts(root: Element) {
  return casesOf(root).map(({ attributes, children }) => {
    const [verdict] = children.filter(({ name }) => name !== 'system-out');
    return [attributes['name'], verdict?.name ?? 'passed', verdict?.attributes['message'] ?? ''];
  });
}

test('a run is printed as in goldens/junit.txt', () => {
  const { summary, positions, tails } = etlEnd;
  expectGolden('junit', junitReport(recapOf(summary, { positions, tails }), '/project'));
});

test('every status of a step has its verdict, and the counts match', () => {
  const root = report({
    status: 'failed',
    steps: [
      stepSummary('fine'),
      failedSummary('broken', { error: 'exit 3' }),
      stepSummary('stopped', { status: 'canceled', error: 'stopped by SIGINT' }),
      stepSummary('not started', { status: 'canceled', attempts: 0, error: 'canceled' }),
      stepSummary('weekly', { status: 'skipped', attempts: 0, error: 'it is Monday' }),
      stepSummary('after', { status: 'upstream_failed', attempts: 0, error: null }),
      stepSummary('never', { status: 'pending', attempts: 0 }),
    ],
  });
  expect(verdicts(root)).toEqual([
    ['fine', 'passed', ''],
    ['broken', 'failure', 'exit 3'],
    ['stopped', 'error', 'stopped by SIGINT'],
    ['not started', 'skipped', 'canceled'],
    ['weekly', 'skipped', 'it is Monday'],
    ['after', 'skipped', 'not run'],
    ['never', 'skipped', 'not reached'],
  ]);
  const counts = { tests: '7', failures: '1', errors: '1', skipped: '4' };
  expect(root.attributes).toEqual({ name: 'nightly-etl', time: '14.000', ...counts });
  expect(root.children[0]?.attributes).toMatchObject(counts);
});

test('a tolerated failure does not fail the report', () => {
  const root = report({ status: 'partially_succeeded', steps: [failedSummary('a', { tolerated: 'failure' })] });
  expect(verdicts(root)).toEqual([['a', 'skipped', 'failed, which is tolerated: exit 3']]);
});

test('a run that failed without a failed step fails the report', () => {
  const root = report({ status: 'failed', reason: 'error', error: 'env "A": exit 1', steps: [] });
  expect(verdicts(root)).toEqual([['nightly-etl', 'error', 'env "A": exit 1']]);
});

test('the last lines are in the failure and in its output, without colours', () => {
  const tails = new Map([['load', ['\u001b[31mred\u001b[0m', '  a < b & c']]]);
  const [found] = casesOf(report({ status: 'failed', steps: [failedSummary('load')] }, { tails }));
  expect(found?.children.map(({ name, text }) => [name, text])).toEqual([
    ['failure', 'red\n  a < b & c'],
    ['system-out', 'red\n  a < b & c'],
  ]);
});

test('any output and any names result in well-formed XML without loss of other characters', () => {
  const character = fc.oneof(
    fc.constantFrom(
      '<',
      '>',
      '&',
      '"',
      "'",
      ']]>',
      '<!--',
      '&#0;',
      '\u0000',
      '\u000b',
      '\ufffe',
      '\ud800',
      '\u2028',
      '\u{1f44d}',
    ),
    fc.string({ unit: 'binary', maxLength: 3 }),
  );
  const texts = fc.array(character, { maxLength: 8 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(texts, texts, texts, (name, error, line) => {
      const settings = { tails: new Map([[name, [`${line}$`]]]) };
      const root = report({ workflow: name, status: 'failed', steps: [failedSummary(name, { error })] }, settings);
      const [found] = casesOf(root);
      const kept = [...name]
        .filter((one) => /[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.test(one))
        .join('');
      expect(found?.attributes['name']).toBe(kept);
      expect(found?.children.at(-1)?.text.endsWith('$')).toBe(true);
    }),
  );
});

test.each([
  '<a><b></a></b>',
  '<a b="<"/>',
  '<a>&nbsp;</a>',
  '<a/><b/>',
  '<a>&#0;</a>',
  '<a>\u0000</a>',
  '<a b="1" b="2"/>',
])('the XML parser of the tests rejects %j', (document) => {
  expect(() => parseXml(document)).toThrow();
});
