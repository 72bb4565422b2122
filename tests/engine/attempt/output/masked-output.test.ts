import { execFileSync } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Secrets } from '#core/secrets/secrets.ts';
import { MaskedOutputs } from '#engine/attempt/output/masked-output.ts';
import { NamedPipes, type Pipe } from '#processes/named-pipes.ts';
import type { ProgramStream } from '#store/logs.ts';

const secret = 'hunter2-hunter2';

type Options = { readonly output?: 'shown' | 'secret' | null; readonly hasPipes: boolean };

async function masked({ output = null, hasPipes }: Options) {
  const directory = mkdtempSync(join(tmpdir(), 'wf-masked-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const [stdoutPath, stderrPath] = [join(directory, 'out'), join(directory, 'err')];
  const log = {
    isDirect: true,
    stdoutPath,
    stderrPath,
    stdoutFd: openSync(stdoutPath, 'a'),
    stderrFd: openSync(stderrPath, 'a'),
  };
  const secrets = new Secrets();
  secrets.add(secret);
  const failures: unknown[] = [];
  const outputs = new MaskedOutputs(secrets);
  const named = new NamedPipes({ PATH: process.env['PATH'] ?? '' });
  const pipes = new Map<ProgramStream, Pipe | null>();
  for (const stream of ['stdout', 'stderr'] as const) pipes.set(stream, hasPipes ? await named.open(directory) : null);
  const attempt = outputs.start(
    { log: { ...log, files: log }, kept: {} },
    {
      pipes,
      keeps: output === null ? [] : ['stdout'],
      isSecret: output === 'secret',
      maxOutputBytes: 1024,
      onFailure: (error) => failures.push(error),
    },
  );
  onTestFinished(() => outputs.close());
  return { attempt, failures, logged: () => readFileSync(stdoutPath, 'utf8') };
}

test.each([{ hasPipes: true }, { hasPipes: false }])(
  'a line written between the end of the program and the end of the attempt is in the log, masked: %o',
  async ({ hasPipes }) => {
    const { attempt, failures, logged } = await masked({ hasPipes });
    attempt.write('stdout', 'before\n');
    await attempt.settle();
    attempt.write('stdout', `after ${secret}\n`);
    attempt.close();
    expect(logged()).toBe('before\nafter ***\n');
    expect(failures).toEqual([]);
  },
);

test('after settling, the log contains the output of a program and a held beginning of a secret', async () => {
  const { attempt, logged } = await masked({ hasPipes: true });
  execFileSync('printf', ['%s', `${secret} hunter2-`], { stdio: ['ignore', attempt.log.stdoutFd, 'ignore'] });
  await attempt.settle();
  expect(logged()).toBe('*** hunter2-');
  attempt.write('stdout', 'end');
  attempt.close();
  expect(logged()).toBe('*** hunter2-end');
});

test('a stream stays open for a line of its own while its pipe reaches its end', async () => {
  const { attempt, logged } = await masked({ hasPipes: true });
  await attempt.settle();
  // The end of the pipe arrives as an event of the next turns.
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  attempt.write('stdout', 'after\n');
  attempt.close();
  expect(logged()).toBe('after\n');
});

test('a line after the program is not part of the value, and a withheld log shows one mask', async () => {
  const { attempt, logged } = await masked({ hasPipes: true, output: 'secret' });
  attempt.write('stdout', 'value\n');
  await attempt.settle();
  expect(logged()).toBe('***\n');
  attempt.write('stdout', 'after\n');
  expect(attempt.text('TOKEN', 'stdout')).toEqual({ text: 'value' });
  attempt.close();
  expect(logged()).toBe('***\n');
});
