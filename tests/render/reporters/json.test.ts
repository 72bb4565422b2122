import { expect, test } from 'vitest';
import { createJsonReporter } from '#render/reporters/json.ts';
import { step, workflow } from '../../support/workflow.ts';
import { tellEtl } from '../support/etl.ts';
import { expectGolden } from '../support/golden.ts';
import { recapOf, runId, runStart, runSummary, tell } from '../support/story.ts';
import { recordingTerminal } from '../support/terminal.ts';

/** A JSON reporter at the start of the run, and its parsed output. */
function json() {
  const recorded = recordingTerminal({ color: true });
  const deferred: (() => void)[] = [];
  const reporter = createJsonReporter(recorded.terminal, {
    now: () => runStart,
    defer: (callback) => deferred.push(callback),
  });
  const objects = () =>
    recorded
      .text()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { ...recorded, reporter, deferred, objects };
}

const at = new Date(runStart).toISOString();

test('a whole run is printed as in goldens/json.txt', () => {
  const { reporter, text } = json();
  tellEtl(reporter);
  // The story begins at a local time, whose UTC time depends on the zone.
  expectGolden('json', text().replaceAll(/"20[\d-]+T\d\d:\d\d:/g, '"<minute>:'));
});

test('every line is an object that starts with type, runId and at', () => {
  const { reporter, objects } = json();
  tellEtl(reporter);
  const heads = objects().map((object) => Object.keys(object).slice(0, 3).join());
  expect(new Set(heads)).toEqual(new Set(['type,runId,at']));
  expect(objects().every((object) => object['runId'] === runId)).toBe(true);
});

test('the last line is the summary', () => {
  const { reporter, objects } = json();
  reporter.begin(workflow(), runId);
  reporter.end(recapOf());
  expect(objects()).toEqual([{ type: 'run.summary', at, ...runSummary() }]);
});

test('output is printed line by line, exactly as written', () => {
  const { reporter, objects } = json();
  const story = tell(reporter, workflow());
  story.output('a', '10%\r\u001b[31mred\nhalf').output('a', ' line').output('b', 'error\n', 'stderr', 2);
  reporter.end(recapOf());
  const output = { type: 'step.output', runId: '', at };
  expect(objects().slice(0, -1)).toEqual([
    { ...output, step: 'a', attempt: 1, stream: 'stdout', text: '10%\r\u001b[31mred' },
    { ...output, step: 'b', attempt: 2, stream: 'stderr', text: 'error' },
    { ...output, step: 'a', attempt: 1, stream: 'stdout', text: 'half line' },
  ]);
});

test('other times are in ISO 8601 too', () => {
  const { reporter, objects } = json();
  tell(reporter, workflow({ steps: [step('a')] })).retry('a', 5000);
  reporter.end(recapOf());
  expect(objects()[0]?.['until']).toBe(new Date(runStart + 5000).toISOString());
});

test('the value of a secret parameter is not printed', () => {
  const { reporter, text } = json();
  const secretive = workflow({ secrets: [{ name: 'TOKEN', env: null, file: null }] });
  const params = [
    { name: 'TOKEN', value: 'hunter2' },
    { name: 'A', value: '1' },
  ];
  tell(reporter, secretive)
    .begin(params)
    .event((now) => ({ type: 'run.prepared', at: now, params }));
  reporter.end(recapOf());
  expect(text()).not.toContain('hunter2');
  expect(text()).toContain('{"name":"A","value":"1"}');
});

test('events of one turn are written at once', () => {
  const { reporter, written, deferred } = json();
  tell(reporter, workflow({ steps: [step('a')] }))
    .begin()
    .start('a')
    .finish('a');
  expect([written.length, deferred.length]).toEqual([0, 1]);
  for (const callback of deferred) callback();
  expect(written.length).toBe(1);
});
