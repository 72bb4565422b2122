import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isCollection, isMap, isScalar, isSeq, parseAllDocuments } from 'yaml';
import { parsePlain } from '../../../src/language/read/parse-plain.ts';

/** The parts of a node that are read. */
function shapeOf(node: unknown): unknown {
  if (isScalar(node)) {
    const { value, source, type, range, anchor, tag } = node;
    return { value, source, type, range: range?.slice(0, 2), anchor, tag };
  }
  // Comments after a block may belong to it or not.
  const range = isCollection(node) ? node.range?.slice(0, node.flow ? 2 : 1) : [];
  if (isSeq(node)) return { items: node.items.map(shapeOf), range, anchor: node.anchor };
  if (!isMap(node)) return node;
  return { pairs: node.items.map(({ key, value }) => [shapeOf(key), shapeOf(value)]), range, anchor: node.anchor };
}

/** Null if the package `yaml` finds an error, or another number of documents than one. */
function complete(text: string): unknown {
  const documents = parseAllDocuments(text, { uniqueKeys: false, prettyErrors: false, resolveKnownTags: false });
  const [document] = documents;
  if (documents.length !== 1 || document === undefined || 'empty' in documents) return null;
  return document.errors.length + document.warnings.length > 0 ? null : shapeOf(document.contents);
}

function filesIn(folder: string): string[] {
  const root = join(import.meta.dirname, '../../../fixtures', folder);
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.ya?ml$/.test(entry.name))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'));
}

const script =
  'steps:\n  - name: a\n    script: |\n      echo a\n\n        echo b\n    depends: [b, "c d"]\n  # note\n  - b\n';
const texts = [
  script,
  script.trimEnd(),
  `${script}z: |\n  a\n  b`,
  ...filesIn('workflows'),
  ...filesIn('invalid'),
].filter(({ length }) => length < 5000);

describe('a text that is parsed by its lines', () => {
  const plain = texts.filter((text) => parsePlain(text) !== null);

  test('has the nodes that the package `yaml` makes of it', () => {
    expect(plain.length).toBeGreaterThan(40);
    for (const text of plain)
      expect({ text, nodes: shapeOf(parsePlain(text)) }).toEqual({ text, nodes: complete(text) });
  });

  test('has them after any change, or is left to that package', () => {
    const pieces = fc.constantFrom(
      ...[
        '\n',
        ' ',
        '  ',
        ':',
        ': ',
        '-',
        '- ',
        '#',
        ' #',
        '"',
        "'",
        '[',
        ']',
        ',',
        '|',
        '|\n',
        '>',
        '{',
        '}',
        '&a',
        '*a',
      ],
      ...[
        '\n\n',
        '\u00a0',
        'ä',
        '\n  ',
        '\n- ',
        '!t ',
        '~',
        'null',
        'true',
        '1',
        '1.5',
        '0x1',
        '-1',
        '.5',
        '<<: ',
        'a',
        'a: b',
        '...',
        '---',
        '%',
        '?',
        '`',
        '@',
      ],
    );
    const change = fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), cut: fc.nat(12), piece: pieces });
    const property = fc.property(fc.constantFrom(...plain), fc.array(change, { maxLength: 4 }), (text, changes) => {
      const changed = changes.reduce((before, { at, cut, piece }) => {
        const from = Math.floor(at * before.length);
        return `${before.slice(0, from)}${piece}${before.slice(from + (cut > 6 ? 0 : cut))}`;
      }, text);
      const nodes = parsePlain(changed);
      if (nodes !== null) expect(shapeOf(nodes)).toEqual(complete(changed));
    });
    fc.assert(property, { numRuns: 3000 });
  });

  test.each([
    ['a text on several lines', 'a: b\n  c\n'],
    ['an anchor', 'a: &x b\nc: *x\n'],
    ['a key twice, with other indentation', 'a: b\n c: d\n'],
    ['a folded text', 'a: >\n  b\n'],
    ['a second document', 'a: b\n---\nc: d\n'],
    ['a number with a point', 'a: 1.10\n'],
    ['a tab', 'a:\tb\n'],
    ['no value', 'a:\nb: c\n'],
    ['more tokens than a workflow may have', `a: [${'b,'.repeat(200_000)}b]\n`],
    [
      'deep nesting',
      `${Array.from({ length: 80 }, (_, at) => `${' '.repeat(at)}a:\n`).join('')}${' '.repeat(80)}a: b\n`,
    ],
  ])('does not have %s', (_name, text) => {
    expect(parsePlain(text)).toBeNull();
  });
});
