import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasDocker, startDocker, type TestDocker } from '../support/docker.ts';
import { payloads, spellings } from '../support/nested-shells.ts';
import { withPlace } from '../support/past-runs.ts';
import { describeWith, isInstalled } from '../support/require.ts';
import { succeeded } from './attempt.ts';
import { runDockerStep } from './docker/docker-step.ts';
import { isSshThere, runRemote, type SshServer, startSshd } from './ssh/sshd.ts';

const known = spellings.filter(({ shell }) => shell === undefined || isInstalled(shell));
const functions = [{ name: 'show', params: 'Q', command: 'sh -c "printf %s \'$Q\'"' }];

/** A step that prints what an earlier step printed. */
const later = { depends: 'earlier', command: 'sh -c "printf %s \'$OUT\'"' };

describe('a value in the code of a nested shell is only data', () => {
  test.each(payloads)('%j', async (payload) => {
    const steps = known.map(({ step }, index) => ({ ...step, name: `s${index}`, stdout: `out-${index}` }));
    const workflow = {
      params: 'P=x',
      functions,
      steps: [
        ...steps,
        { name: 'earlier', command: 'printf %s "$P"', output: 'OUT' },
        { ...later, name: 'later', stdout: 'later' },
      ],
      handlerOn: { success: { command: 'sh -c "printf %s \'$P\'"', stdout: 'handler' } },
    };
    await withPlace({ 'w.yaml': JSON.stringify(workflow) }, async ({ cwd, start }) => {
      const { code } = await start('run', 'w.yaml', '--reporter', 'quiet', '--', `P=${payload}`).ended;
      const read = (file: string) => (existsSync(join(cwd, file)) ? readFileSync(join(cwd, file), 'utf8') : null);
      const wrong = known.filter((_, index) => read(`out-${index}`) !== payload).map(({ name }) => name);
      expect({ code, wrong, later: read('later'), handler: read('handler'), harm: read('F') }).toEqual({
        code: 0,
        wrong: [],
        later: payload.trimEnd(),
        handler: payload,
        harm: null,
      });
    });
  });
});

/** Spellings that need nothing but a POSIX shell. */
const portable = known.filter(
  ({ name, shell }) => shell === undefined && !/nohup|SHELL|head|exec sh|find|nice/.test(name),
);
const texts = portable.flatMap(({ step }) => {
  const { command, args = [], ...rest } = step as { command?: string | readonly string[]; args?: readonly string[] };
  return command === undefined || Object.keys(rest).length > 0 ? [] : [{ command, args }];
});

describeWith('ssh', isSshThere, 'a value in the code of a nested shell on another machine', () => {
  let server: SshServer;
  beforeAll(async () => {
    server = await startSshd();
  });
  afterAll(() => server.close());

  test.each(texts)('$command $args', async (step) => {
    for (const payload of [payloads.join(''), payloads.join('\n')]) {
      const { stdout, outcome } = await runRemote(server, {
        step: { ...step, env: [{ name: 'P', value: '' }] },
        variables: { P: payload },
      });
      expect({ stdout, status: outcome.status }).toEqual({ stdout: payload, status: 'succeeded' });
    }
  });
});

describeWith('docker', hasDocker, 'a value in the code of a nested shell in a container', () => {
  let world: TestDocker;
  beforeAll(async () => {
    world = await startDocker();
  });
  afterAll(() => world?.stop());

  const run = (settings: Omit<Parameters<typeof runDockerStep>[0], 'host'>) =>
    runDockerStep({ host: world.host, ...settings });

  test('a command, args, an entrypoint and its arguments', async () => {
    const payload = payloads.join('');
    const variables = { P: payload, MACHINE: payload };
    const env = [{ name: 'P', value: '' }];
    const code = "printf %s '$P'";
    const printed = [
      await run({ variables, step: { env, command: `sh -c "${code}"` } }),
      await run({ variables, step: { env, command: 'sh -c "printf %s \'$MACHINE\'"' } }),
      await run({ variables, step: { env, command: `true; sh -c "${code}"` } }),
      await run({ variables, step: { env, command: ['env', 'sh', '-c', 'printf %s "$P"'] } }),
      await run({ variables, step: { env, command: 'sh', args: ['-c', code] } }),
      await run({
        variables,
        step: { env, command: null, args: [code] },
        config: { container: { entrypoint: ['sh', '-c'] } },
      }),
      await run({
        variables,
        step: { env, command: `"${code}"` },
        config: { container: { entrypoint: ['sh', '-c'] } },
      }),
      await run({
        variables,
        step: { env, command: null },
        config: { container: { cmd: ['sh', '-c', 'printf %s "$P"'] } },
      }),
    ];
    expect(printed.map(({ stdout, stderr, outcome }) => ({ stdout, stderr, outcome }))).toEqual(
      printed.map(() => ({ stdout: payload, stderr: '', outcome: succeeded })),
    );
  });
});
