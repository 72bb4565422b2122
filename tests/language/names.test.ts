import { describe, expect, it } from 'vitest';
import { canonicalSignal } from '#language/build/build-step.ts';
import { knownKeys, resolve, workflowSchema } from '#language/schema/schema.ts';
import { didYouMean, nearNames } from '#system/near-names.ts';
import fc from '../support/fast-check.ts';
import { codesOf } from './load-text.ts';

describe('similar names', () => {
  it('are the nearest, at most three', () => {
    expect(nearNames('comand', ['commando', 'command', 'comma', 'script', 'coman'])).toEqual([
      'command',
      'coman',
      'commando',
    ]);
    expect(nearNames('SCRIPT', ['script'])).toEqual(['script']);
    expect(nearNames('nmae', ['name', 'same'])).toEqual(['name']);
    expect(nearNames('c', ['a', 'b'])).toEqual([]);
    expect(nearNames('x'.repeat(1000), ['x'.repeat(999)])).toEqual([]);
    expect(didYouMean(['a', 'b'])).toBe('did you mean "a" or "b"?');
    expect(didYouMean([])).toBe('');
  });
});

describe('a documented key', () => {
  const step = resolve(workflowSchema.$defs?.step ?? {});
  const keys = Object.keys(step.properties ?? {}).filter((key) => key !== 'x');
  const spelling = fc.constantFrom(...keys).chain((key) =>
    fc
      .tuple(fc.array(fc.boolean(), { minLength: key.length, maxLength: key.length }), fc.nat(key.length))
      .map(([upper, at]) => {
        const cased = [...key].map((letter, i) => (upper[i] ? letter.toUpperCase() : letter.toLowerCase()));
        return { key, spelled: [...cased.slice(0, at), '_', ...cased.slice(at)].join('') };
      }),
  );

  it('is recognized in any case and with any underscores', () => {
    fc.assert(
      fc.property(spelling, ({ key, spelled }) => {
        const known = knownKeys(step);
        const found = known.get(spelled.replaceAll('_', '').toLowerCase());
        expect(found).toBe(known.get(key.replaceAll('_', '').toLowerCase()));
        expect(codesOf(`steps:\n  - {name: a, ${spelled}: {}}\n`)).not.toContain('unknown-key');
      }),
    );
  });

  it('is a duplicate of every other spelling of itself', () => {
    fc.assert(
      fc.property(spelling, ({ key, spelled }) => {
        fc.pre(key !== 'name');
        expect(codesOf(`steps:\n  - {name: a, ${spelled}: {}, ${key}: {}}\n`)).toContain('duplicate-key');
      }),
    );
  });
});

describe('a signal', () => {
  it('has one spelling', () => {
    expect(['SIGINT', 'int', 'Sigint', '2', ' INT '].map(canonicalSignal)).toEqual(Array(5).fill('SIGINT'));
    expect(['SIGFOO', '', '0', 'toString', '999'].map(canonicalSignal)).toEqual(Array(5).fill(null));
  });
});
