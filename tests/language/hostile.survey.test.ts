import { describe, expect, it } from 'vitest';
import { loadWorkflow } from '#language/load.ts';
import fc from '../support/fast-check.ts';
import { codesOf } from './load-text.ts';

const many = 30_000;
const each = (make: (index: number) => string, count = many) =>
  Array.from({ length: count }, (_, i) => make(i)).join('');

/** Inputs that are expensive for a parser, each around 100 KB, and the code of the first diagnostic. */
const shapes: readonly (readonly [name: string, text: string, code: string])[] = [
  ['brackets', '['.repeat(many), 'nesting-too-deep'],
  ['closed brackets', '['.repeat(many) + ']'.repeat(many), 'nesting-too-deep'],
  ['braces', '{a: '.repeat(many), 'nesting-too-deep'],
  ['mixed brackets', '[{a: '.repeat(many), 'nesting-too-deep'],
  ['nested block lists', '- '.repeat(many), 'nesting-too-deep'],
  ['nested block maps', each((i) => `${' '.repeat(i)}a:\n`, 400), 'nesting-too-deep'],
  ['explicit keys', '? '.repeat(many), 'explicit-key'],
  ['explicit keys in brackets', '[? '.repeat(many), 'explicit-key'],
  ['brackets as keys', '['.repeat(99) + ']: 1'.repeat(99), 'complex-key'],
  ['closing brackets', ']'.repeat(many), 'yaml-syntax'],
  ['pairs of brackets', '[]{}'.repeat(many), 'yaml-syntax'],
  ['commas', `[${','.repeat(many)}]`, 'yaml-syntax'],
  ['quotes', '"'.repeat(many), 'yaml-syntax'],
  ['an open quote', `"${'a b\n'.repeat(many)}`, 'yaml-syntax'],
  ['anchors', '&a '.repeat(many), 'yaml-syntax'],
  ['tags', '!a '.repeat(many), 'yaml-syntax'],
  ['tabs', '\ta: b\n'.repeat(many), 'tab-indent'],
  ['documents', '---\n'.repeat(many), 'several-documents'],
  ['directives', '%a\n'.repeat(many), 'empty-file'],
  ['line ends', '\n'.repeat(many), 'empty-file'],
  ['zeros', '\0'.repeat(many), 'control-character'],
  ['unknown keys', each((i) => `k${i}: 1\n`), 'unknown-key'],
  ['one key again and again', 'a: 1\n'.repeat(many), 'unknown-key'],
  ['aliases', `x: &a [1, 2, 3]\nx-b: [${'*a, '.repeat(many)}]`, 'unknown-key'],
  ['unknown aliases', `steps: [${'*a, '.repeat(many)}]`, 'unknown-anchor'],
  ['a list of texts', `steps:\n${'- a\n'.repeat(many)}`, 'unordered-steps'],
  [
    'missing dependencies',
    `steps:\n${each((i) => `- {name: a${i}, command: x, depends: b${i}}\n`, 3000)}`,
    'missing-dependency',
  ],
  ['one name', `steps:\n${each(() => '- {name: a, command: x}\n', 4000)}`, 'duplicate-step'],
  [
    'a circle',
    `steps:\n${each((i) => `- {name: a${i}, command: x, depends: a${(i + 1) % 3000}}\n`, 3000)}`,
    'dependency-cycle',
  ],
  [
    'a tangle',
    `steps:\n${each((i) => `- {name: a${i}, command: x, depends: [${each((j) => `a${j},`, 100)}]}\n`, 100)}`,
    'self-dependency',
  ],
  [
    'unknown functions',
    `steps:\n${each((i) => `- {name: a${i}, call: {function: f${i}}}\n`, 3000)}`,
    'unknown-function',
  ],
  ['variables', `env:\n${each((i) => `  A${i}: $A${i + 1}$A${i - 1}\n`, 5000)}steps: []`, 'no-steps'],
  ['cron fields', `schedule: "${'1,'.repeat(many)}1 * * * *"`, 'no-steps'],
  ['more words than are read', '- a\n'.repeat(210_000), 'file-too-large'],
  ['mistyped keys in steps', `steps:\n${each((i) => `- {name: a${i}, comand: x}\n`, 3500)}`, 'unknown-key'],
  ['steps of a wrong shape', `steps:\n${each((i) => `- {name: a${i}, command: {a: 1}}\n`, 3500)}`, 'wrong-type'],
  ['maps as keys in each other', `x-a: ${'{'.repeat(12)}a${'}: 1'.repeat(11)}}\n`.repeat(500), 'complex-key'],
  [
    'anchors, and aliases of others',
    `${each((i) => `x-${i}: &a${i} 1\n`, 3500)}${each((i) => `x-b${i}: *b${i}\n`, 3500)}`,
    'unknown-anchor',
  ],
  [
    'aliases of a long text',
    `x-a: &a "${'0-59,'.repeat(2000)}0 * * * *"\nschedule:\n${'- *a\n'.repeat(many / 2)}`,
    'alias-limit',
  ],
  ['aliases of a long key', `x-a: &a {${'k'.repeat(50_000)}: 1}\nx-b:\n${'- *a\n'.repeat(8000)}`, 'alias-limit'],
  ['a long alias as keys', `x-a: &a ${'k'.repeat(50_000)}\nenv:\n${'  *a : 1\n'.repeat(5000)}`, 'alias-limit'],
  [
    'calls without the many arguments of a function',
    `functions:\n- {name: f, command: x, params: ${each((i) => `p${i} `, 8000)}}\nsteps:\n${each((i) => `- {name: a${i}, call: {function: f}}\n`, 1500)}`,
    'function-arguments',
  ],
  [
    'words that are no parameters',
    `functions:\n- {name: f, command: x, params: ${'a- '.repeat(many)}}\n`,
    'invalid-name',
  ],
  [
    'patterns that repeat',
    `preconditions:\n${each((i) => `- {condition: a, expected: "re:((a{30}){30}|b${i})"}\n`, 2000)}`,
    'invalid-pattern',
  ],
  [
    'parentheses of a pattern',
    `preconditions: {condition: a, expected: "re:${'('.repeat(120_000)}"}`,
    'invalid-pattern',
  ],
  ['classes of a pattern', `preconditions: {condition: a, expected: 're:${'\\pL'.repeat(many)}'}`, 'invalid-pattern'],
  ['time zones', `schedule:\n${'- "TZ=Europe/Berlin 0 5 * * 1"\n'.repeat(3000)}`, 'no-steps'],
  ['imports', `imports:\n${each((i) => `- a${i}\n`, 10_000)}`, 'import-not-found'],
  [
    'dependencies that are nearly right',
    `steps:\n${each((i) => `- {name: some-name-of-a-step-${i}, command: x, depends: zome-name-of-a-step-${i}z}\n`, 1400)}`,
    'missing-dependency',
  ],
  [
    'a long circle of variables',
    `env:\n${each((i) => `- A${i}: $A${i - 1}\n`, 5000)}params: A0=$A4999\n`,
    'variable-cycle',
  ],
  [
    'one long name in many messages',
    `x-a: &n ${'n'.repeat(50_000)}\nsteps:\n${'- {name: *n, command: x}\n'.repeat(15)}`,
    'duplicate-step',
  ],
];

/** The longest text of one problem. */
const longest = 2100;

describe('a hostile file gets diagnostics', () => {
  it.each(shapes)('%s', (_, text, code) => {
    const { diagnostics } = loadWorkflow({ text, file: null, dir: '/' });
    expect(diagnostics.map((diagnostic) => diagnostic.code)).toContain(code);
    expect(diagnostics.length).toBeLessThanOrEqual(101);
    for (const { message, label, help, related } of diagnostics) {
      const texts = [message, label, help ?? '', ...related.map((other) => other.message)];
      expect(texts.filter((said) => said.length > longest)).toEqual([]);
      expect(related.length).toBeLessThanOrEqual(20);
    }
  });

  it('if it contains arbitrary bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(codesOf(bytes).length).toBeGreaterThan(0);
      }),
    );
  });

  it('if it consists of indicators', () => {
    const unit = fc.constantFrom(
      ...'[]{}?:-,&*!|>"\'%@`#~ \n\t\\ab1',
      '\n  ',
      '- ',
      ': ',
      '? ',
      '<<: ',
      '*a',
      '&a ',
      '---\n',
      '!!int ',
    );
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 120 }), (text) => {
        const { workflow, diagnostics } = loadWorkflow({ text, file: null, dir: '/' });
        expect(workflow).toBeNull();
        expect(diagnostics.length).toBeGreaterThan(0);
      }),
      { numRuns: 1000 },
    );
  });

  it('if its keys have arbitrary values', () => {
    const keys =
      'name steps params env depends command executor type config handlerOn exit imports functions call schedule';
    const key = fc.constantFrom(
      ...keys.split(' '),
      'preconditions',
      'secrets',
      'smtp',
      'toString',
      'hasOwnProperty',
      '0',
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof({ maxDepth: 5 }, fc.jsonValue({ maxDepth: 1 }), tie('list'), tie('map')),
      list: fc.array(tie('tree'), { maxLength: 4 }),
      map: fc.dictionary(key, tie('tree'), { maxKeys: 6, noNullPrototype: true }),
    }));
    fc.assert(
      fc.property(fc.dictionary(key, tree, { noNullPrototype: true }), (value) => {
        const text = JSON.stringify(value);
        const { workflow, diagnostics } = loadWorkflow({ text, file: null, dir: '/nonexistent/../' });
        expect(workflow === null).toBe(diagnostics.some(({ severity }) => severity === 'error'));
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    'env: ["__proto__=1"]',
    'params: "__proto__=1"',
    'params: ["__proto__=1"]',
    'functions: [{name: f, params: __proto__, command: x}]',
    'steps: [{name: a, command: x, output: __proto__}]',
    'steps: [{name: a, command: x, env: ["__proto__=1"]}]',
  ])('that names a variable which no map can hold: %s', (text) => {
    expect(codesOf(text)).toContain('invalid-name');
  });

  it('without touching the objects of the program', () => {
    const text =
      'env: {__proto__: {polluted: 1}}\nx-a: {constructor: {prototype: {polluted: 1}}}\nsteps: [{__proto__: {name: a}}]\n';
    expect(codesOf(text)).toContain('forbidden-key');
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
    expect(Error.stackTraceLimit).toBeGreaterThan(0);
  });
});
