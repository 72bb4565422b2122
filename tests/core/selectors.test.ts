import { describe, expect, it } from 'vitest';
import { joinedLabels, labelsText, readLabels, selectedLabels } from '#core/selectors.ts';
import fc from '../support/fast-check.ts';
import { step, workflow } from '../support/workflow.ts';

const part = fc.stringMatching(/^[a-z][a-z0-9._/-]{0,8}$/);

describe('labels', () => {
  it('are read as they are written, in any order', () => {
    fc.assert(
      fc.property(fc.dictionary(part, part, { minKeys: 1, maxKeys: 5 }), (labels) => {
        expect(readLabels(labelsText(labels))).toEqual({ labels });
        expect(readLabels(labelsText(labels).split(',').reverse().join(', '))).toEqual({ labels });
      }),
    );
  });

  it.each([
    ['', '"" is not a label: write NAME=VALUE'],
    ['gpu', '"gpu" is not a label: write NAME=VALUE'],
    ['gpu=', 'the label "gpu" is empty'],
    ['=x', '"" is not the name of a label'],
    ['a b=x', '"a b" is not the name of a label'],
    ['a=b c', '"b c" is not the value of a label'],
    ['a=b=c', '"b=c" is not the value of a label'],
    ['a=1,a=2', 'it has the label "a" twice'],
    [`a=${'x'.repeat(61)}`, 'is not the value of a label'],
  ])('"%s" is refused', (text, problem) => {
    expect(readLabels(text)).toEqual({ problem: expect.stringContaining(problem) });
  });
});

describe('the labels that steps need', () => {
  const steps = [step('a', { workerSelector: { zone: '$ZONE', gpu: 'true' } }), step('b')];
  const read = (zone: string) => selectedLabels(workflow({ steps }), (name) => (name === 'ZONE' ? zone : undefined));

  it('take variables', () => {
    expect(read('eu')).toEqual({ labels: { a: 'gpu=true,zone=eu' } });
  });

  it.each([
    ['', 'workerSelector of step "a": the label "zone" is empty'],
    ['a,b', 'workerSelector of step "a": "a,b" is not the value of a label'],
  ])('are refused with the value "%s"', (zone, problem) => {
    expect(read(zone)).toEqual({ problem: expect.stringContaining(problem) });
  });
});

it.each([
  [[], { labels: '' }],
  [['gpu=true,zone=eu', '', 'os=linux,zone=eu'], { labels: 'gpu=true,os=linux,zone=eu' }],
  [
    ['zone=eu', 'gpu=true,zone=us'],
    { problem: 'one worker executes all steps of this run, and cannot have both zone=eu and zone=us' },
  ],
])('the labels %j of one worker', (texts, joined) => {
  expect(joinedLabels(texts)).toEqual(joined);
});
