import { afterAll, beforeAll, expect, test } from 'vitest';
import fc from '../../support/fast-check.ts';
import { describeWith } from '../../support/require.ts';
import { failed, program, succeeded } from '../attempt.ts';
import { hostileValues } from '../hostile-values.ts';
import { isSshThere, runRemote, type SshServer, startSshd } from './sshd.ts';

const argv = program('argv.sh');
type Settings = Parameters<typeof runRemote>[1];

describeWith('ssh', isSshThere, 'data sent to another machine', () => {
  let server: SshServer;

  beforeAll(async () => {
    server = await startSshd();
  });
  afterAll(() => server.close());

  /** Runs a step that prints its arguments, with the values as parameters and as variables `V0`, `V1`... of the step. */
  async function printed(texts: readonly string[], step: (names: readonly string[]) => Settings['step']) {
    const names = texts.map((_, i) => `V${i}`);
    const variables = Object.fromEntries(texts.map((text, i) => [`V${i}`, text]));
    const env = names.map((name) => ({ name, value: 'set by the test' }));
    const settings = { step: { env, ...step(names) }, params: texts, variables };
    const { outcome, stdout, stderr } = await runRemote(server, settings);
    return { outcome, args: stdout.split('\0').slice(0, -1), stderr };
  }

  test.each<[string, (names: readonly string[]) => Settings['step']]>([
    ['a quoted variable', (names) => ({ command: `${argv} ${names.map((name) => `"$${name}"`).join(' ')}` })],
    [
      'a quoted variable beside shell syntax',
      (names) => ({ command: `true; ${argv} ${names.map((name) => `"$${name}"`).join(' ')}` }),
    ],
    ['a parameter', () => ({ command: `true; ${argv} "$@"` })],
    [
      'an element of a list',
      (names) => ({
        command: [argv, ...names.map((name) => `\${${name}}`)],
        env: names.map((name) => ({ name, value: '' })),
      }),
    ],
    ['one of args', (names) => ({ command: argv, args: names.map((name) => `$${name}`) })],
    [
      'one of args beside shell syntax',
      (names) => ({ command: `true; ${argv}`, args: names.map((name) => `$${name}`) }),
    ],
    ['a parameter of a script', () => ({ command: 'sh', script: `${argv} "$@"` })],
    [
      'a variable of a script',
      (names) => ({ command: null, script: `${argv} ${names.map((name) => `"$${name}"`).join(' ')}` }),
    ],
  ])('%s is one word with its value', async (_, step) => {
    const property = fc.asyncProperty(hostileValues, async (texts) => {
      expect(await printed(texts, step)).toEqual({ outcome: succeeded, args: texts, stderr: '' });
    });
    await fc.assert(property, { numRuns: 3 });
  });

  test('an unquoted variable is also one word, or none if it is empty', async () => {
    const { args } = await printed(['a  b', '', '*'], () => ({ command: `${argv} $V0 $V1 x$V2 $NOTHING "$NOTHING"` }));
    expect(args).toEqual(['a  b', 'x*', '']);
  });

  test('a default replaces an empty value', async () => {
    const command = `${argv} \${V0:-a b} "\${NOTHING:-$HOME/\${V1}}" \${NO:-} \${V1:-no}`;
    const { args } = await printed(['', "it's"], () => ({ command }));
    expect(args).toEqual(['a b', `${await remoteHome()}/it's`, "it's"]);
  });

  async function remoteHome() {
    return (await runRemote(server, { step: { command: 'echo ~' } })).stdout.trim();
  }

  test('a name without a value in the workflow is expanded on the other machine', async () => {
    const variables = { HOME: '/local', USER: 'local', SSH_CONNECTION: 'local' };
    const command = `${argv} $HOME "$USER" "\${HOME}"`;
    const { stdout } = await runRemote(server, { step: { command }, variables });
    const home = await remoteHome();
    expect(stdout.split('\0')).toEqual([home, server.user, home, '']);
  });

  test('a variable of this machine is sent only if the text mentions it and the other machine lacks it', async () => {
    const variables = { ONLY_HERE: "here's", NOT_NAMED: 'secret', HOME: '/the/local' };
    const script = 'echo "$ONLY_HERE"; env | grep -c -e NOT_NAMED -e /the/local';
    const { stdout } = await runRemote(server, { step: { command: 'sh', script }, variables });
    expect(stdout).toBe("here's\n0\n");
  });

  test('the variables of the workflow are in the remote environment', async () => {
    const env = [{ name: 'REGION', value: 'x' }];
    const settings = { name: 'the step', step: { env, command: 'env | grep -e ^REGION -e ^WF_STEP -e ^STAGE' } };
    const { stdout } = await runRemote(server, {
      ...settings,
      params: ['STAGE=a b'],
      variables: { REGION: 'eu 1', STAGE: 'a b' },
    });
    expect(stdout.split('\n').sort()).toEqual(['', 'REGION=eu 1', 'STAGE=a b', 'WF_STEP=the step']);
  });

  test('a NUL character is reported, not sent', async () => {
    const { outcome } = await printed(['a\0b'], () => ({ command: `${argv} $V0` }));
    const message = 'the command or one of its variables contains a NUL character, which cannot be passed to a program';
    expect(outcome).toEqual(failed('error', message));
  });

  test('a command to which args cannot be appended safely is not run', async () => {
    const { outcome } = await printed(['x'], () => ({ command: 'true; sleep 0 &', args: ['x'] }));
    const message = 'cannot append arguments to the command "true; sleep 0 &": write them into the command';
    expect(outcome).toEqual(failed('error', message));
  });

  test('an empty command is not sent', async () => {
    const { outcome } = await printed([''], () => ({ command: '$V0', args: ['true'] }));
    expect(outcome).toEqual(failed('error', 'the command is empty'));
  });
});
