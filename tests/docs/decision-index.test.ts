import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root, textOf } from './pages.ts';

const folder = 'docs/decisions';

test('the index of decisions has each of them once, by its title', () => {
  const named = [...textOf(`${folder}/README.md`).matchAll(/\[(\d+\. .*?)\]\((\d{4}-[\w-]+\.md)\)/g)];
  const decisions = readdirSync(join(root, folder)).filter((name) => name !== 'README.md');

  expect(named.map(([, title = '', file = '']) => ({ file, title })).toSorted(byFile)).toEqual(
    decisions.map((file) => ({ file, title: titleOf(file) })).toSorted(byFile),
  );
  expect(decisions.length).toBeGreaterThan(40);
});

test('a decision has the number of its file', () => {
  const decisions = readdirSync(join(root, folder)).filter((name) => name !== 'README.md');

  expect(decisions.filter((file) => Number.parseInt(titleOf(file), 10) !== Number(file.slice(0, 4)))).toEqual([]);
});

function titleOf(file: string): string {
  return /^# (.*)/.exec(textOf(`${folder}/${file}`))?.[1] ?? '';
}

function byFile(a: { readonly file: string }, b: { readonly file: string }): number {
  return a.file < b.file ? -1 : 1;
}
