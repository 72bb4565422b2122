import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from './launch.ts';

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const packages: [name: string, version: string][] = Object.entries(manifest.devDependencies);

test('the package has no dependencies, since everything is bundled', () => {
  expect([manifest.dependencies, manifest.optionalDependencies]).toEqual([undefined, undefined]);
});

test('every peer is optional, and of the engine', () => {
  const peers = Object.keys(manifest.peerDependencies);
  const optional = Object.keys(manifest.peerDependenciesMeta).filter(
    (name) => manifest.peerDependenciesMeta[name].optional,
  );

  expect(optional).toEqual(peers);
  expect(peers.filter((name) => !name.startsWith('@temporalio/'))).toEqual([]);
});

test('every version is exact', () => {
  expect(packages.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
});

test('every package has a line with its version among the decisions', () => {
  const lines = readFileSync(join(root, 'docs/decisions/0001-dependencies.md'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').map((cell) => cell.trim().split(', ')));
  const documented = lines.flatMap(([, names = [], versions = []]) => names.map((name, at) => [name, versions[at]]));

  expect(documented).toEqual(expect.arrayContaining(packages));
});
