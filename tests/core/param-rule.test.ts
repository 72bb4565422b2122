import { describe, expect, test } from 'vitest';
import { checkParam, typedValue } from '#core/param-rule.ts';
import type { ParamRule } from '#core/workflow.ts';
import { matchesPattern } from '#system/pattern.ts';

const check = (text: string, rule: Partial<ParamRule>) => checkParam(text, { type: 'string', ...rule }, matchesPattern);

describe('a declared parameter', () => {
  test.each<[string, Partial<ParamRule>, string]>([
    ['', {}, ''],
    ['-12', { type: 'integer' }, '-12'],
    ['9007199254740991', { type: 'integer' }, '9007199254740991'],
    ['1.5e3', { type: 'number' }, '1.5e3'],
    ['Yes', { type: 'boolean' }, 'true'],
    ['0', { type: 'boolean' }, 'false'],
    ['dev', { choices: ['dev', 'prod'] }, 'dev'],
    ['2', { type: 'integer', minimum: 2, maximum: 2 }, '2'],
    ['\u{1f600}', { minLength: 1, maxLength: 1 }, '\u{1f600}'],
    ['v12', { pattern: '^v\\d+$' }, 'v12'],
  ])('takes %j for %j', (text, rule, value) => {
    expect(check(text, rule)).toEqual({ value });
  });

  test.each<[string, Partial<ParamRule>, string]>([
    ['', { required: true }, 'is required and cannot be empty'],
    ['80a', { type: 'integer' }, 'must be an integer'],
    ['1.0', { type: 'integer' }, 'must be an integer'],
    ['9007199254740992', { type: 'integer' }, 'must be an integer'],
    ['', { type: 'integer' }, 'must be an integer'],
    ['1e999', { type: 'number' }, 'must be a number'],
    ['perhaps', { type: 'boolean' }, 'must be true or false'],
    ['stage', { choices: ['dev', 'prod'] }, 'must be one of dev, prod'],
    ['1', { type: 'integer', minimum: 2 }, 'must be at least 2'],
    ['2.1', { type: 'number', maximum: 2 }, 'must be at most 2'],
    ['a', { minLength: 2 }, 'must have at least 2 characters'],
    ['ab', { maxLength: 1 }, 'must have at most 1 character'],
    ['12', { pattern: '^v' }, 'must match "^v"'],
  ])('refuses %j for %j', (text, rule, fault) => {
    expect(check(text, rule)).toEqual({ fault });
  });
});

test('typed values are JSON of their type', () => {
  const typed = [
    typedValue('2', { type: 'integer' }),
    typedValue('1.5', { type: 'number' }),
    typedValue('true', { type: 'boolean' }),
    typedValue('2', { type: 'string' }),
    typedValue('', { type: 'integer' }),
  ];
  expect(typed).toEqual([2, 1.5, true, '2', '']);
});
