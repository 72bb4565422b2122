import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { executor } from '#executors/command/command.ts';
import { identify } from '#processes/process-identity.ts';
import { failed, program, runStep, succeeded, testAttempt } from '../attempt.ts';

/** Entries of a step's `env`: they make names belong to the workflow. */
const own = (...names: readonly string[]) => names.map((name) => ({ name, value: '' }));

describe('a command', () => {
  test('starts directly, with its words as arguments and its output in the log', async () => {
    const { outcome, stdout } = await runStep(
      { command: `${program('argv.sh')} a "b c" 'd $X' $X` },
      { variables: { X: 'x y' } },
    );
    expect({ outcome, stdout }).toEqual({ outcome: succeeded, stdout: 'a\0b c\0d $X\0x y\0' });
  });

  test('with shell syntax is passed to the shell unchanged, with the parameters as $1, $2 and so on', async () => {
    const command = 'printf "%s|" "$1" "$2" "$#" "$X" | tr a-z A-Z; echo \'$1\'; echo err >&2';
    const { outcome, stdout, stderr } = await runStep(
      { command },
      { params: ['a"b', 'n=v w'], variables: { X: '; rm' } },
    );
    expect({ outcome, stdout, stderr }).toEqual({
      outcome: succeeded,
      stdout: 'A"B|N=V W|2|; RM|$1\n',
      stderr: 'err\n',
    });
  });

  test('as a list is not split, and keeps empty words', async () => {
    const { stdout } = await runStep(
      { command: [program('argv.sh'), '$X', '${NO}', 'a b', '"q"'], env: own('X', 'NO') },
      { variables: { X: '*' } },
    );
    expect(stdout).toBe('*\0\0a b\0"q"\0');
  });

  test('as a list keeps dollar signs that name no variable of the workflow', async () => {
    const words = ['{print $2, $X}', '$1', '$HOME ${i:-$X}', '${X%y}', '\\$', '\\$i', '\\$X'];
    const { stdout } = await runStep(
      { command: [program('argv.sh'), ...words], env: own('X') },
      { variables: { X: 'x', HOME: '/h' }, params: ['p'] },
    );
    expect(stdout.split('\0')).toEqual(['{print $2, x}', '$1', '$HOME ${i:-x}', '${X%y}', '\\$', '\\$i', '$X', '']);
  });

  test.each([
    ['sh', '-c'],
    ['/bin/bash', '-eu', '-o', 'pipefail', '-c'],
  ])('as a list passes code to a shell unchanged: %j', async (...shell) => {
    const { stdout } = await runStep(
      { command: [...shell, 'for i in a b; do echo "$i $X"; done; echo \'$X\''], env: own('X') },
      { variables: { X: '"; touch PWN; "' } },
    );
    expect(stdout).toBe('a "; touch PWN; "\nb "; touch PWN; "\n$X\n');
  });

  test('gets its args as one word each', async () => {
    const { stdout } = await runStep(
      { command: program('argv.sh'), args: ['$X', 'a b', '', "'q'"] },
      { variables: { X: 'x  y' } },
    );
    expect(stdout).toBe("x  y\0a b\0\0'q'\0");
  });

  test('gets args after its last part if a shell runs it, and they stay data', async () => {
    const { outcome, stdout } = await runStep(
      { command: `true && ${program('argv.sh')} a\n`, args: ['$X', '"; echo b', ''] },
      { variables: { X: '$(id)' } },
    );
    expect({ outcome, stdout }).toEqual({ outcome: succeeded, stdout: 'a\0$(id)\0"; echo b\0\0' });
  });

  test.each(['true; sleep 0 &', 'true # done', 'if true; then echo; fi', 'echo "a', '$NOTHING > f'])(
    'to which args cannot be appended safely is not run: %s',
    async (command) => {
      const { outcome } = await runStep({ command, args: ['x'] });
      expect(outcome).toEqual(
        failed(
          'error',
          `cannot append arguments to the command ${JSON.stringify(command)}: write them into the command`,
        ),
      );
    },
  );

  test.each([['$NOTHING'], [['', 'x']], [[]]])(
    'that is empty after expansion is not run, whatever its args: %j',
    async (command) => {
      const { outcome, started } = await runStep({ command, args: ['true'] });
      expect({ outcome, started }).toEqual({ outcome: failed('error', 'the command is empty'), started: [] });
    },
  );

  test('that begins with a dash is not an option of the shell', async () => {
    const { outcome, stderr } = await runStep({ command: '-x; echo a' });
    expect({ outcome, stderr }).toEqual({ outcome: succeeded, stderr: expect.stringContaining('-x: not found') });
  });

  test('uses the shell of the step with its options', async () => {
    const { outcome, stdout } = await runStep({
      command: 'echo ${BASH_VERSION:+bash}; false; echo never',
      shell: 'bash -e',
    });
    expect({ outcome, stdout }).toEqual({ outcome: failed('exit', 'exit 1', 1), stdout: 'bash\n' });
  });

  test('gets the ids of its run and step', async () => {
    const world = testAttempt({ step: { command: 'sleep 300' } });
    const running = executor.run({}, world.attempt);
    await expect.poll(() => world.started).toHaveLength(1);
    const [leader] = world.started;
    expect(leader).toEqual(identify(leader?.pid ?? 0));
    expect(leader?.startTime).toBeGreaterThan(0);
    world.kill();
    await running;
  });

  test('that is stopped before it starts is not started', async () => {
    const world = testAttempt({ step: { command: 'touch ran' } });
    world.stop();
    expect(await executor.run({}, world.attempt)).toEqual({
      status: 'canceled',
      message: '',
      exitCode: null,
      signal: null,
    });
    expect({ started: world.started, ran: readdirSync(world.dir).includes('ran') }).toEqual({
      started: [],
      ran: false,
    });
  });
});

test('a step without a command fails', async () => {
  const { outcome } = await runStep({ command: null });
  expect(outcome).toEqual(failed('error', 'the step has no command'));
});

describe('a shell that the file names', () => {
  test.each([
    ['of the step', { shell: 'bash -O extglob' }, {}],
    ['of the workflow', {}, { shell: 'bash -O extglob', namesShell: true as const }],
  ])('runs every text: %s', async (_name, settings, ofWorkflow) => {
    const world = testAttempt({ step: { command: 'printf %s $BASHOPTS $0', ...settings } });
    const attempt = { ...world.attempt, workflow: { ...world.attempt.workflow, ...ofWorkflow } };
    expect(await executor.run({}, attempt)).toEqual(succeeded);
    expect(world.stdout()).toMatch(/extglob.*bash$/);
  });

  test('that is missing fails the step', async () => {
    const { outcome } = await runStep({ shell: '/no/such/shell', command: 'echo hi' });
    expect(outcome.status).toBe('failed');
  });

  test('runs neither lists nor the interpreter of a script, nor a command that could not get its args', async () => {
    const list = await runStep({ shell: 'false', command: ['echo', 'hi'] });
    const script = await runStep({ shell: 'false', command: 'sh', script: 'echo hi' });
    const variable = await runStep({ shell: 'false', command: '$ECHO', args: ['hi'] }, { variables: { ECHO: 'echo' } });
    expect([list, script, variable].map(({ stdout }) => stdout)).toEqual(['hi\n', 'hi\n', 'hi\n']);
  });

  test('that is only the default starts a plain command directly', async () => {
    const world = testAttempt({ step: { command: 'echo hi' } });
    const attempt = { ...world.attempt, workflow: { ...world.attempt.workflow, shell: '/no/such/shell' } };
    expect(await executor.run({}, attempt)).toEqual(succeeded);
  });
});
