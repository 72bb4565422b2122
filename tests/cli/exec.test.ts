import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { execWorkflow } from '#cli/commands/runs/exec-command.ts';
import { listWords } from '#core/words/command-args.ts';
import { temporaryDirectory } from '../executors/attempt.ts';
import fc from '../support/fast-check.ts';
import { withPlace } from '../support/past-runs.ts';

describe('wf exec', () => {
  it('runs exactly the given words and stores their output', async () => {
    await withPlace({}, async (place) => {
      const words = ['$HOME', '${X:-y}', '`id`', '*', 'a  b', "it's", '\\$1', '\\}', '', '--name', '-x', '--'];
      const { code, stdout } = await place.wf('exec', '--name', 'words', '--', 'printf', '[%s]\\n', ...words);
      expect(code).toBe(0);
      expect(stdout).toContain('SUCCEEDED words');
      const logs = await place.wf('logs', 'words', 'printf');
      expect(logs.stdout).toBe(words.map((word) => `[${word}]\n`).join(''));
    });
  });

  it.each([
    [0, ['true']],
    [7, ['sh', '-c', 'exit 7']],
    [137, ['sh', '-c', 'kill -9 $$']],
    [127, ['no-such-program']],
  ])('ends with exit code %d as its command does', async (expected, words) => {
    await withPlace({}, async (place) => {
      expect((await place.wf('exec', ...words)).code).toBe(expected);
      expect((await place.json('status', 'exec')).steps[0]?.exitCode).toBe(expected);
    });
  });

  it('runs in the given directory, and its run can be retried', async () => {
    await withPlace({}, async (place) => {
      await place.wf('exec', '--dir', '/', 'sh', '-c', 'pwd; exit 3');
      expect((await place.wf('retry', 'exec', '--reporter', 'plain')).stdout).toContain('| /\n');
      expect(await place.wf('exec', '--dir', 'nowhere', 'pwd')).toMatchObject({
        code: 2,
        stderr: `error: there is no directory "${place.cwd}/nowhere"\n`,
      });
      expect(await place.wf('exec', '--dir', '/dev/null/x', 'pwd')).toMatchObject({
        code: 2,
        stderr: 'error: there is no directory "/dev/null/x"\n',
      });
      expect((await place.wf('exec')).code).toBe(2);
    });
  });

  it.each([
    [[''], 'the command is empty\n  help: wf exec make test'],
    [['--name', ' ', 'true'], 'the name is empty\n  help: leave --name out, or give it one'],
  ])('refuses %j, which is no command', async (words, message) => {
    await withPlace({}, async (place) => {
      expect(await place.wf('exec', ...words)).toMatchObject({ code: 2, stderr: `error: ${message}\n` });
    });
  });

  it('has no file that could be used instead', async () => {
    await withPlace({}, async (place) => {
      await place.wf('exec', '--run-id', 'r1', 'false');
      const message = 'error: run r1 was not made from a file\n';
      const help = '  help: its steps are stored with it: after it has finished, wf retry r1 runs them again\n';
      expect(await place.wf('restart', 'r1')).toMatchObject({ code: 2, stderr: message + help });
      expect(await place.wf('retry', 'r1', '--file')).toMatchObject({ code: 2, stderr: message + help });
    });
  });

  it.each([
    [['sh', '-c', ':', '--color'], false],
    [['--name', '--color', 'sh', '-c', ':'], false],
    [['--dir', '/', '--', 'sh', '-c', ':', '--color'], false],
    [['--color', 'sh', '-c', ':', '--no-color'], true],
    [['--name=x', '--dir', '/', '--color', 'sh', '-c', ':'], true],
  ])('ignores colour options after its command: %j', async (words, isColored) => {
    await withPlace({}, async (place) => {
      const { code, stdout } = await place.wf('exec', ...words);
      expect([code, stdout.includes('\x1b[')]).toEqual([0, isColored]);
    });
  });

  it('does not treat words as variables, even if base.yaml has some', () => {
    const base = join(temporaryDirectory(), 'base.yaml');
    writeFileSync(base, 'env: {A: value}\nparams: {A1: value}\n');
    const directories = { cwd: '/', dagsDir: null, base };
    const unit = fc.constantFrom(...'$\\{}:-A1`"\'\n é');
    fc.assert(
      fc.property(fc.array(fc.string({ unit }), { minLength: 1 }), (words) => {
        const { workflow } = execWorkflow(['x', ...words], { name: 'exec', directories });
        const [step] = workflow.steps;
        if (step === undefined || !Array.isArray(step.command)) throw new Error('no list');
        const context = { workflow, step, params: [], scope: () => 'value' };
        expect(listWords(step.command, context)).toEqual(['x', ...words]);
      }),
    );
  });
});
