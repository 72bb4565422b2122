import { describe, expect, test } from 'vitest';
import { itemKeys, itemsInText, itemVariables } from '#core/fan-out/items.ts';

describe('the items of a text', () => {
  test.each([
    ['the elements of a JSON list', '["a", 2, true]', ['a', 2, true]],
    [
      'maps, whose deeper values are JSON',
      '[{"name": "a", "ports": [1, 2], "up": null}]',
      [{ name: 'a', ports: '[1,2]', up: '' }],
    ],
    ['one JSON object', ' {"name": "a"}\n', [{ name: 'a' }]],
    [
      'numbers as they are written',
      '[1.0, 12345678901234567890, 1.5, "2.0"]',
      ['1.0', '12345678901234567890', 1.5, '2.0'],
    ],
    ['lines', 'web 1\r\n\n  web 2\n', ['web 1', 'web 2']],
    ['lines of JSON', '{"n": 1}\n{"n": 2}', ['{"n": 1}', '{"n": 2}']],
    ['parts between commas', ' a, b c ,,"d, e"', ['a', 'b c', 'd, e']],
    ['parts between white space', ` a\tb  'c d' e"f g"`, ['a', 'b', 'c d', 'ef g']],
    ['a number', '5', ['5']],
    ['what is only nearly JSON', '[a]', ['[a]']],
    ['nothing', ' \n ', []],
    ['no elements', '[]', []],
  ])('are %s', (_, text, items) => {
    expect(itemsInText(text)).toEqual(items);
  });
});

describe('the keys of items', () => {
  test('are their texts, or the name or id of maps', () => {
    expect(itemKeys(['a/b:1', 20, { name: 'x', id: 1 }, { id: 'y' }])).toEqual(['a/b:1', '20', 'x', 'y']);
  });

  test('are the values of combinations', () => {
    const items = [
      { node: 20, os: 'alpine' },
      { node: 22, os: 'alpine' },
    ];
    expect(itemKeys(items, { isMatrix: true })).toEqual(['20,alpine', '22,alpine']);
  });

  test('are the index if a text is long, unusual, repeated, or must not be shown', () => {
    const items = ['x', 'a b', 'x', 'ok', 'y'.repeat(41), { port: 1, host: 'a' }, 'secret', ''];
    expect(itemKeys(items, { isHidden: (text) => text === 'secret' })).toEqual([
      '0',
      '1',
      '2',
      'ok',
      '4',
      '5',
      '6',
      '7',
    ]);
  });

  test('are the only value of a map', () => {
    expect(itemKeys([{ arch: 'arm' }, { arch: 'x86', os: 'mac' }, { port: 80 }])).toEqual(['arm', '1', '80']);
  });

  test('are the index of their own item if they would be that of another one', () => {
    expect(itemKeys(['a b', '0'])).toEqual(['0', '1']);
    expect(itemKeys(['1', '0'])).toEqual(['0', '1']);
    expect(itemKeys(['2', 'i1', 'i2'])).toEqual(['0', 'i1', 'i2']);
    expect(itemKeys(['0', '-1', '3', '02', '20', '1.0'])).toEqual(['0', '-1', '2', '02', '20', '1.0']);
    expect(itemKeys([1, 2, 3, 'last'])).toEqual(['0', '1', '2', 'last']);
    expect(itemKeys([2024, 2025, 0])).toEqual(['2024', '2025', '2']);
    expect(itemKeys(['1', '0', '5'])).toEqual(['0', '1', '5']);
    expect(itemKeys([2024, 2025, 2026])).toEqual(['2024', '2025', '2026']);
  });
});

test('the variables of an instance hold its item and each field', () => {
  expect(itemVariables({ name: 'web1', 'max-age': 5 }, 2, 3)).toEqual({
    ITEM: '{"name":"web1","max-age":5}',
    ITEM_name: 'web1',
    ITEM_max_age: '5',
    WF_ITEM_INDEX: '2',
    WF_ITEM_COUNT: '3',
  });
});
