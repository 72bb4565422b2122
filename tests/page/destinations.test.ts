import { expect, test } from 'vitest';
import { destinations, matching } from '#page/data/destinations.ts';
import type { Workflow } from '#run-view/api/types.ts';

const to = {
  workflows: './',
  runs: 'runs',
  system: 'system',
  workflow: (id: string) => `w/${id}`,
  start: (id: string) => `w/${id}/start`,
  run: (id: string) => `runs/${id}`,
};

const workflow = (name: string, lastRun: unknown = null, diagnostics: readonly unknown[] = []) =>
  ({ id: name, name, lastRun, diagnostics }) as Workflow;

const all = destinations(
  [
    workflow('etl', { runId: 'r1', status: 'failed' }),
    workflow('mail', { runId: 'r2', status: 'running', waitingFor: ['send'] }),
    workflow('broken', null, [{ severity: 'error' }]),
  ],
  to,
);

test('a workflow leads to its screen, its last run, and its start if it is valid', () => {
  expect(all.map(({ name, address }) => [name, address])).toEqual([
    ['Workflows', './'],
    ['Runs', 'runs'],
    ['System', 'system'],
    ['etl', 'w/etl'],
    ['Start etl', 'w/etl/start'],
    ['Last run of etl', 'runs/r1'],
    ['mail', 'w/mail'],
    ['Start mail', 'w/mail/start'],
    ['Last run of mail', 'runs/r2'],
    ['broken', 'w/broken'],
  ]);
  expect(all.flatMap(({ look }) => look?.word ?? [])).toEqual(['failed', 'awaiting approval']);
});

test('every word must be in a name, and names that start with the text come first', () => {
  expect(matching(all, 'ETL').map(({ name }) => name)).toEqual(['etl', 'Start etl', 'Last run of etl']);
  expect(matching(all, 'mail start').map(({ name }) => name)).toEqual(['Start mail']);
  expect(matching(all, 'nothing')).toEqual([]);
});
