import { describe, expect, it } from 'vitest';
import {
  formatParams,
  parseParamDefaults,
  parseParams,
  parseParamsFile,
  parseParamTemplates,
} from '#language/params.ts';
import fc from '../support/fast-check.ts';

const name = fc.option(fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,8}$/), { nil: null });
const value = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'ab "\'\\=`$\n\t#') }));
const params = fc.array(fc.record({ name, value }));

describe('given parameters', () => {
  it.each([
    [
      'A=1 B=2',
      [
        ['A', '1'],
        ['B', '2'],
      ],
    ],
    [
      'a "b c" A="x y" \'d e\'',
      [
        [null, 'a'],
        [null, 'b c'],
        ['A', 'x y'],
        [null, 'd e'],
      ],
    ],
    [
      'A= B="" ""',
      [
        ['A', ''],
        ['B', ''],
        [null, ''],
      ],
    ],
    ['URL=http://h/?a=b&c=d', [['URL', 'http://h/?a=b&c=d']]],
    ['A="say \\"hi\\" \\\\ \\n"', [['A', 'say "hi" \\ \\n']]],
    ["A='no \\ \" escapes'", [['A', 'no \\ " escapes']]],
    ['"A=1 2"', [[null, 'A=1 2']]],
    [
      '--flag=x 1A=2',
      [
        [null, '--flag=x'],
        [null, '1A=2'],
      ],
    ],
    [
      'it\'s a="b',
      [
        [null, "it's"],
        ['a', '"b'],
      ],
    ],
    [
      'BODY={"a":1} x"y"',
      [
        ['BODY', '{"a":1}'],
        [null, 'x"y"'],
      ],
    ],
    [
      'A=`date +%F` $(id) $HOME',
      [
        ['A', '`date'],
        [null, '+%F`'],
        [null, '$(id)'],
        [null, '$HOME'],
      ],
    ],
    ['  \n\t ', []],
    [' {"A": "x y",\n "B": {}} ', [[null, '{"A": "x y",\n "B": {}}']]],
    [
      '{"A": 1} {"B": 2}',
      [
        [null, '{"A":'],
        [null, '1}'],
        [null, '{"B":'],
        [null, '2}'],
      ],
    ],
  ])('%s', (text, expected) => {
    expect(parseParams(text).map((param) => [param.name, param.value])).toEqual(expected);
  });

  it('are parsed back from their text unchanged', () => {
    fc.assert(
      fc.property(params, (given) => {
        expect(parseParams(formatParams(given))).toEqual(given);
      }),
    );
  });

  it('are parsed back if their values are a JSON object together', () => {
    const given = ['{"A":', '1}'].map((part) => ({ name: null, value: part }));
    expect(parseParams(formatParams(given))).toEqual(given);
  });

  it('are parsed from any text, which loses only spaces and quotes', () => {
    fc.assert(
      fc.property(value, (text) => {
        const bare = (s: string) => s.replace(/[\s"'\\=]/g, '');
        const joined = parseParams(text)
          .map((param) => `${param.name ?? ''}${param.value}`)
          .join('');
        expect(bare(joined)).toBe(bare(text));
      }),
    );
  });
});

describe('default parameters', () => {
  it('keep text between backticks together', () => {
    const text = '`date +\'%Y %m\'` A=`date "+%d %e"` B="x `echo "y z"` w" C=a`b c`d';
    expect(parseParamTemplates(text)).toEqual([
      { name: null, value: "`date +'%Y %m'`" },
      { name: 'A', value: '`date "+%d %e"`' },
      { name: 'B', value: 'x `echo "y z"` w' },
      { name: 'C', value: 'a`b c`d' },
    ]);
  });

  it('can have any form', () => {
    const wanted = [
      { name: null, value: 'a' },
      { name: 'B', value: 'x y' },
    ];
    expect(parseParamDefaults('a B="x y"')).toEqual(wanted);
    expect(parseParamDefaults(['a', 'B=x y'])).toEqual(wanted);
    expect(parseParamDefaults(['a', 'B="x y"'])).toEqual(wanted);
    expect(parseParamDefaults(['a', { B: 'x y' }])).toEqual(wanted);
    expect(parseParamDefaults({ B: 'x y' })).toEqual(wanted.slice(1));
    expect(parseParamDefaults(undefined)).toEqual([]);
  });
});

describe('a parameters file', () => {
  const wanted = [
    { name: 'A', value: '1.10' },
    { name: 'B', value: 'x = y' },
    { name: 'C', value: '' },
  ];

  it.each([
    ['.env', '# comment\nA=1.10\r\n\nB="x = y"\nC=\n'],
    ['', 'A=1.10\nB=x = y\nC='],
    ['.yaml', 'A: 1.10\nB: x = y\nC:\n'],
    ['.json', '{"A": 1.10, "B": "x = y", "C": ""}'],
  ])('as %s', (ext, text) => {
    expect(parseParamsFile(`values${ext}`, Buffer.from(text))).toEqual(wanted);
  });

  it('may start with a byte order mark, and a line may contain any character', () => {
    expect(parseParamsFile('values.env', Buffer.from('\ufeffA=\x1b[1m'))).toEqual([{ name: 'A', value: '\x1b[1m' }]);
  });

  it.each([
    ['v.yaml', 'A: 1\nB: [1]', 'v.yaml:2:1: "B" must be text'],
    ['v.yml', '- A', 'v.yml: must be a map of names and values'],
    ['v.json', '{"A": {"B": 1}}', 'v.json:1:2: "A" must be text'],
    ['v.json', '{"A": 1', 'v.json:1:1: "{" is never closed'],
    ['v.yaml', 'A: 1\n"a b": 1', 'v.yaml:2:1: "a b" is not the name of a variable'],
    ['v.txt', 'A=1\n# B\nno equals sign', 'v.txt:3: the line is not "NAME=value"'],
    ['v.env', 'A=1\nB=\xff', 'v.env:2:3: the file is not UTF-8: byte 0xff at offset 6 is not part of a character'],
    ['v.yaml', 'A: "\xff"', 'v.yaml:1:5: the file is not UTF-8: byte 0xff at offset 4 is not part of a character'],
    ['v.env', '\xff\xfeA\0=\0', 'v.env: the file is encoded as UTF-16, not UTF-8'],
  ])('is rejected with its position if it is invalid: %s %j', (path, bytes, message) => {
    const content = Buffer.from(bytes, 'latin1');
    expect(() => parseParamsFile(path, content)).toThrow(expect.objectContaining({ code: 'usage', message }));
  });
});

it.each([
  [
    'DAY=$(date +%F) B=2',
    [
      ['DAY', '$(date +%F)'],
      ['B', '2'],
    ],
  ],
  [
    'DAY="on $(date "+%F %T")" B=2',
    [
      ['DAY', 'on $(date "+%F %T")'],
      ['B', '2'],
    ],
  ],
  [
    'A=x$(echo $(date +%F))y z',
    [
      ['A', 'x$(echo $(date +%F))y'],
      [null, 'z'],
    ],
  ],
  [
    "A='$(' B=')'",
    [
      ['A', '$('],
      ['B', ')'],
    ],
  ],
  [
    'A=$(a b',
    [
      ['A', '$(a'],
      [null, 'b'],
    ],
  ],
  [
    'A=$((1 + 2))',
    [
      ['A', '$((1'],
      [null, '+'],
      [null, '2))'],
    ],
  ],
])('a command in the text %s is a part of its value', (text, params) => {
  expect(parseParamDefaults(text).map(({ name, value }) => [name, value])).toEqual(params);
});
