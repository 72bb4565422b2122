import { expect, test } from 'vitest';
import type { Workflow } from '../../src/page/api/types.ts';
import { destinations, matching } from '../../src/page/data/destinations.ts';

const to = {
  workflows: './',
  runs: 'runs',
  workflow: (id: string) => `w/${id}`,
  start: (id: string) => `w/${id}/start`,
  run: (id: string) => `runs/${id}`,
};

const workflow = (name: string, lastRun: unknown = null) => ({ id: name, name, lastRun }) as Workflow;

const all = destinations([workflow('etl', { runId: 'r1', status: 'failed' }), workflow('mail')], to);

test('a workflow leads to its screen, its start and its last run', () => {
  expect(all.map(({ name, address }) => [name, address])).toEqual([
    ['Workflows', './'],
    ['Runs', 'runs'],
    ['etl', 'w/etl'],
    ['Start etl', 'w/etl/start'],
    ['Last run of etl', 'runs/r1'],
    ['mail', 'w/mail'],
    ['Start mail', 'w/mail/start'],
  ]);
});

test('every word must be in a name, and names that start with the text come first', () => {
  expect(matching(all, 'ETL').map(({ name }) => name)).toEqual(['etl', 'Start etl', 'Last run of etl']);
  expect(matching(all, 'mail st').map(({ name }) => name)).toEqual(['Start mail']);
  expect(matching(all, 'nothing')).toEqual([]);
});
