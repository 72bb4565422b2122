import { expect, test } from 'vitest';
import { chooseReporter, type ReporterFacts, type ReporterKind } from '#render/reporters/reporter.ts';

const terminal: ReporterFacts = { isTerminal: true, ci: false, githubActions: false, term: 'xterm-256color' };

test.each<[string, ReporterKind | null, Partial<ReporterFacts>, string]>([
  ['a terminal gets the tree', null, {}, 'tree'],
  ['a pipe gets plain lines', null, { isTerminal: false }, 'plain'],
  ['a terminal in CI gets plain lines', null, { ci: true }, 'plain'],
  ['GitHub Actions gets groups', null, { isTerminal: false, ci: true, githubActions: true }, 'github'],
  ['GitHub Actions gets something else when asked', 'plain', { githubActions: true }, 'plain'],
  ['groups can be had anywhere', 'github', {}, 'github'],
  ['a terminal that cannot redraw gets plain lines', null, { term: 'dumb' }, 'plain'],
  ['what is asked for is given', 'json', {}, 'json'],
  ['the tree can be had in CI where there is a terminal', 'tree', { ci: true }, 'tree'],
  ['a tree in a pipe is plain lines', 'tree', { isTerminal: false }, 'plain'],
  ['a tree on a terminal that cannot redraw is plain lines', 'tree', { term: 'dumb' }, 'plain'],
])('%s', (_what, kind, facts, expected) => {
  expect(chooseReporter(kind, { ...terminal, ...facts })).toBe(expected);
});
