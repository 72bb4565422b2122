import fc from '../../../support/fast-check.ts';

/** What values are made of: text, and what looks like a number, a boolean, a key, a comment or a mark. */
const words = [
  'a bc ä é😀 \u00a0 \u2028 \u0085 \ufeff x-1 /bin/sh a:b a#b $A ${A} `a` << = =~ % @a !a &a *a ?a :a | >',
  '1 -1 +1 0 -0 00 1_000 1.10 .5 5. 1e3 1.e-3 .inf -.INF .nan 0x1F 0o17 017 0b1 12345678901234567890 2026-11-25 12:30',
  'true True TRUE tRUE false yes no on off y n ~ null Null NULL nULL -a - -- --- ... ? : #',
].flatMap((line) => line.split(' '));

const word = fc.constantFrom(...words);
const oneOf = (...texts: readonly string[]) => fc.constantFrom(...texts);
const spaces = (most: number) => fc.integer({ min: 0, max: most }).map((count) => ' '.repeat(count));
const rarely = (text: fc.Arbitrary<string>) =>
  fc.oneof({ weight: 5, arbitrary: fc.constant('') }, { weight: 1, arbitrary: text });
const textOf = (parts: fc.Arbitrary<string>, most = 4) =>
  fc.array(parts, { maxLength: most }).map((all) => all.join(''));

/** Words that form one plain text, on the rest of a line or in brackets. */
const plainIn = (position: 'line' | 'brackets') =>
  fc
    .array(word, { minLength: 1, maxLength: 4 })
    .map((parts) => parts.join(' '))
    .filter((text) => !/^[?:,&*!|>%@`#\ufeff]|^-(?: |$)|(?:^| )#|:(?: |$)/.test(text))
    .filter((text) => position === 'line' || !/[{}]/.test(text));

const escapes = String.raw`\n \t \" \\ \/ \0 \e \_ \N`.split(' ');
const quoted = fc.oneof(
  textOf(fc.oneof(word, oneOf(...escapes, ': ', ' #', '\t', "'"))).map((text) => `"${text}"`),
  textOf(fc.oneof(word, oneOf("''", ': ', ' #', '\\', '"', '\t'))).map((text) => `'${text}'`),
);

const key = oneOf(
  ...['name', 'steps', 'A', 'true', '1', '1.5', 'a b', 'ä', '__proto__', 'x-a', 'a.b/c', '~', 'null', '<<', '=', '$A'],
  ...['"a b"', "'it''s'", String.raw`"a\"b"`, '""', "'1'"],
);

/** Lists and maps in brackets. */
const { flow } = fc.letrec<{ flow: string; item: string }>((tie) => ({
  item: fc.oneof({ maxDepth: 2 }, plainIn('brackets'), quoted, tie('flow')),
  flow: fc
    .tuple(
      oneOf('[]', '{}'),
      fc.array(fc.tuple(spaces(2), fc.option(key), tie('item'), spaces(1)), { maxLength: 4 }),
      oneOf('', ',', ', '),
    )
    .map(([brackets, items, end]) => {
      const needsKey = brackets === '{}';
      const written = items.map(([before, name, item, after]) => {
        const start = name === null && needsKey ? 'a: ' : name === null ? '' : `${name}: `;
        return `${before}${start}${item}${after}`;
      });
      return `${brackets.charAt(0)}${written.join(',')}${written.length > 0 ? end : ''}${brackets.charAt(1)}`;
    }),
}));

const lineEnd = oneOf('\n', '\n', '\n', '\n', ' \n', ' # note\n', '  #\n', ' # a: "b\n');
/** Empty lines, and comments at any column. */
const between = rarely(textOf(fc.tuple(spaces(6), oneOf('\n', '# note\n', '#\ttab\n')).map((parts) => parts.join(''))));

/** Lines of YAML below or after the key or `-` at a column. */
type Lines = (column: number) => string;

const onLine = fc.tuple(spaces(2), fc.oneof(plainIn('line'), quoted, flow), lineEnd, between).map(
  (parts): Lines =>
    () =>
      ` ${parts.join('')}`,
);

const blockText = fc
  .record({
    head: oneOf('|', '|-', '>', '>-'),
    more: fc.integer({ min: 1, max: 4 }),
    isAfterEmpty: fc.boolean(),
    lines: fc.array(oneOf('', '', '#', '# note', 'a: "b', '- [x', 'a\tb ', '---', ' more', '  ', '\ttab'), {
      maxLength: 5,
    }),
    after: textOf(oneOf('\n', ' \n', '# note\n'), 2),
  })
  .map(
    ({ head, more, isAfterEmpty, lines, after }): Lines =>
      (column) => {
        const pad = ' '.repeat(column + more);
        const fitting = ['first', ...lines, 'last'].filter((line) => head.startsWith('|') || !/^\s/.test(line));
        const text = fitting.map((line) => (line === '' ? '\n' : `${pad}${line}\n`)).join('');
        return ` ${head}\n${isAfterEmpty ? ' \n' : ''}${text}${after}`;
      },
  );

const { map } = fc.letrec<{ value: Lines; ofKey: Lines; map: Lines; list: Lines }>((tie) => {
  const below = fc.tuple(lineEnd, between, fc.integer({ min: 1, max: 3 }), fc.oneof(tie('map'), tie('list'))).map(
    ([end, lines, more, inner]): Lines =>
      (column) =>
        `${end}${lines}${inner(column + more)}`,
  );
  // A list may begin at the column of its key.
  const beside = fc.tuple(lineEnd, tie('list')).map(
    ([end, list]): Lines =>
      (column) =>
        `${end}${list(column)}`,
  );
  const empty = oneOf('\n', '  \n').map(
    (end): Lines =>
      () =>
        end,
  );
  const pad = (column: number) => ' '.repeat(column);
  return {
    value: fc.oneof({ maxDepth: 4 }, onLine, blockText, below),
    ofKey: fc.oneof({ maxDepth: 4 }, onLine, blockText, empty, below, beside),
    map: fc.tuple(fc.array(fc.tuple(key, tie('ofKey')), { maxLength: 3 }), key, onLine).map(
      ([entries, name, last]): Lines =>
        (column) => {
          const before = entries.map(([name, value]) => `${pad(column)}${name}:${value(column)}`);
          return `${before.join('')}${pad(column)}${name}:${last(column)}`;
        },
    ),
    list: fc.array(fc.tuple(tie('value'), fc.option(fc.nat(2)), tie('map')), { minLength: 1, maxLength: 3 }).map(
      (items): Lines =>
        (column) => {
          return items
            .map(([value, more, inner]) => {
              if (more === null) return `${pad(column)}-${value(column)}`;
              const inside = column + 2 + more;
              return `${pad(column)}- ${pad(more)}${inner(inside).slice(inside)}`;
            })
            .join('');
        },
    ),
  };
});

/** A text of the form that is parsed without the package `yaml`. */
export const usualText: fc.Arbitrary<string> = fc
  .tuple(rarely(oneOf('---\n', '# note\n\n', '--- # note\n\n', '\n# note\n---\n')), map, fc.boolean())
  .map(([head, lines, hasEnd]) => `${head}${lines(0)}`.slice(0, hasEnd ? undefined : -1));

const pieces = [
  ...[
    '\n',
    ' ',
    '  ',
    '\n\n',
    '\n  ',
    '\n- ',
    '\t',
    '\r\n',
    '\r',
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
    '{',
    '}',
  ],
  ...[
    '|',
    '|\n',
    '|+',
    '|2',
    '>',
    '>-',
    '&a ',
    '*a',
    '!t ',
    '!!str ',
    '%',
    '?',
    '? ',
    '`',
    '@',
    '<<: *a',
    '---',
    '---\n',
    '...',
    '\n...\n',
  ],
  ...[
    '~',
    '\\',
    '\\\n',
    '\\x41',
    '\u00a0',
    '\u2028',
    '\ufeff',
    'ä',
    'a',
    'a: b',
    'a: b: c',
    '- - a',
    'null',
    '1',
    '.5',
    '\0',
    '\x1f',
    'x'.repeat(1100),
  ],
];

/** The text with a few small changes. */
export function changed(text: string): fc.Arbitrary<string> {
  const change = fc.record({
    at: fc.nat(text.length),
    cut: fc.constantFrom(0, 0, 1, 2, 6),
    piece: oneOf('', ...pieces),
  });
  return fc.array(change, { minLength: 1, maxLength: 3 }).map((changes) => {
    return changes.reduce(
      (before, { at, cut, piece }) => `${before.slice(0, at)}${piece}${before.slice(at + cut)}`,
      text,
    );
  });
}
