import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { capture } from '#processes/capture.ts';
import { fileText, program, runs, temporaryDirectory, until } from '../executors/attempt.ts';

const PATH = process.env['PATH'] ?? '';

/** Captures a command in a temporary directory, with only PATH and the given variables in the environment. */
function captureIn(cwd: string, command: string, options: Partial<Parameters<typeof capture>[1]> = {}) {
  return capture(command, { cwd, shell: 'sh', ...options, env: { PATH, ...options.env } });
}

function captured(command: string, options: Partial<Parameters<typeof capture>[1]> = {}) {
  return captureIn(temporaryDirectory(), command, options);
}

describe('a captured command', () => {
  test('returns its output without trailing line ends', async () => {
    expect(await captured('printf " a\\n\\nb \\n\\n"; echo no >&2')).toEqual({
      ok: true,
      ended: true,
      exitCode: 0,
      stdout: ' a\n\nb ',
      message: '',
    });
  });

  test('is shell code with parameters and environment, in its directory and without input', async () => {
    const cwd = temporaryDirectory();
    const command = 'cat; echo "$1|$X|$#"; pwd; env | sort | cut -d= -f1 | tr "\\n" " "';
    const result = await captureIn(cwd, command, { params: ['a "b"', '$(id)'], env: { X: "'`id`" } });
    expect(result).toEqual({
      ok: true,
      ended: true,
      exitCode: 0,
      stdout: `a "b"|'\`id\`|2\n${cwd}\nPATH PWD X `,
      message: '',
    });
  });

  test('gets no prefix, no quotes and no settings from the environment of this process', async () => {
    vi.stubEnv('ZX_PREFIX', 'echo prefix;');
    vi.stubEnv('ZX_VERBOSE', 'true');
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await captured('false | true; echo ${UNSET}x')).toEqual({
      ok: true,
      ended: true,
      exitCode: 0,
      stdout: 'x',
      message: '',
    });
  });

  test('uses the options of the shell', async () => {
    const result = await captured('false; echo ${BASH_VERSION:+no}', { shell: 'bash -e' });
    expect(result).toEqual({ ok: false, ended: true, exitCode: 1, stdout: '', message: 'exit 1' });
  });

  test('keeps characters whole wherever a chunk of its output ends', async () => {
    const { stdout } = await captured(
      'i=0; while [ $i -lt 3000 ]; do printf "x\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac"; i=$((i+1)); done',
    );
    expect(stdout).toBe(`x${'\u20ac'.repeat(10)}`.repeat(3000));
  });

  test('ends when no process can add to its output', async () => {
    expect(await captured('(sleep 0.05; echo late) & echo early')).toEqual({
      ok: true,
      ended: true,
      exitCode: 0,
      stdout: 'early\nlate',
      message: '',
    });
  });
});

describe('a captured command that fails', () => {
  test.each([
    ['echo a; exit 3', 'a', 3, 'exit 3'],
    ['echo one >&2; echo two >&2; exit 1', '', 1, 'exit 1: two'],
    ['kill -9 $$', '', null, 'killed by SIGKILL'],
  ])('reports the reason: %s', async (command, stdout, exitCode, message) => {
    expect(await captured(command)).toEqual({ ok: false, ended: true, exitCode, stdout, message });
  });

  test('writes its errors to the given file', async () => {
    const path = join(temporaryDirectory(), 'errors');
    const stderr = openSync(path, 'a');
    onTestFinished(() => closeSync(stderr));
    expect(await captured('echo why >&2; exit 1', { stderr })).toEqual({
      ok: false,
      ended: true,
      exitCode: 1,
      stdout: '',
      message: 'exit 1',
    });
    expect(readFileSync(path, 'utf8')).toBe('why\n');
  });

  test.each([
    [{ cwd: '/no/such/place' }, 'directory "/no/such/place" does not exist'],
    [{ shell: 'no-such-shell' }, 'command not found: "no-such-shell"'],
    [{ shell: 'sh | sh' }, 'shell "sh | sh" is not a program with its options'],
    [{ env: { BAD: 'a\0b' } }, 'variable "BAD" contains a NUL character, which cannot be passed to a program'],
    [{ env: { BIG: 'x'.repeat(200_000) } }, expect.stringContaining('variable "BIG" is the largest with 200004 bytes')],
  ])('because it cannot be started reports the reason: %#', async (options, message) => {
    expect(await captured('true', options)).toEqual({ ok: false, ended: false, exitCode: null, stdout: '', message });
  });

  test('prints more than the maximum size of a value', async () => {
    const { ok, message } = await captured('yes');
    expect({ ok, message }).toEqual({ ok: false, message: 'it printed more than 1048576 bytes' });
  });
});

describe('a stop', () => {
  test('ends a captured command and everything it has started, including a process in another session', async () => {
    const cwd = temporaryDirectory();
    const stop = new AbortController();
    const command = "setsid sh -c 'echo $$ >pid.new; mv pid.new pid; exec sleep 300' & wait";
    const result = captureIn(cwd, command, { signal: stop.signal });
    const daemon = Number(await fileText(join(cwd, 'pid')));
    stop.abort();
    expect(await result).toEqual({ ok: false, ended: false, exitCode: null, stdout: '', message: 'stopped' });
    expect(runs(daemon)).toBe(false);
  });

  test('kills a command that ignores it', async () => {
    const cwd = temporaryDirectory();
    const stop = new AbortController();
    const result = captureIn(cwd, `echo $$ >pid; exec ${program('ignore-term.sh')} ready`, { signal: stop.signal });
    await until(() => existsSync(join(cwd, 'ready')));
    stop.abort();
    expect(await result).toEqual({ ok: false, ended: false, exitCode: null, stdout: '', message: 'stopped' });
    expect(runs(Number(readFileSync(join(cwd, 'pid'), 'utf8')))).toBe(false);
  });

  test('before the start starts nothing', async () => {
    const cwd = temporaryDirectory();
    const result = await captureIn(cwd, 'touch ran', { signal: AbortSignal.abort() });
    expect({ result, ran: existsSync(join(cwd, 'ran')) }).toEqual({
      result: { ok: false, ended: false, exitCode: null, stdout: '', message: 'stopped' },
      ran: false,
    });
  });
});
