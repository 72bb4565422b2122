import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { besidePattern, matchingPaths, watchPattern } from '#system/glob.ts';

test.each([
  ['src/*.ts', '/w/src/a.ts', true],
  ['src/*.ts', '/w/src/deep/a.ts', false],
  ['src/*.ts', '/w/src/a.tsx', false],
  ['src/**/*.ts', '/w/src/a.ts', true],
  ['src/**/*.ts', '/w/src/deep/er/a.ts', true],
  ['src/**', '/w/src/deep/a', true],
  ['src/**', '/w/srca', false],
  ['**/*.sql', '/w/a.sql', true],
  ['*.ts', '/w/.hidden.ts', false],
  ['.*.ts', '/w/.hidden.ts', true],
  ['**/*.ts', '/w/.git/a.ts', false],
  ['src', '/w/src/deep/a', true],
  ['src', '/w/src', true],
  ['src', '/w/srca', false],
  ['a?c', '/w/abc', true],
  ['a?c', '/w/a/c', false],
  ['[a-c].x', '/w/b.x', true],
  ['[!a-c].x', '/w/b.x', false],
  ['*.{ts,js}', '/w/a.js', true],
  ['*.{ts,js}', '/w/a.css', false],
  ['{a,b}/*.ts', '/w/b/x.ts', true],
  ['a+(b)*', '/w/a+(b)c', true],
  ['/etc/*.conf', '/etc/a.conf', true],
  ['../x/*', '/x/a', true],
])('%s and %s: %s', (pattern, path, expected) => {
  expect(watchPattern(pattern, '/w').matches(path)).toBe(expected);
});

test.each([
  ['src/**/*.ts', '/w/src', true],
  ['src/*.ts', '/w/src', false],
  ['*/x', '/w', true],
  ['src', '/w/src', true],
  ['/*', '/', false],
])('%s is looked for in %s', (pattern, directory, isDeep) => {
  expect(watchPattern(pattern, '/w')).toMatchObject({ directory, isDeep });
});

test('wildcards in the name of the working directory are ordinary characters', () => {
  const cwd = '/work [a]/{b}*?';
  const { directory, isDeep, matches } = watchPattern('src/*.ts', cwd);
  expect({ directory, isDeep }).toEqual({ directory: `${cwd}/src`, isDeep: false });
  expect([`${cwd}/src/a.ts`, `${cwd}/src/deep/a.ts`, '/work a/bcd/src/a.ts'].map(matches)).toEqual([
    true,
    false,
    false,
  ]);
});

test('the files beside a file', () => {
  const { matches } = besidePattern('/w/a.yaml', ['.yaml', '.yml']);
  expect(['/w/b.yml', '/w/b.ts', '/w/x/b.yml', '/b.yml'].map(matches)).toEqual([true, false, false, false]);
});

test('the paths of a pattern are those that a shell finds, in the order of their names', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'wf-glob-'));
  try {
    for (const dir of ['in/deep/er', 'in/.git', 'out', 'a[1]']) mkdirSync(join(cwd, dir), { recursive: true });
    const files = 'in/b.csv in/a.csv in/.h.csv in/deep/c.csv in/deep/er/d.csv in/.git/e.csv out/f.txt a[1]/g.csv';
    for (const file of files.split(' ')) writeFileSync(join(cwd, file), '');
    writeFileSync(join(cwd, 'in/my report.csv'), '');
    symlinkSync('../in', join(cwd, 'in/deep/loop'));
    const found = (pattern: string) => matchingPaths(pattern, cwd);
    expect(await found('in/*.csv')).toEqual(['in/a.csv', 'in/b.csv', 'in/my report.csv']);
    expect(await found('./in/?.csv')).toEqual(['in/a.csv', 'in/b.csv']);
    expect(await found('in/**/[cd].csv')).toEqual(['in/deep/c.csv', 'in/deep/er/d.csv']);
    expect(await found('**/f.*')).toEqual(['out/f.txt']);
    expect(await found('in/deep/**')).toEqual(['in/deep/c.csv', 'in/deep/er', 'in/deep/er/d.csv', 'in/deep/loop']);
    expect(await found('in/{a,b}.csv')).toEqual(['in/a.csv', 'in/b.csv']);
    expect(await found(`${cwd}/out/*`)).toEqual([join(cwd, 'out/f.txt')]);
    expect(await found('../*/out/f.txt')).toEqual([`../${basename(cwd)}/out/f.txt`]);
    expect(await found('a[[]1]/*')).toEqual(['a[1]/g.csv']);
    expect(await found('in/a.csv')).toEqual(['in/a.csv']);
    for (const pattern of ['none/*.csv', 'in/a.csv/*', 'none', '', '*.csv']) expect(await found(pattern)).toEqual([]);
  } finally {
    rmSync(cwd, { recursive: true });
  }
});
