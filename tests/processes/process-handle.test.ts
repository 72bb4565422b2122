import { afterEach, describe, expect, test, vi } from 'vitest';
import { startByHandle } from '#processes/process-handle.ts';
import { failed, runStep, succeeded } from '../executors/attempt.ts';
import { withoutInternals } from './without-internals.ts';

afterEach(() => vi.restoreAllMocks());

/** Whether this line of Node is asked for its handle. */
const isKnown = process.versions.node.startsWith('20.');

const program = { argv: ['true'], cwd: '/', env: {} };

describe.each([
  ['with the handle of Node', () => {}],
  ['without it', withoutInternals],
])('a program that is started %s', (_how, prepare) => {
  test.each([
    ['exit 0', succeeded, ''],
    ['echo out; echo problem >&2; exit 3', failed('exit', 'exit 3', 3), 'out\n'],
    ['printf %s "$ODD"', succeeded, 'a=b\nc'],
    ['kill -SEGV $$', { ...failed('exit', 'killed by SIGSEGV', 139), reason: 'signal', signal: 'SIGSEGV' }, ''],
    ['ps -o sid= -p $$ | tr -d " " | grep -qx $$', succeeded, ''],
  ])('runs `%s`', async (line, expected, expectedOutput) => {
    prepare();

    const { outcome, stdout } = await runStep({ command: ['sh', '-c', line] }, { variables: { ODD: 'a=b\nc' } });

    expect({ outcome, stdout }).toEqual({ outcome: expected, stdout: expectedOutput });
  });

  test('reports that it does not exist', async () => {
    prepare();

    expect((await runStep({ command: ['no-such-program'] })).outcome).toEqual(
      failed('exit', 'command not found: "no-such-program"', 127),
    );
  });
});

test.runIf(isKnown)('the handle starts a program and reports its end', async () => {
  const started = startByHandle({ ...program, argv: ['sh', '-c', 'exit 5'], env: { PATH: '/bin:/usr/bin' } }, [1, 2]);

  expect({ pid: started?.pid, end: await started?.ended }).toEqual({
    pid: expect.any(Number),
    end: { code: 5, signal: null },
  });
});

test.each([
  ['an argument', { ...program, argv: ['true', 'a\0b'] }],
  ['the name of a variable', { ...program, env: { 'A\0': '1' } }],
  ['a variable', { ...program, env: { A: '\0' } }],
  ['the directory', { ...program, cwd: '/\0' }],
  ['the name of the program', { ...program, argv: ['\0'] }],
])('a NUL character in %s is left to child_process, which refuses it', (_where, refused) => {
  expect(startByHandle(refused, [1, 2])).toBeNull();
});

test('nothing is started if Node would warn about its handle', () => {
  withoutInternals();

  expect(startByHandle(program, [1, 2])).toBeNull();
});
