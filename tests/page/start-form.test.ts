import { expect, test } from 'vitest';
import {
  acceptedNames,
  choicesOf,
  type Filled,
  faultOf,
  fieldsOf,
  filledByLink,
  filledByRun,
  givenParams,
  startCommand,
  startRequest,
  withoutSecrets,
} from '#page/data/workflows/start-form.ts';

const fields = fieldsOf({
  params: [
    { name: 'DAY', value: '`date +%F`', open: false },
    { name: null, value: 'two', open: false },
    { name: null, value: '', open: true },
  ],
  parameters: [{ name: 'DAY', type: 'string', default: null, eval: '`date +%F`', required: false, secret: false }],
});

/** Declared parameters of each kind. */
const declared = fieldsOf({
  params: ['ENV', 'DRY', 'KEY', 'COST'].map((name) => ({ name, value: name === 'COST' ? '5 \\$' : '', open: false })),
  parameters: [
    { name: 'ENV', type: 'string', default: null, required: true, secret: false, choices: ['dev', 'prod'] },
    { name: 'DRY', type: 'boolean', default: 'false', required: false, secret: false },
    { name: 'KEY', type: 'string', default: null, required: false, secret: true },
    { name: 'COST', type: 'string', default: '5 $', required: false, secret: false },
  ],
});

test('a declared parameter offers its values and its default', () => {
  expect(declared.map((field) => [field.key, choicesOf(field), field.standard, field.isOpen])).toEqual([
    ['ENV', ['dev', 'prod'], '', true],
    ['DRY', ['true', 'false'], 'false', false],
    ['KEY', null, '', false],
    ['COST', null, '5 $', false],
  ]);
});

test('a secret is filled in only by the user, and is in no command', () => {
  expect(filledByLink(declared, { 'p.KEY': 'sesame', 'p.ENV': 'dev' }).values).toEqual({ ENV: 'dev' });
  expect(givenParams(declared, withoutSecrets(declared, filled({ KEY: 'sesame', ENV: 'dev' })))).toEqual([
    'ENV=dev',
    'KEY=***',
  ]);
});

test('a field is labelled with the name of its parameter, or its position', () => {
  expect(fields.map(({ key, label, isEvaluated, isOpen }) => [key, label, isEvaluated, isOpen])).toEqual([
    ['DAY', 'DAY', true, false],
    ['2', 'Parameter 2', false, false],
    ['3', 'Parameter 3', false, true],
  ]);
});

test('a run without entered values gets the defaults of the file', () => {
  expect(givenParams(fields, filled())).toBeNull();
  expect(startCommand('etl', null)).toBe('wf run etl');
});

test('each value is one parameter, whatever it contains', () => {
  const params = givenParams(fields, filled({ DAY: 'a "b" $(c)\nd' }));

  expect(params).toEqual(['DAY=a "b" $(c)\nd']);
  expect(startCommand('etl', params)).toBe(`wf run etl -- 'DAY=a "b" $(c)\nd'`);
});

test('an empty value can be given', () => {
  expect(givenParams(fields, filled({ DAY: '' }))).toEqual(['DAY=']);
});

test('a positional parameter is sent with those before it', () => {
  expect(givenParams(fields, filled({ '3': "it's" }))).toEqual(['two', "it's"]);
  expect(startCommand('etl', ["it's"])).toBe("wf run etl -- 'it'\\''s'");
});

test('further parameters come last, after the defaults of missing positions', () => {
  expect(givenParams(fields, filled({}, [{ name: 'MORE', value: 'x y' }]))).toEqual(['MORE=x y']);
  expect(givenParams(fields, filled({}, [{ name: '', value: 'four' }]))).toEqual(['two', '', 'four']);
  expect(givenParams(fields, filled({}, [{ name: '', value: '' }]))).toBeNull();
});

test('a link and a past run fill in declared parameters and add the others', () => {
  const more = { values: { DAY: '1', '2': 'b' }, free: [{ name: 'MORE', value: 'x' }] };
  expect(filledByLink(fields, { 'p.DAY': '1', 'p.2': 'b', 'p.MORE': 'x', tab: 'spec' })).toEqual(more);
  const params = [
    { name: 'DAY', value: '1' },
    { name: null, value: 'b' },
    { name: 'TOKEN', value: '***', masked: true as const },
    { name: 'MORE', value: 'x' },
  ];
  expect(filledByRun(fields, { params })).toEqual(more);
});

test('a file accepts the names that it mentions and does not set', () => {
  const of = (definition: string) =>
    acceptedNames({ definition, params: [{ name: 'DAY', value: '', open: false }], env: [], steps: [] });

  expect(of('command: echo $DAY')).toBeNull();
  expect(of('command: echo $DAY ${MODE}')).toEqual(['MODE']);
  expect(of('command: echo "$@"')).toEqual([]);
});

test('a request has the same parameters, quoted for the shell and for JSON', () => {
  expect(startRequest('http://h/api', [`A=it's "1"`])).toBe(
    `curl -X POST -H 'Content-Type: application/json' -d '{"params":["A=it'\\''s \\"1\\""]}' http://h/api`,
  );
});

test('a problem is shown at the parameter that it names', () => {
  const message = 'unknown parameter "A": it takes B\nunknown parameter "C": it takes B';

  expect([faultOf('C', message), faultOf('B', message)]).toEqual(['unknown parameter "C": it takes B', null]);
});

function filled(values: Filled['values'] = {}, free: Filled['free'] = []): Filled {
  return { values, free };
}
