import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { executor } from '#executors/command/command.ts';
import { failed, runStep, succeeded, testAttempt } from '../attempt.ts';

describe('a script', () => {
  const script = 'printf "%s|" "$@" "${NAME//x/y}"\necho \'$1\'\n';

  test('is run by its command, untouched, with the parameters as arguments', async () => {
    const settings = { params: ['a b', 'N="q"'], variables: { NAME: 'xx' } };
    const { outcome, stdout } = await runStep({ command: 'bash', script }, settings);
    expect({ outcome, stdout }).toEqual({ outcome: succeeded, stdout: 'a b|N="q"|yy|$1\n' });
  });

  test('gets its args instead of the parameters', async () => {
    const { stdout } = await runStep(
      { command: 'bash -e', script, args: ['$NAME'] },
      { params: ['p'], variables: { NAME: 'x' } },
    );
    expect(stdout).toBe('x|y|$1\n');
  });

  test('is run by the interpreter of its first line when there is no command', async () => {
    const line = `#!${process.execPath} --no-warnings\n`;
    const { outcome, stdout } = await runStep(
      { command: null, script: `${line}console.log(process.execArgv, process.argv[2])` },
      { params: ['p'] },
    );
    expect({ outcome, stdout }).toEqual({ outcome: succeeded, stdout: "[ '--no-warnings' ] p\n" });
  });

  test('is run by the shell by default', async () => {
    const { outcome, stdout } = await runStep({ command: null, script: 'echo $0; false; echo never', shell: 'sh -e' });
    expect({ outcome, stdout }).toEqual({
      outcome: failed('exit', 'exit 1', 1),
      stdout: expect.stringMatching(/scratch\/a-step-/),
    });
  });

  test('goes to a command that needs the shell as its last argument', async () => {
    const { stdout } = await runStep({ command: 'X=1; bash', script: 'echo "$0" "$1"' }, { params: ['; id'] });
    expect(stdout).toMatch(/scratch\/a-step-\w+ ; id\n$/);
  });

  test('is a private file while it runs and removed afterwards', async () => {
    const world = testAttempt({ step: { command: 'sh', script: 'ls -l "$0"; exit 4' } });
    expect(await executor.run({}, world.attempt)).toEqual(failed('exit', 'exit 4', 4));
    expect(world.stdout()).toMatch(/^-rw-------/);
    expect(statSync(world.attempt.scratch()).mode & 0o777).toBe(0o700);
    expect(readdirSync(world.attempt.scratch())).toEqual([]);
  });

  test('that cannot be written fails the step', async () => {
    const world = testAttempt({ step: { command: 'sh', script: 'true' } });
    const attempt = { ...world.attempt, scratch: () => join(world.dir, 'missing') };
    expect(await executor.run({}, attempt)).toEqual(
      failed('error', expect.stringMatching(/^the script could not be written: ENOENT/) as unknown as string),
    );
  });
});
