import { expect, test } from 'vitest';
import { fieldsOf, givenParams, startCommand } from '../../src/page/data/start-form.ts';

const fields = fieldsOf([
  { name: 'DAY', value: '`date +%F`', open: false },
  { name: null, value: 'two', open: false },
  { name: null, value: '', open: true },
]);

test('a field has the name of its parameter, or its position', () => {
  expect(fields.map(({ key, label, isEvaluated, isOpen }) => [key, label, isEvaluated, isOpen])).toEqual([
    ['DAY', 'DAY', true, false],
    ['2', 'Parameter 2', false, false],
    ['3', 'Parameter 3', false, true],
  ]);
});

test('without a value of its own, a run gets the defaults of the file', () => {
  expect(givenParams(fields, {})).toBeNull();
  expect(startCommand('etl', null)).toBe('wf run etl');
});

test('each value is one parameter, whatever is in it', () => {
  const params = givenParams(fields, { DAY: 'a "b" $(c)\nd' });

  expect(params).toEqual(['DAY=a "b" $(c)\nd']);
  expect(startCommand('etl', params)).toBe(`wf run etl -- 'DAY=a "b" $(c)\nd'`);
});

test('an empty value can be given', () => {
  expect(givenParams(fields, { DAY: '' })).toEqual(['DAY=']);
});

test('a position is given with those before it', () => {
  expect(givenParams(fields, { '3': "it's" })).toEqual(['two', "it's"]);
  expect(startCommand('etl', ["it's"])).toBe("wf run etl -- 'it'\\''s'");
});
