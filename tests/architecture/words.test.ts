import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { messagesOf, titlesAndComments, usesInMessages, usesOfAvoided } from './words.ts';

const root = resolve(import.meta.dirname, '../..');

/** Files, and folders with everything in them. */
const searched = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', 'docs', 'src'];

/** Right uses, and messages of the program that a page quotes. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  'docs/guide/security.md': ['are told apart'],
  'src/page/parts/problem-box.tsx': ['Try again'],
};

test('docs and sources avoid the phrases that docs/contributing/words.md replaces', () => {
  const files = searched.flatMap(filesIn);

  expect(files.flatMap((file) => usesOfAvoided(file, read(file), allowed[file]))).toEqual([]);
  expect(files.length).toBeGreaterThan(80);
  expect(Object.keys(allowed).filter((file) => !searched.flatMap(filesIn).includes(file))).toEqual([]);
});

test('messages and the changelog avoid more phrases', () => {
  const files = filesIn('src').filter((file) => /\.tsx?$/.test(file) && !file.includes('generated'));
  // Most files are clean as a whole, and need not be parsed.
  const suspects = files.filter((file) => usesInMessages(file, read(file)).length > 0);

  expect(suspects.flatMap((file) => usesInMessages(file, messagesOf(file, read(file)), allowed[file]))).toEqual([]);
  expect(usesInMessages('CHANGELOG.md', read('CHANGELOG.md'))).toEqual([]);
  expect(files.length).toBeGreaterThan(300);
});

test('the search in messages finds texts of several words, and nothing else', () => {
  const text = [
    '// once more',
    "const goesWith = 'goes';",
    'fail(`--json goes with ${name}`);',
    'const page = <p>this is',
    '  carried out</p>;',
    "report('run once more', [1]);",
  ].join('\n');
  const uses = usesInMessages('a.tsx', messagesOf('a.tsx', text));

  expect(uses.map(({ line, phrase }) => `${line} ${phrase}`)).toEqual(['3 goes with', '5 carried out', '6 once more']);
});

test('titles and comments of tests avoid the same phrases', () => {
  const files = filesIn('tests').filter((file) => /\.tsx?$/.test(file) && !file.includes('architecture/words'));
  // Most files are clean as a whole, and need not be parsed.
  const suspects = files.filter((file) => usesOfAvoided(file, read(file)).length > 0);

  expect(suspects.flatMap((file) => usesOfAvoided(file, titlesAndComments(file, read(file))))).toEqual([]);
  expect(files.length).toBeGreaterThan(300);
});

test('the search in tests finds titles and comments, and nothing else', () => {
  const text = [
    "import { told } from './told.ts'; // nobody",
    '/** Somebody',
    ' * is told. */',
    "const anew = 'nobody';",
    "test.each(['told'])('told %s', () => expect(anew).toBe('told'));",
    "describeWith('docker', told(), 'goes on', () => it(`is over ${name}`, () => {})); /* so many */",
    '',
  ].join('\n');
  const uses = usesOfAvoided('a.test.ts', titlesAndComments('a.test.ts', text));

  expect(uses.map(({ line, phrase }) => `${line} ${phrase}`)).toEqual([
    '1 nobody',
    '2 Somebody',
    '3 told',
    '5 told',
    '6 is over',
    '6 goes on',
    '6 so many',
  ]);
});

test('every allowed phrase is still in its file', () => {
  const unused = Object.entries(allowed).flatMap(([file, phrases]) =>
    phrases.filter((phrase) => !read(file).includes(phrase)).map((phrase) => [file, phrase]),
  );
  expect(unused).toEqual([]);
});

test('the better half of each pair is clean', () => {
  const pairs = read('docs/contributing/words.md').split('<!-- words -->')[1] ?? '';
  const rows = [...pairs.matchAll(/^\| (.*) \| (.*) \|$/gm)].slice(1);

  expect(rows.length).toBeGreaterThan(30);
  expect(rows.flatMap(([, , better = '']) => usesOfAvoided('words.md', better))).toEqual([]);
});

test('the search finds a phrase in any case and across lines, and nothing else', () => {
  const text = [
    'Nobody stops a run that is',
    '  over. Moreover, the range covers goes and ongoing.',
    '<!-- words -->',
    'What bites',
    '<!-- /words -->',
    'Clients are told apart, and users are told.',
    'All the headers the headers of each',
  ].join('\n');

  expect(usesOfAvoided('a.md', text, ['told apart'])).toEqual([
    { file: 'a.md', line: 1, phrase: 'Nobody' },
    { file: 'a.md', line: 1, phrase: 'is\n  over' },
    { file: 'a.md', line: 6, phrase: 'told' },
    { file: 'a.md', line: 7, phrase: 'the headers the headers' },
  ]);
});

function filesIn(path: string): readonly string[] {
  if (statSync(join(root, path)).isFile()) return [path];
  return readdirSync(join(root, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}
