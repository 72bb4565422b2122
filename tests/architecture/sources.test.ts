import { join } from 'node:path';
import { expect, test } from 'vitest';
import { importsWithoutExtension, parse, readSources, usesOfTheProcess } from './source-scan.ts';

const root = join(import.meta.dirname, '../..');
const program = readSources(root, 'src');

test('only cli and config use the process they run in', () => {
  const sources = program.filter(
    ({ fileName }) => !/^src\/(cli|config)\/|^src\/fast\/accelerators[.]ts$/.test(fileName),
  );

  expect(sources.flatMap(usesOfTheProcess)).toEqual([]);
  expect(sources.length).toBeGreaterThan(50);
});

test('the scan for uses of the process finds every form', () => {
  const source = parse(
    'planted.ts',
    `import { env } from 'node:process';
process.env.HOME;
process['exit'](1);
process.exitCode = 1;
console.log('process.env');
process.kill(1, 0); // process.exit
console.out.write('');`,
  );

  expect(usesOfTheProcess(source).map(({ line, text }) => [line, text])).toEqual([
    [1, "import { env } from 'node:process';"],
    [2, 'process.env'],
    [3, "process['exit']"],
    [4, 'process.exitCode'],
    [5, 'console.log'],
  ]);
});

test('relative imports name their file with its extension', () => {
  const sources = [...program, ...readSources(root, 'tests')];

  expect(sources.flatMap(importsWithoutExtension)).toEqual([]);
});

test('imports from other folders of src begin with "#"', () => {
  const paths = program.flatMap((source) =>
    Array.from(source.text.matchAll(/\b(?:from|import)[ (]*'(\.[^']*)'/g), ([, path = '']) => ({ source, path })),
  );
  const outside = paths.filter(({ source, path }) => {
    const [, folder] = source.fileName.split('/');
    const imported = join(source.fileName, '..', path);
    return imported.startsWith('src/') && !imported.startsWith(`src/${folder}/`);
  });

  expect(outside.map(({ source, path }) => `${source.fileName}: ${path}`)).toEqual([]);
  expect(paths.length).toBeGreaterThan(500);
});

test('constants with literal values have names in upper case', () => {
  const lower = program.flatMap(({ fileName, text }) =>
    Array.from(
      text.matchAll(/^(?:export )?const ([a-z]\w*)(?:: \w+)? = (?:-?[\d_.]+n?|'[^'\n]*'|\/.*\/[a-z]*);$/gm),
      ([, name]) => `${fileName}: ${name}`,
    ),
  );

  expect(lower).toEqual([]);
});

test('the scan of imports finds every form', () => {
  const source = parse(
    'planted.ts',
    `import './a';
import type { B } from '../b.js';
export { c } from './c';
await import('./d');
type E = import('./e').E;
import './right.ts';
import { version } from '../package.json';
const text = './f';`,
  );

  expect(importsWithoutExtension(source).map(({ line, text }) => [line, text])).toEqual([
    [1, "'./a'"],
    [2, "'../b.js'"],
    [3, "'./c'"],
    [4, "'./d'"],
    [5, "'./e'"],
  ]);
});
