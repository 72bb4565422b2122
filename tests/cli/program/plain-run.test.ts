import { expect, test } from 'vitest';
import { operands } from '#cli/program/add-command.ts';
import { plainRun } from '#cli/program/plain-run.ts';
import { buildProgram } from '#cli/program.ts';
import type { RunOptions } from '#cli/run/prepare-run.ts';
import { fakeConsole } from '../../support/fake-console.ts';

/** The options of the run that the parser of all options reads from the same words. */
async function parsed(words: readonly string[]): Promise<unknown> {
  const program = buildProgram(fakeConsole().console, () => {}, words);
  const found: unknown[] = [];
  program.commands[0]?.action((name: string, rest: string[], options: RunOptions) => {
    found.push({ ...options, ...operands(name, rest, words), name });
  });
  await program.parseAsync(words, { from: 'user' });
  return found[0];
}

test.each([
  ['run deploy.yaml'],
  ['start deploy'],
  ['run deploy A=1 two'],
  ['run deploy -- A=1 two'],
  ['run deploy A=1 -- two --detach -x other.yaml -- more'],
  ['run deploy --'],
  ['run ./a/b.yml A=-x'],
])('reads "%s" as the parser of all options does', async (line) => {
  const words = line.split(' ');

  expect(plainRun(words)).toEqual(await parsed(words));
});

test.each([
  [''],
  ['run'],
  ['run -- deploy'],
  ['run -'],
  ['run --detach deploy'],
  ['run deploy -p A=1'],
  ['run deploy --help'],
  ['retry deploy'],
  ['help run'],
  ['run  A=1'],
])('leaves "%s" to the parser of all options', (line) => {
  expect(plainRun(line === '' ? [] : line.split(' '))).toBeNull();
});

test('refuses a second workflow file', () => {
  expect(() => plainRun(['run', 'a.yaml', 'b.yaml'])).toThrow(
    'wf run takes one workflow, and the command line names 2',
  );
});
