import { describe, expect, test } from 'vitest';
import { firstUnmet } from '#environment/precondition.ts';

/** Checks one condition with the value of the variable `V`. */
function check(value: string, expected: string) {
  return firstUnmet([{ condition: '$V', expected }], {
    what: 'precondition',
    scope: (name) => (name === 'V' ? value : undefined),
    capture: () => Promise.reject(new Error('nothing to run')),
  });
}

describe('the expected value', () => {
  test.each([
    ['b', 'b'],
    ['a\nb\nc', 'b'],
    ['a\r\nb\r\nc', 'b'],
    ['a\nb', 'a\nb'],
    ['a\nbcd\ne', 're:c'],
    ['a\nb\nc', 're:^b$'],
    ['a\r\nb\r\nc', 're:^b$'],
    ['a\nb', 're:^a\\nb$'],
    ['a\nb', 're:a\\sb'],
  ])('is met by %j: %j', async (value, expected) => {
    expect(await check(value, expected)).toBeNull();
  });

  test.each([
    ['abc', 'b'],
    ['a\nb', 'b\nc'],
    ['ab\nbc', 're:^b$'],
    ['', 're:.'],
  ])('is not met by %j: %j', async (value, expected) => {
    const found = `$V was ${JSON.stringify(value)}, expected ${JSON.stringify(expected)}`;
    expect(await check(value, expected)).toBe(found);
  });

  test('is refused if its pattern is too large to compile', async () => {
    const refused = check('a', 're:((a{1,900}){1,900})');
    await expect(refused).rejects.toThrow('the regular expression is too large: reduce the repetitions in "{...}"');
  });
});
