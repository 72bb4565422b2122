import { closeSync, openSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '#core/workflow.ts';
import { executor } from '#executors/jq/jq.ts';
import { failed, succeeded, testAttempt, until } from '../attempt.ts';

type Settings = Parameters<typeof testAttempt>[0];

/** Runs a filter over an input. */
async function jq(command: string | null, script: string, settings: Settings = {}, config: JsonObject = {}) {
  const world = testAttempt({ ...settings, step: { command, script, ...settings.step } });
  const outcome = await executor.run(config, world.attempt);
  return { outcome, stdout: world.stdout(), stderr: world.stderr(), started: world.started };
}

describe('a step of jq', () => {
  test('prints the results of its filter with four spaces', async () => {
    expect(await jq('{(.id): .["10"].b}, .id', '{"id": "sample", "10": {"b": 42}}')).toEqual({
      outcome: succeeded,
      stdout: '{\n    "sample": 42\n}\n"sample"\n',
      stderr: '',
      started: [null],
    });
  });

  test.each([null, '', '  \n'])('without a filter (%j) prints every input with its keys sorted', async (command) => {
    const { outcome, stdout } = await jq(command, '{"b": {"d": 1, "c": 2}, "a": []} "text" null');
    expect({ outcome, stdout }).toEqual({
      outcome: succeeded,
      stdout: '{\n    "a": [],\n    "b": {\n        "c": 2,\n        "d": 1\n    }\n}\n"text"\nnull\n',
    });
  });

  test('with "raw" prints texts without quotes', async () => {
    const { stdout } = await jq('.[]', '["a\\nb", 1, {"c": "d"}, null, "\\u0000"]', {}, { raw: true });
    expect(stdout).toBe('a\nb\n1\n{\n    "c": "d"\n}\nnull\n\0\n');
  });

  test.each(['empty', '.[]', '.[] | select(. > 1)'])('without a result (%s) prints nothing', async (filter) => {
    expect(await jq(filter, '[]')).toMatchObject({ outcome: succeeded, stdout: '', stderr: '' });
  });

  test('without an input prints nothing', async () => {
    expect(await jq('.', ' \n')).toMatchObject({ outcome: succeeded, stdout: '' });
  });

  test('takes a filter that begins with a minus, and one in a list with args', async () => {
    expect((await jq('-(.a)', '{"a": 1}')).stdout).toBe('-1\n');
    const { attempt, stdout } = testAttempt({ step: { command: ['.a'], args: ['| . + 1'], script: '{"a": 1}' } });
    await executor.run({}, attempt);
    expect(stdout()).toBe('2\n');
  });

  test('writes debug and stderr output of a filter to standard error', async () => {
    const { outcome, stdout, stderr } = await jq('debug | .a | stderr | empty', '{"a": "said"}');
    expect({ outcome, stdout, stderr }).toEqual({
      outcome: succeeded,
      stdout: '',
      stderr: '["DEBUG:",{"a":"said"}]\nsaid',
    });
  });
});

describe('numbers', () => {
  const big = '[100000000000000000000000001, 12345678901234567890, 0.10, -0.00000000000000000001]';

  test('that are only moved stay unchanged', async () => {
    const digits = (text: string) => text.replaceAll(/\s/g, '');
    expect(digits((await jq(null, big)).stdout)).toBe('[100000000000000000000000001,12345678901234567890,0.10,-1E-20]');
    expect(digits((await jq('{a: .[0], b: [.[1]] | tojson}', big)).stdout)).toBe(
      '{"a":100000000000000000000000001,"b":"[12345678901234567890]"}',
    );
  });

  test('in calculations have the precision of a double', async () => {
    expect((await jq('.[1] + 0', big)).stdout).toBe('12345678901234567000\n');
  });
});

describe('variables', () => {
  const hostile = 'say "hi"\n\\ $NOT';

  test('in the input stay within their strings, and elsewhere are inserted unchanged', async () => {
    const { stdout } = await jq(
      '.',
      '{"text": "$TEXT", "n": $N, "doc": $DOC, "none": "${NONE:-x}", "five": "\\\\$5"}',
      {
        variables: { TEXT: hostile, N: '7', DOC: '[1, {"a": "$N"}]' },
      },
    );
    expect(JSON.parse(stdout)).toEqual({ text: hostile, n: 7, doc: [1, { a: '$N' }], none: 'x', five: '$5' });
  });

  test('can be the whole input', async () => {
    const { stdout } = await jq('.choices[0].message.content', '$API_RESPONSE', {
      variables: { API_RESPONSE: JSON.stringify({ choices: [{ message: { content: hostile } }] }) },
    });
    expect(JSON.parse(stdout)).toBe(hostile);
  });

  test('in the filter are values, whatever they contain', async () => {
    const { stdout } = await jq('$TEXT, "$TEXT", ($1 | length), .[${N}], (. as $TEXT | $TEXT[0])', '[0, 1, 2, 3]', {
      variables: { TEXT: hostile, N: '3' },
      params: ['") | halt_error'],
    });
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([hostile, hostile, 15, 3, 0]);
  });

  test('keep every character', async () => {
    const text = 'a\0b\u{1f600}\u2028\x1b"';
    const { stdout } = await jq('$X, "$X", .', '"$X"', { variables: { X: text } });
    expect(stdout.trim().split('\n')).toHaveLength(3);
    expect(
      new Set(
        stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as unknown),
      ),
    ).toEqual(new Set([text]));
  });

  test('can be long', async () => {
    const { outcome, stdout } = await jq('($LONG | length), length', '["$LONG"]', {
      variables: { LONG: 'x'.repeat(300_000) },
    });
    expect({ outcome, stdout }).toEqual({ outcome: succeeded, stdout: '300000\n1\n' });
  });

  test('are the environment of jq', async () => {
    const { stdout } = await jq('env.TEXT, $ENV.TEXT, (env | has("HOME"))', 'null', { variables: { TEXT: 'ü€' } });
    expect(stdout).toBe('"ü€"\n"ü€"\nfalse\n');
  });
});

describe('an error fails the step with the message of jq', () => {
  test('of the running filter, after earlier results', async () => {
    const { outcome, stdout, stderr } = await jq('.a.b', '{"a": {"b": 1}}\n{"a": 3}\n{"a": {"b": 2}}');
    expect({ outcome, stdout, stderr }).toEqual({
      outcome: failed('exit', 'jq: error: Cannot index number with string "b"', 5),
      stdout: '1\n2\n',
      stderr: 'jq: error (at <stdin>:2): Cannot index number with string "b"\n',
    });
  });

  test('is found after the output of the filter, however long', async () => {
    const { outcome } = await jq('if . == 1 then ("x" * 5000 | stderr) | error("no") else . end', '1 2');
    expect(outcome).toEqual(failed('exit', 'jq: error: no', 5));
  });

  test.each([
    ['error("no")', 'jq: error: no', 5],
    ['error({a: 1})', 'jq: error (not a string): {"a":1}', 5],
    ['.a |', 'jq: error: syntax error, unexpected end of file, line 1', 3],
    ['.a\n| $b', 'jq: error: $b is not defined, line 2', 3],
    ['# nothing', 'jq: error: Top-level program not given (try ".")', 3],
    ['"bye\n" | halt_error', 'exit 5', 5],
    ['{} | halt_error(7)', 'exit 7', 7],
  ])('%j', async (filter, message, exitCode) => {
    expect((await jq(filter, '{"a": 1}')).outcome).toEqual(failed('exit', message, exitCode));
  });

  test.each([
    ['{"a": 1,}', 'jq: parse error: Expected another key-value pair at line 1, column 9'],
    ['{"a": 1}\n{"b" 2}', 'jq: parse error: Expected separator between values at line 2, column 7'],
    ['[1, 2', 'jq: parse error: Unfinished JSON term at EOF at line 1, column 5'],
    [
      `${'['.repeat(5000)}${']'.repeat(5000)}`,
      'jq: parse error: Exceeds depth limit for parsing at line 1, column 257',
    ],
  ])('of input that is not JSON', async (input, message) => {
    expect((await jq('.', input)).outcome).toEqual(failed('exit', message, 2));
  });

  test('of a filter that uses all the memory', async () => {
    const { outcome } = await jq('def f: 1 + f; f', '1');
    expect(outcome).toEqual(failed('error', 'jq failed: it ran out of memory (1 GiB)'));
  });

  test('of an endlessly nested value', async () => {
    const { outcome } = await jq('reduce range(200000) as $i (0; [.]) | tojson', '1');
    expect(outcome).toEqual(
      failed('error', 'jq failed: a value is nested too deeply, or a function calls itself without end'),
    );
  });
});

describe('a stop', () => {
  const canceled = { status: 'canceled', message: '', exitCode: null, signal: null };

  test.each(['stop', 'kill'] as const)('ends an endless filter, and its output stays (%s)', async (how) => {
    const world = testAttempt({ step: { command: '1, "begun", [range(infinite)]', script: '1' } });
    const running = executor.run({}, world.attempt);
    await until(() => world.stdout() === '1\n"begun"\n');
    world[how]();
    expect(await running).toEqual(canceled);
  });

  test('before the start starts nothing', async () => {
    const world = testAttempt({ step: { command: '.', script: '1' } });
    world.stop();
    expect(await executor.run({}, world.attempt)).toEqual(canceled);
    expect({ stdout: world.stdout(), started: world.started }).toEqual({ stdout: '', started: [] });
  });
});

test('the process in which a step runs is not touched', async () => {
  const { exitCode, env } = process;
  const before = {
    exitCode,
    env: { ...env },
    listeners: process.eventNames().map((name) => process.listenerCount(name)),
  };
  await jq('error("no")', '1');
  const listeners = process.eventNames().map((name) => process.listenerCount(name));
  expect({ exitCode: process.exitCode, env: { ...process.env }, listeners }).toEqual(before);
});

test('several run in parallel', async () => {
  const outcomes = await Promise.all([1, 2, 3, 4].map((n) => jq(`. + ${n}`, String(n * 10))));
  expect(outcomes.map(({ stdout }) => stdout)).toEqual(['11\n', '22\n', '33\n', '44\n']);
});

test('large inputs and results pass', async () => {
  const { outcome, stdout } = await jq('map(. * 2)', JSON.stringify(Array.from({ length: 100_000 }, (_, i) => i)));
  expect([outcome, (JSON.parse(stdout) as number[])[99_999]]).toEqual([succeeded, 199_998]);
});

test('a log that cannot be written fails the step', async () => {
  const { attempt } = testAttempt({ step: { command: '.', script: '1' } });
  const full = openSync('/dev/full', 'w');
  onTestFinished(() => closeSync(full));
  const outcome = await executor.run({}, { ...attempt, log: { ...attempt.log, stdoutFd: full } });
  expect(outcome).toEqual(failed('error', 'jq failed: ENOSPC: no space left on device, write'));
});
