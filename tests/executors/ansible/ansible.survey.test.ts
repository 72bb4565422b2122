import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '#core/workflow.ts';
import { executor } from '#executors/ansible/ansible.ts';
import fc from '../../support/fast-check.ts';
import { describeWith, isInstalled } from '../../support/require.ts';
import { runService } from '../../support/services.ts';
import { failed, program, succeeded, temporaryDirectory, testAttempt, until } from '../attempt.ts';
import { hostileValues } from '../hostile-values.ts';

type Settings = NonNullable<Parameters<typeof testAttempt>[0]>;

/** A play for this machine; each task appends a line to `done`. */
function play(tasks: string): string {
  return `- hosts: all\n  connection: local\n  gather_facts: false\n  tasks:\n${tasks.replace(/^/gm, '    ')}\n`;
}

const append = (line: string) => `shell: echo "${line}" >> done\n  args: {chdir: "{{ playbook_dir }}"}`;
const tagged = play(
  `- ${append('one')}\n  tags: [one]\n- ${append('two')}\n  tags: [two]\n- ${append('three')}\n  tags: [three]`,
);

function start(config: JsonObject, { playbook = tagged, ...settings }: Settings & { playbook?: string } = {}) {
  const dir = settings.cwd ?? temporaryDirectory();
  if (!existsSync(join(dir, 'site.yml'))) writeFileSync(join(dir, 'site.yml'), playbook);
  // A separate home: Ansible stores files there.
  const variables = { HOME: dir, ANSIBLE_REMOTE_TEMP: join(dir, 'remote'), ...settings.variables };
  const world = testAttempt({ ...settings, cwd: dir, step: { command: null, ...settings.step }, variables });
  const running = executor.run({ playbook: 'site.yml', inventory: 'localhost,', ...config }, world.attempt);
  const done = () => (existsSync(join(dir, 'done')) ? readFileSync(join(dir, 'done'), 'utf8').trim().split('\n') : []);
  return { ...world, dir, running, done };
}

async function run(...args: Parameters<typeof start>) {
  const { running, stdout, stderr, ...world } = start(...args);
  const outcome = await running;
  return {
    outcome,
    stdout: stdout(),
    stderr: stderr(),
    done: world.done(),
    dir: world.dir,
    processes: world.processes(),
  };
}

describeWith('ansible', isInstalled('ansible-playbook'), 'an ansible step', () => {
  test('runs its playbook', async () => {
    const { outcome, done, stdout } = await run({});
    expect({ outcome, done }).toEqual({ outcome: succeeded, done: ['one', 'two', 'three'] });
    expect(stdout).toMatch(/localhost +: ok=3 +changed=3/);
  });

  test.each<[JsonObject, string[]]>([
    [{ tags: ['one', 'two'] }, ['one', 'two']],
    [{ tags: 'one,$TAG' }, ['one', 'three']],
    [{ tags: ['$NOTHING'] }, ['one', 'two', 'three']],
    [{ skipTags: ['one', 'two'] }, ['three']],
    [{ args: ['--start-at-task', 'shell'], tags: 'two' }, ['two']],
  ])('runs only the selected tasks: %j', async (config, expected) => {
    const { outcome, done } = await run(config, { variables: { TAG: 'three' } });
    expect({ outcome, done }).toEqual({ outcome: succeeded, done: expected });
  });

  test('finds its files under the directory of the step', async () => {
    const dir = temporaryDirectory();
    mkdirSync(join(dir, 'deploy'));
    mkdirSync(join(dir, 'inventory'));
    writeFileSync(join(dir, 'deploy/site.yml'), play(`- ${append('{{ inventory_hostname }} {{ colour }}')}`));
    writeFileSync(join(dir, 'inventory/prod.ini'), 'web1 colour=red\nweb2 colour=blue\n');
    const files = { playbook: '$WHERE/site.yml', inventory: 'inventory/prod.ini' };
    const settings = { cwd: dir, variables: { WHERE: 'deploy' } };
    const { outcome } = await run({ ...files, forks: 1 }, settings);
    const done = readFileSync(join(dir, 'deploy/done'), 'utf8');
    expect({ outcome, done }).toEqual({ outcome: succeeded, done: 'web1 red\nweb2 blue\n' });
  });

  test('runs nothing if a variable gives no number of forks', async () => {
    const { outcome, done } = await run({ forks: '$N' }, { variables: { N: 'many' } });
    const message = '"forks: $N" must be a whole number from 1, got "many"';
    expect([outcome, done]).toEqual([failed('error', message), []]);
  });

  test('takes several inventories and a limit', async () => {
    const playbook = play(`- ${append('{{ inventory_hostname }}')}`);
    const { done } = await run({ inventory: ['a1,a2,', 'b1,'], limit: ['b1', 'a2'], forks: 1 }, { playbook });
    expect(done.sort()).toEqual(['a2', 'b1']);
  });

  test('changes nothing with "check", and shows what would change with "diff"', async () => {
    const playbook = play('- copy: {content: "new\\n", dest: "{{ playbook_dir }}/file"}');
    const { outcome, stdout, dir } = await run({ check: true, diff: true }, { playbook });
    expect({ outcome, written: existsSync(join(dir, 'file')) }).toEqual({ outcome: succeeded, written: false });
    expect(stdout).toContain('+new');
  });

  test('becomes another user on request', async () => {
    const dir = temporaryDirectory();
    const sudo = '#!/bin/sh\ntouch "${0%/*}/became"\nwhile [ "$1" != /bin/sh ]; do shift; done\nexec "$@"\n';
    writeFileSync(join(dir, 'sudo'), sudo, { mode: 0o755 });
    // As root, Ansible would skip becoming root without this setting.
    const env = { ANSIBLE_BECOME_ALLOW_SAME_USER: 'true' };
    const config = { extraVars: { ansible_become_exe: join(dir, 'sudo') }, tags: 'one', env };
    await run(config, { cwd: dir });
    const before = existsSync(join(dir, 'became'));
    const { outcome } = await run({ ...config, become: true }, { cwd: dir });
    expect({ outcome, before, after: existsSync(join(dir, 'became')) }).toEqual({
      outcome: succeeded,
      before: false,
      after: true,
    });
  });

  test('opens a vault with the file of its password', async () => {
    const dir = temporaryDirectory();
    writeFileSync(join(dir, '.vault'), 'the password');
    writeFileSync(join(dir, 'secret.yml'), 'word: hidden');
    execFileSync('ansible-vault', ['encrypt', '--vault-password-file=.vault', 'secret.yml'], {
      cwd: dir,
      env: { ...process.env, HOME: dir },
      stdio: 'pipe',
    });
    const playbook = play(`- include_vars: secret.yml\n- ${append('{{ word }}')}`);
    const { outcome, done } = await run({ vaultPasswordFile: '~/.vault' }, { cwd: dir, playbook });
    expect({ outcome, done }).toEqual({ outcome: succeeded, done: ['hidden'] });
  });

  test('has its environment', async () => {
    const playbook = play(`- ${append("{{ lookup('env', 'STAGE') }}")}`);
    const { done } = await run({ env: { STAGE: 'prod $X' } }, { playbook, variables: { X: '1' } });
    expect(done).toEqual(['prod 1']);
  });

  test('shows colours on request', async () => {
    const [plain, colored] = [await run({}), await run({}, { variables: { FORCE_COLOR: '1' } })];
    expect([plain, colored].map(({ stdout }) => stdout.includes('\u001b['))).toEqual([false, true]);
  });

  test('has no terminal and no input', async () => {
    const playbook = `- hosts: all
  connection: local
  gather_facts: false
  vars_prompt: [{name: answer, default: "the default"}]
  tasks:
    - ${append('{{ answer }}').replaceAll('\n', '\n    ')}`;
    const { outcome, done } = await run({}, { playbook });
    expect({ outcome, done }).toEqual({ outcome: succeeded, done: ['the default'] });
  });

  test('fails with its play', async () => {
    const { outcome, stdout } = await run({}, { playbook: play('- fail: {msg: "not today"}') });
    expect({ outcome, stdout }).toEqual({
      outcome: failed('exit', 'exit 2', 2),
      stdout: expect.stringContaining('not today'),
    });
  });

  const writeAll = play('- copy: {content: "{{ all | to_json }}", dest: "{{ playbook_dir }}/written"}');
  const written = (dir: string): unknown => JSON.parse(readFileSync(join(dir, 'written'), 'utf8'));

  test('keeps the types of its variables', async () => {
    const all = {
      text: 'a  b',
      number: 1.5,
      version: '1.10',
      yes: true,
      none: null,
      list: [1, 'two', ['x']],
      map: { k: false },
    };
    const { outcome, dir } = await run({ extraVars: { all } }, { playbook: writeAll });
    expect({ outcome, written: written(dir) }).toEqual({ outcome: succeeded, written: all });
  });

  test('evaluates the expressions of the file', async () => {
    const extraVars = { all: ['{{ inventory_hostname }}', '{{ 1 + 1 }} $X'] };
    const { dir } = await run({ extraVars }, { playbook: writeAll, variables: { X: 'apples' } });
    expect(written(dir)).toEqual(['localhost', '2 apples']);
  });

  test('passes the values of variables unchanged', async () => {
    const property = fc.asyncProperty(hostileValues, async (texts) => {
      const variables = Object.fromEntries(texts.map((text, i) => [`V${i}`, text]));
      const extraVars = { all: texts.map((_, i) => `$V${i}`) };
      const { outcome, dir } = await run({ extraVars }, { playbook: writeAll, variables });
      expect({ outcome, written: written(dir) }).toEqual({ outcome: succeeded, written: texts });
    });
    await fc.assert(property, { numRuns: 3 });
  });

  test('does not evaluate expressions in values', async () => {
    const extraVars = { nested: { all: '{{ inventory_hostname }} $X' } };
    const { outcome } = await run({ extraVars }, { variables: { X: "{{ lookup('pipe', 'id') }}" } });
    const message =
      '"extraVars.nested.all" contains an expression and a variable whose value contains another: put the value into a variable of its own';
    expect(outcome).toEqual(failed('error', message));
  });

  test('leaves no file with its variables behind', async () => {
    const world = start({ extraVars: { secret: 's' } });
    await world.running;
    expect(readdirSync(world.attempt.scratch())).toEqual([]);
  });

  test('that is stopped ends with everything it has started, and cleans up', async () => {
    // A program that survives an interrupt would let its waiting shell continue.
    const playbook = play('- shell: echo > ready; exec sleep 300\n  args: {chdir: "{{ playbook_dir }}"}');
    const { running, stop, dir, processes, stderr } = start({}, { playbook });
    await until(() => existsSync(join(dir, 'ready')));
    stop();
    expect(await running).toEqual(failed('exit', 'exit 99', 99));
    expect({ processes: processes(), left: readdirSync(join(dir, '.ansible/tmp')) }).toEqual({
      processes: [],
      left: [],
    });
    expect(stderr()).toContain('User interrupted execution');
  });

  test('that ignores a stop is killed with everything it has started', async () => {
    const { running, stop, kill, dir, processes } = start(
      {},
      { playbook: play(`- shell: ${program('ignore-term.sh')} ready\n  args: {chdir: "{{ playbook_dir }}"}`) },
    );
    await until(() => existsSync(join(dir, 'ready')));
    stop();
    kill();
    await running;
    expect(processes()).toEqual([]);
  });
});

describeWith('ansible', isInstalled('ansible-playbook'), 'fixtures/services/ansible', () => {
  test('deploys', async () => {
    const { ended, dir } = await runService('ansible', { ANSIBLE_REMOTE_TEMP: temporaryDirectory() }, [
      '-p',
      "VERSION=it's {{ 1 + 1 }}",
    ]);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const settings = JSON.parse(readFileSync(join(dir, 'settings.json'), 'utf8'));
    expect(settings).toEqual({ debug: false, features: ['search', 'mail'], version: "it's {{ 1 + 1 }}" });
  });
});

test('without Ansible a step explains how to install it', async () => {
  const { outcome } = await run({ binary: 'no-ansible' });
  const how = 'install Ansible (package "ansible-core", or "pipx install ansible-core"), or name it with "binary"';
  expect(outcome).toEqual(failed('exit', `command not found: "no-ansible": ${how}`, 127));
});

test('a value cannot inject an option', async () => {
  const dir = temporaryDirectory();
  writeFileSync(join(dir, 'print'), '#!/bin/sh\nprintf "%s\\n" "$@"\n', { mode: 0o755 });
  const config = {
    binary: './print',
    playbook: '-x.yml',
    ...{ inventory: '--become', tags: '-t', skipTags: '-s', limit: '-l', user: '-u', vaultPasswordFile: '-v' },
    ...{ become: true, diff: true, check: true, forks: 3, args: ['-vv'] },
  };
  const { stdout } = await run(config, { cwd: dir, step: { command: '--flush-cache', args: ['-e a=b'] } });
  expect(stdout.trimEnd().split('\n')).toEqual([
    ...['--inventory=--become', '--tags=-t', '--skip-tags=-s', '--limit=-l', '--check', '--diff', '--forks=3'],
    ...['--become', '--user=-u', '--vault-password-file=-v', '-vv', '--flush-cache', '-e a=b', './-x.yml'],
  ]);
});

test.each<[JsonObject, Settings['step'], string]>([
  [{ playbook: '$NOTHING' }, {}, 'the ansible executor needs "playbook"'],
  [
    { playbook: 'x' },
    { command: 'a | b' },
    'the "command" of an ansible step holds additional arguments, not shell code',
  ],
])('a step without a playbook is not run: %j %j', async (config, step, message) => {
  const world = testAttempt({ step: { command: null, ...step } });
  expect(await executor.run(config, world.attempt)).toEqual(failed('error', message));
  expect(world.started).toEqual([]);
});
