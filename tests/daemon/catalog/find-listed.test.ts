import { expect, test } from 'vitest';
import { listedNames } from '#daemon/catalog/catalog.ts';
import type { ListedWorkflow } from '#service/workflows/workflows.ts';

test('a workflow is found by its file, with or without extension, in any directory', () => {
  const { get } = names('/d/one.yaml', '/d/ops/two.yml');

  expect(get('one').file).toBe('/d/one.yaml');
  expect(get('one.yaml').file).toBe('/d/one.yaml');
  expect(get('two').file).toBe('/d/ops/two.yml');
  expect(get('ops/two').file).toBe('/d/ops/two.yml');
  expect(get('ops/two.yml').file).toBe('/d/ops/two.yml');
});

test('a name in several groups needs its group', () => {
  const { get, nameOf } = names('/d/same.yaml', '/d/a/same.yaml', '/d/a/b/same.yaml');

  expect(() => get('same')).toThrow('"same" is ambiguous: it matches 3 workflows');
  expect(get('/same').file).toBe('/d/same.yaml');
  expect(get('a/same').file).toBe('/d/a/same.yaml');
  expect(get('a/b/same.yaml').file).toBe('/d/a/b/same.yaml');
  expect(nameOf(get('a/same'))).toBe('a/same.yaml');
  expect(nameOf(get('/same'))).toBe('/same.yaml');
});

test('every workflow is found by its displayed name', () => {
  const { get, nameOf, list } = names('/d/a.yaml', '/d/a.yml', '/d/a.yaml.yaml', '/d/x/a.yaml', '/d/b.yml');

  for (const listed of list) expect(get(nameOf(listed))).toBe(listed);
  expect(nameOf(get('b'))).toBe('b.yml');
});

test('an unknown name is answered with similar names', () => {
  const { get } = names('/d/deploy.yaml');

  expect(() => get('deplyo')).toThrow('no workflow "deplyo"');
  expect(() => get('/d/deploy.yaml')).toThrow('no workflow');
  expect(() => get('__proto__')).toThrow('no workflow');
});

test('the names are updated when the catalog changes', () => {
  let list = [listed('/d/one.yaml')];
  let version = 1;
  const { get } = listedNames({ ...noCatalog, list: () => list, version: () => version });
  expect(get('one').file).toBe('/d/one.yaml');

  list = [listed('/d/two.yaml')];
  version = 2;

  expect(get('two').file).toBe('/d/two.yaml');
  expect(() => get('one')).toThrow('no workflow');
});

test('an unknown name is known once its file was found, and a known one is not looked for', async () => {
  let list = [listed('/d/one.yaml')];
  let scans = 0;
  const findNew = async () => {
    scans += 1;
    list = [...list, listed('/d/two.yaml')];
  };
  const { has, seek } = listedNames({ findNew, list: () => list, version: () => list.length });

  await seek('one.yaml');
  expect([scans, has('two')]).toEqual([0, false]);
  await seek('two');
  expect([scans, has('two'), has('ops/two')]).toEqual([1, true, false]);
});

test('unknown names that shared a scan are answered in turns of their own', async () => {
  const { seek } = names('/d/one.yaml');
  let turn = 0;
  let isOver = false;
  const count = () => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const turns = await Promise.all(Array.from({ length: 50 }, () => seek('two').then(() => turn)));
  isOver = true;

  expect(new Set(turns).size).toBe(50);
});

const noCatalog = { findNew: async () => {} };

function names(...files: readonly string[]) {
  const list = files.map(listed);
  return { ...listedNames({ ...noCatalog, list: () => list, version: () => 1 }), list };
}

function listed(file: string): ListedWorkflow {
  const group = file.replace(/^\/d\/?/, '').replace(/\/?[^/]*$/, '');
  return { file, group, name: file, workflow: null, diagnostics: [], sources: [] };
}
