import { expect, test } from 'vitest';
import { listedNames } from '../../../src/daemon/catalog/find-listed.ts';
import type { ListedWorkflow } from '../../../src/service/workflows/listed-workflow.ts';

test('a workflow goes by its file, with or without extension, in any directory', () => {
  const { find } = names('/d/one.yaml', '/d/ops/two.yml');

  expect(find('one').file).toBe('/d/one.yaml');
  expect(find('one.yaml').file).toBe('/d/one.yaml');
  expect(find('two').file).toBe('/d/ops/two.yml');
  expect(find('ops/two').file).toBe('/d/ops/two.yml');
  expect(find('ops/two.yml').file).toBe('/d/ops/two.yml');
});

test('a name that several have needs its group', () => {
  const { find, nameOf } = names('/d/same.yaml', '/d/a/same.yaml', '/d/a/b/same.yaml');

  expect(() => find('same')).toThrow('"same" names 3 workflows');
  expect(find('/same').file).toBe('/d/same.yaml');
  expect(find('a/same').file).toBe('/d/a/same.yaml');
  expect(find('a/b/same.yaml').file).toBe('/d/a/b/same.yaml');
  expect(nameOf(find('a/same'))).toBe('a/same.yaml');
  expect(nameOf(find('/same'))).toBe('/same.yaml');
});

test('whatever a workflow is told to be called, it is found by that', () => {
  const { find, nameOf, list } = names('/d/a.yaml', '/d/a.yml', '/d/a.yaml.yaml', '/d/x/a.yaml', '/d/b.yml');

  for (const listed of list) expect(find(nameOf(listed))).toBe(listed);
  expect(nameOf(find('b'))).toBe('b.yml');
});

test('a name that nothing has tells what is near', () => {
  const { find } = names('/d/deploy.yaml');

  expect(() => find('deplyo')).toThrow('no workflow "deplyo"');
  expect(() => find('/d/deploy.yaml')).toThrow('no workflow');
  expect(() => find('__proto__')).toThrow('no workflow');
});

test('the catalog is looked at anew when it has changed', () => {
  let list = [listed('/d/one.yaml')];
  let version = 1;
  const { find } = listedNames({ ...noCatalog, list: () => list, version: () => version });
  expect(find('one').file).toBe('/d/one.yaml');

  list = [listed('/d/two.yaml')];
  version = 2;

  expect(find('two').file).toBe('/d/two.yaml');
  expect(() => find('one')).toThrow('no workflow');
});

const noCatalog = { refresh: async () => {}, watch: () => () => {}, close: () => {} };

function names(...files: readonly string[]) {
  const list = files.map(listed);
  return { ...listedNames({ ...noCatalog, list: () => list, version: () => 1 }), list };
}

function listed(file: string): ListedWorkflow {
  const group = file.replace(/^\/d\/?/, '').replace(/\/?[^/]*$/, '');
  return { file, group, name: file, workflow: null, diagnostics: [], sources: [] };
}
