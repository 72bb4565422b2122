import { describe, expect, test } from 'vitest';
import { parseYaml } from '#language/read/parse.ts';
import { parsePlain } from '#language/read/plain/parse-plain.ts';
import fc from '../../../support/fast-check.ts';
import { changed, usualText } from './arbitrary-yaml.ts';
import { filesIn, ownTexts } from './yaml-texts.ts';

/** The nodes that the package `yaml` makes of a text, or why there are none. */
function complete(text: string): unknown {
  const results = parseYaml({ path: 'a.yaml', text }, 2);
  const [{ document, problems } = { document: null, problems: [] }] = results;
  if (results.length > 1) return results;
  return document?.unknownTags.length === 0 ? document.contents : (document ?? problems);
}

/** Whether the text is parsed without the package. Fails if its nodes, values or offsets differ from those of the package. */
function isSame(text: string): boolean {
  const nodes = parsePlain(text);
  if (nodes !== null) expect({ text, nodes }).toEqual({ text, nodes: complete(text) });
  return nodes !== null;
}

describe('a text that is parsed without the package has the nodes that the package makes', () => {
  test('of the files and examples of this repository, which are nearly all parsed', () => {
    const texts = ownTexts();

    expect(texts.filter(isSame).length / texts.length).toBeGreaterThan(0.85);
  });

  const corpus = process.env['WF_CORPUS'] ?? '';
  test.skipIf(corpus === '')('of the files of real projects, which are nearly all parsed', () => {
    const texts = filesIn(corpus);

    expect(texts.filter(isSame).length / texts.length).toBeGreaterThan(0.95);
  });

  test('of any text of the usual form', () => {
    fc.assert(fc.property(usualText, isSame), { numRuns: 1000 });
  });

  test('of any change of such a text, or is left to the package', () => {
    fc.assert(
      fc.property(usualText.chain(changed), (text) => void isSame(text)),
      { numRuns: 1000 },
    );
  });

  test('of any change of a file of this repository, or is left to the package', () => {
    const texts = ownTexts().filter((text) => text.length < 3000 && parsePlain(text) !== null);

    fc.assert(
      fc.property(fc.constantFrom(...texts).chain(changed), (text) => void isSame(text)),
      { numRuns: 1000 },
    );
  });
});

describe('a text is left to the package', () => {
  test.each([
    ['without content', '# note\n'],
    ['that is a list', '- a\n'],
    ['with a text on several lines', 'a: b\n  c\n'],
    ['with a quoted text on several lines', 'a: "b\n  c"\n'],
    ['with brackets on several lines', 'a: [b,\n  c]\n'],
    ['with an anchor and an alias', 'a: &x b\nc: *x\n'],
    ['with a tag', 'a: !!str b\n'],
    ['with a merge', 'a: &x {b: c}\nd:\n  <<: *x\n'],
    ['with two documents', 'a: b\n---\nc: d\n'],
    ['with the end of a document', 'a: b\n...\n'],
    ['with a directive', '%YAML 1.2\n---\na: b\n'],
    ['with a key after "?"', '? a\n: b\n'],
    ['with a tab before a value', 'a:\tb\n'],
    ['with line ends of Windows', 'a: b\r\nc: d\r\n'],
    ['with a byte order mark', '\ufeffa: b\n'],
    ['with a character by its number', 'a: "\\x41"\n'],
    ['with an indented line of a folded text', 'a: >\n  b\n    c\n'],
    ['with a given indentation', 'a: |2\n  b\n'],
    ['with kept line ends', 'a: |+\n  b\n\n'],
    ['with a comment after an empty value', 'a: # note\nb: c\n'],
    ['that is invalid', 'a: b: c\n'],
    ['with a key in another column', 'a: b\n c: d\n'],
    ['with an open quote', 'a: "b\n'],
    ['with an open bracket', 'a: [b\n'],
    ['with more tokens than a file may have', `a: [${'b,'.repeat(210_000)}b]\n`],
    ['with more lines than a file may have', `a:\n${'- b\n'.repeat(140_000)}`],
    ['with deep lists', `a: ${'['.repeat(90)}${']'.repeat(90)}\n`],
    [
      'with deep maps',
      `${Array.from({ length: 80 }, (_, at) => `${' '.repeat(at)}a:\n`).join('')}${' '.repeat(80)}a: b\n`,
    ],
    ['with a long key', `${'a'.repeat(1100)}: b\n`],
  ])('%s', (_name, text) => {
    expect(parsePlain(text)).toBeNull();
  });
});
