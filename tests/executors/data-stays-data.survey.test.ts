import { expect, test } from 'vitest';
import { executor } from '#executors/command/command.ts';
import fc from '../support/fast-check.ts';
import { program, succeeded, testAttempt } from './attempt.ts';

/** Characters with a meaning to shells, between ordinary and rare ones. */
const character = fc.oneof(
  fc.constantFrom(
    ...'ab \t\n\r\\\'"`$(){}[]|&;<>*?~#!=-%/',
    '$(',
    '${',
    '$1',
    '$$',
    '`id`',
    '\u00fc',
    '\u{1f600}',
    '-e',
    "'\\''",
  ),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
);
const value = fc.array(character, { maxLength: 12 }).map((characters) => characters.join('').replaceAll('\0', ''));
const values = fc.array(value, { minLength: 1, maxLength: 5 });

/** Runs a step that prints its arguments, with the values as parameters and as variables `V0`, `V1`... */
async function printed(
  texts: readonly string[],
  step: (names: readonly string[]) => Parameters<typeof testAttempt>[0],
) {
  const names = texts.map((_, i) => `V${i}`);
  const variables = Object.fromEntries(texts.map((text, i) => [`V${i}`, text]));
  const world = testAttempt({ ...step(names), params: texts, variables });
  const outcome = await executor.run({}, world.attempt);
  return { outcome, args: world.stdout().split('\0').slice(0, -1), stderr: world.stderr() };
}

const argv = program('argv.sh');
const runs = { numRuns: 40 };

async function arrivesAsItIs(step: (names: readonly string[]) => Parameters<typeof testAttempt>[0]) {
  await fc.assert(
    fc.asyncProperty(values, async (texts) => {
      expect(await printed(texts, step)).toEqual({ outcome: succeeded, args: texts, stderr: '' });
    }),
    runs,
  );
}

test('a quoted variable in a command that is started directly is one word', () =>
  arrivesAsItIs((names) => ({ step: { command: `${argv} ${names.map((name) => `"$${name}"`).join(' ')}` } })));

test('a quoted variable in a command for the shell is one word', () =>
  arrivesAsItIs((names) => ({ step: { command: `true; ${argv} ${names.map((name) => `"$${name}"`).join(' ')}` } })));

test('parameters of a command for the shell are words', () =>
  arrivesAsItIs(() => ({ step: { command: `true; ${argv} "$@"` } })));

test('elements of a list are words', () =>
  arrivesAsItIs((names) => ({
    step: {
      command: [argv, ...names.map((name) => `\${${name}}`)],
      env: names.map((name) => ({ name, value: '' })),
    },
  })));

test('args are words after a command that starts directly', () =>
  arrivesAsItIs((names) => ({ step: { command: argv, args: names.map((name) => `$${name}`) } })));

test('args are words after a command for the shell', () =>
  arrivesAsItIs((names) => ({ step: { command: `true; ${argv}`, args: names.map((name) => `$${name}`) } })));

test('parameters are the arguments of a script', () =>
  arrivesAsItIs(() => ({ step: { command: 'sh', script: `${argv} "$@"` } })));

test('an unquoted variable is also one word, or none if it is empty', async () => {
  await fc.assert(
    fc.asyncProperty(values, async (texts) => {
      const { args } = await printed(texts, (names) => ({
        step: { command: `${argv} ${names.map((name) => `$${name}`).join(' ')}` },
      }));
      expect(args).toEqual(texts.filter((text) => text !== ''));
    }),
    runs,
  );
});
