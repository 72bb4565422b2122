import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildGraph } from '#core/graph.ts';
import { evolve } from '#core/run/evolve.ts';
import type { RunEvent } from '#core/run/run.ts';
import { initialRun } from '#core/run/run-state.ts';
import { summarize } from '#core/summary/summarize.ts';
import { eventKinds } from '../support/event-kinds.ts';
import { type Recording, recordings } from './recordings.ts';

const directory = join(import.meta.dirname, '../../fixtures/histories');
const isUpdating = process.env.WF_UPDATE_GOLDENS === '1';

if (isUpdating) {
  mkdirSync(directory, { recursive: true });
  for (const [name, record] of Object.entries(recordings)) {
    const path = join(directory, `${name}.jsonl`);
    if (!existsSync(path)) writeFileSync(path, written(record()));
  }
}

const histories = readdirSync(directory).filter((name) => name.endsWith('.jsonl'));

test.each(histories)('the recorded history %s still folds to its recorded summary', (name) => {
  const { workflow, events } = read(name);
  const run = events.reduce(evolve, initialRun(buildGraph(workflow), workflow));
  const summary = summarize(run, (step, attempt) => `${step}.${attempt}.out`);
  const golden = join(directory, name.replace('.jsonl', '.summary.json'));
  if (isUpdating) writeFileSync(golden, `${JSON.stringify(summary, null, 2)}\n`);
  expect(summary).toEqual(JSON.parse(readFileSync(golden, 'utf8')));
});

test('together the histories contain every type of event', () => {
  const found = new Set(histories.flatMap((name) => read(name).events.map(({ type }) => type)));
  expect([...found].toSorted()).toEqual(eventKinds.toSorted());
});

test('an event of an unknown type is an error', () => {
  const run = initialRun(buildGraph({ steps: [], handlers: noHandlers }), { maxActiveSteps: 0, delayMs: 0 });
  const event = JSON.parse('{"type": "step.teleported", "at": 1}') as RunEvent;
  expect(() => evolve(run, event)).toThrow('"step.teleported"');
});

const noHandlers = { success: null, failure: null, cancel: null, exit: null };

/** The first line is the workflow, each further line an event. */
function written({ workflow, events }: Recording): string {
  return [{ workflow }, ...events].map((line) => `${JSON.stringify(line)}\n`).join('');
}

function read(name: string): Recording {
  const lines = readFileSync(join(directory, name), 'utf8').trimEnd().split('\n');
  const [head, ...events] = lines.map((line): unknown => JSON.parse(line));
  return { ...(head as Pick<Recording, 'workflow'>), events: events as Recording['events'] };
}
