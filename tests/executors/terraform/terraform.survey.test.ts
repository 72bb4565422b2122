import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '#core/workflow.ts';
import { executor } from '#executors/terraform/terraform.ts';
import { describeWith, isInstalled } from '../../support/require.ts';
import { runService } from '../../support/services.ts';
import { failed, succeeded, temporaryDirectory, testAttempt, until } from '../attempt.ts';

type Settings = NonNullable<Parameters<typeof testAttempt>[0]>;

/** Uses neither the network nor the user's settings. */
const offline = { TF_CLI_CONFIG_FILE: '/dev/null', CHECKPOINT_DISABLE: '1' };

const greeting = `
variable "name" { default = "nobody" }
resource "terraform_data" "greeting" { input = "hello \${var.name}" }
resource "terraform_data" "other" { input = var.name }
output "greeting" { value = terraform_data.greeting.output }
`;

describeWith('terraform', isInstalled('terraform'), 'a terraform step', () => {
  /** A directory with a configuration, initialized unless `isReady` is false. */
  async function configuration(text = greeting, isReady = true) {
    const dir = temporaryDirectory();
    writeFileSync(join(dir, 'main.tf'), text);
    if (isReady) expect((await run({ init: true }, { cwd: dir })).outcome).toEqual(succeeded);
    return dir;
  }

  function start(config: JsonObject, settings: Settings = {}) {
    const variables = { ...offline, HOME: '/nowhere', ...settings.variables };
    const world = testAttempt({ ...settings, step: { command: null, ...settings.step }, variables });
    return { ...world, running: executor.run(config, world.attempt) };
  }

  async function run(...args: Parameters<typeof start>) {
    const { running, stdout, stderr } = start(...args);
    const outcome = await running;
    return { outcome, stdout: stdout(), stderr: stderr() };
  }

  async function greetingIn(dir: string): Promise<string> {
    return (await run({ subcommand: 'output', args: ['-raw'] }, { cwd: dir, step: { args: ['greeting'] } })).stdout;
  }

  test('runs its subcommand, in the directory of the step', async () => {
    const { outcome, stdout } = await run({ subcommand: 'validate' }, { cwd: await configuration() });
    expect({ outcome, stdout }).toEqual({ outcome: succeeded, stdout: 'Success! The configuration is valid.\n\n' });
  });

  test('runs in "workingDir", and finds its files there', async () => {
    const dir = await configuration();
    writeFileSync(join(dir, 'prod.tfvars'), 'name = "prod"');
    const config = {
      workingDir: `${dir.slice(dir.lastIndexOf('/') + 1)}`,
      varFiles: ['$STAGE.tfvars'],
      autoApprove: true,
    };
    const { outcome } = await run(
      { ...config, subcommand: 'apply' },
      { cwd: join(dir, '..'), variables: { STAGE: 'prod' } },
    );
    expect({ outcome, greeting: await greetingIn(dir) }).toEqual({ outcome: succeeded, greeting: 'hello prod' });
  });

  test('runs "init" first on request', async () => {
    const { outcome, stdout } = await run(
      { init: true, subcommand: 'validate' },
      { cwd: await configuration(greeting, false) },
    );
    expect({ outcome, stdout }).toEqual({
      outcome: succeeded,
      stdout: expect.stringMatching(/has been successfully initialized![\s\S]*Success! The configuration is valid./),
    });
  });

  test.each([{ output: 'X' }, { stdout: 'file' }])('keeps "init" out of its output: %j', async (step) => {
    const config = { init: true, subcommand: 'validate' };
    const { outcome, stdout, stderr } = await run(config, { cwd: await configuration(greeting, false), step });
    expect({ outcome, stdout }).toEqual({ outcome: succeeded, stdout: 'Success! The configuration is valid.\n\n' });
    expect(stderr).toContain('has been successfully initialized!');
  });

  test('fails when its "init" does', async () => {
    const dir = await configuration('terraform {', false);
    const { outcome, stdout } = await run({ init: true, subcommand: 'apply', autoApprove: true }, { cwd: dir });
    const isApplied = stdout.includes('Apply');
    expect({ outcome, isApplied }).toEqual({ outcome: failed('exit', 'terraform init: exit 1', 1), isApplied: false });
  });

  test('gives "init" its arguments and the settings of the backend', async () => {
    const dir = await configuration('terraform {\n  backend "local" {}\n}', false);
    const config = { init: true, initArgs: ['-reconfigure'], backendConfig: { workspace_dir: 'ws', path: '$WHERE' } };
    const { outcome } = await run(config, { cwd: dir, variables: { WHERE: 'other state' } });
    const { backend } = JSON.parse(readFileSync(join(dir, '.terraform/terraform.tfstate'), 'utf8'));
    expect({ outcome, backend: backend.config }).toEqual({
      outcome: succeeded,
      backend: { path: 'other state', workspace_dir: 'ws' },
    });
  });

  test('plans into a file and applies that plan with its settings', async () => {
    const dir = await configuration();
    const config = { vars: { name: 'the plan' }, targets: ['terraform_data.greeting'], planFile: 'the plan.out' };
    const planned = await run({ ...config, subcommand: 'plan' }, { cwd: dir });
    const applied = await run({ ...config, subcommand: 'apply' }, { cwd: dir });
    expect([planned.outcome, applied.outcome]).toEqual([succeeded, succeeded]);
    expect(applied.stdout).toContain('1 added, 0 changed, 0 destroyed');
    expect(await greetingIn(dir)).toBe('hello the plan');
    const shown = await run({ subcommand: 'show', planFile: 'the plan.out', args: ['-json'] }, { cwd: dir });
    expect(JSON.parse(shown.stdout).variables).toEqual({ name: { value: 'the plan' } });
  });

  test.each(["it's", 'a "b"  c', '$(id)', '${x}', '-var=name=x', 'a\nb', '%{x}'])(
    'passes a variable unchanged: %j',
    async (value) => {
      const dir = await configuration();
      const config = { subcommand: 'apply', vars: { name: '$VALUE' }, autoApprove: true };
      const { outcome } = await run(config, { cwd: dir, variables: { VALUE: value } });
      expect({ outcome, greeting: await greetingIn(dir) }).toEqual({ outcome: succeeded, greeting: `hello ${value}` });
    },
  );

  test('touches only its targets', async () => {
    const dir = await configuration();
    const config = { subcommand: 'apply', targets: ['terraform_data.other'], autoApprove: true };
    await run(config, { cwd: dir });
    const { stdout } = await run({ subcommand: 'state' }, { cwd: dir, step: { command: 'list' } });
    expect(stdout).toBe('terraform_data.other\n');
  });

  test('destroys', async () => {
    const dir = await configuration();
    await run({ subcommand: 'apply', autoApprove: true }, { cwd: dir });
    const { outcome, stdout } = await run({ subcommand: 'destroy', autoApprove: true }, { cwd: dir });
    expect({ outcome, stdout }).toEqual({ outcome: succeeded, stdout: expect.stringContaining('2 destroyed') });
  });

  test('gets its environment', async () => {
    const dir = await configuration();
    const config = { subcommand: 'apply', env: { TF_VAR_name: 'env $X' }, autoApprove: true };
    await run(config, { cwd: dir, variables: { X: '1' } });
    expect(await greetingIn(dir)).toBe('hello env 1');
  });

  test('takes its subcommand from "command" too', async () => {
    const { stdout } = await run({}, { cwd: await configuration(), step: { command: 'validate -json' } });
    expect(JSON.parse(stdout)).toMatchObject({ valid: true });
  });

  test('does not prompt: without approval it changes nothing', async () => {
    const dir = await configuration();
    const { outcome } = await run({ subcommand: 'apply' }, { cwd: dir });
    expect({ outcome, state: existsSync(join(dir, 'terraform.tfstate')) }).toEqual({
      outcome: failed('exit', 'exit 1', 1),
      state: false,
    });
  });

  test('fails with its plan, whose message is in the log', async () => {
    const dir = await configuration();
    writeFileSync(join(dir, 'wrong.tf'), 'output "x" { value = var.undeclared }');
    const { outcome, stderr } = await run({ subcommand: 'plan' }, { cwd: dir });
    expect({ outcome, stderr }).toEqual({
      outcome: failed('exit', 'exit 1', 1),
      stderr: expect.stringContaining('Reference to undeclared input variable'),
    });
  });

  test('shows colours on request', async () => {
    const { stdout } = await run(
      { subcommand: 'validate' },
      { cwd: await configuration(), variables: { FORCE_COLOR: '1' } },
    );
    expect(stdout).toContain('\u001b[32m');
  });

  test('that is stopped saves its state and releases its lock', async () => {
    const slow = `resource "terraform_data" "first" {}
      resource "terraform_data" "slow" {
        depends_on = [terraform_data.first]
        provisioner "local-exec" { command = "echo > ready; exec sleep 300" }
      }`;
    const dir = await configuration(slow);
    const { running, stop, stdout, processes } = start({ subcommand: 'apply', autoApprove: true }, { cwd: dir });
    await until(() => existsSync(join(dir, 'ready')));
    const lock = join(dir, '.terraform.tfstate.lock.info');
    expect(existsSync(lock)).toBe(true);
    stop();
    expect(await running).toEqual(failed('exit', 'exit 1', 1));
    expect({ lock: existsSync(lock), processes: processes() }).toEqual({ lock: false, processes: [] });
    expect(stdout()).toContain('Gracefully shutting down');
    const { stdout: resources } = await run({ subcommand: 'state list' }, { cwd: dir });
    expect(resources).toBe('terraform_data.first\nterraform_data.slow\n');
    const after = await run({ subcommand: 'destroy', autoApprove: true }, { cwd: dir });
    expect(after).toMatchObject({ outcome: succeeded, stdout: expect.stringContaining('2 destroyed') });
  });

  test('that ignores a stop is killed with everything it has started', async () => {
    const stubborn = `resource "terraform_data" "slow" {
      provisioner "local-exec" { command = "trap '' INT TERM; touch ready; while :; do sleep 0.1; done" }
    }`;
    const dir = await configuration(stubborn);
    const { running, stop, kill, processes } = start({ subcommand: 'apply', autoApprove: true }, { cwd: dir });
    await until(() => existsSync(join(dir, 'ready')));
    stop();
    kill();
    await running;
    expect(processes()).toEqual([]);
  });

  test('that is stopped during "init" does not run its subcommand', async () => {
    const dir = temporaryDirectory();
    mkdirSync(join(dir, 'bin'));
    const fake = '#!/bin/sh\n[ "$1" = init ] || touch applied\necho > ready\nexec sleep 300\n';
    writeFileSync(join(dir, 'bin/terraform'), fake, { mode: 0o755 });
    const config = { binary: 'bin/terraform', init: true, subcommand: 'apply' };
    const { running, stop } = start(config, { cwd: dir });
    await until(() => existsSync(join(dir, 'ready')));
    stop();
    expect(await running).toMatchObject({
      status: 'failed',
      signal: 'SIGINT',
      message: 'terraform init: killed by SIGINT',
    });
    expect(existsSync(join(dir, 'applied'))).toBe(false);
  });
});

describeWith('terraform', isInstalled('terraform'), 'fixtures/services/terraform', () => {
  test('releases and cleans up', async () => {
    const { ended, dir } = await runService('terraform', offline);
    expect(ended.stdout).toContain('| released to 1.2.3.eu-1.example.com\n');
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(readFileSync(join(dir, 'infra/terraform.tfstate'), 'utf8')).toContain('"resources": []');
  });
});

test.each([{ subcommand: 'plan' }, { subcommand: 'plan', init: true }])(
  'without Terraform a step explains how to install it: %j',
  async (config) => {
    const world = testAttempt({ step: { command: null } });
    const outcome = await executor.run({ ...config, binary: 'no-terraform' }, world.attempt);
    const how = 'install Terraform (https://developer.hashicorp.com/terraform/install), or name it with "binary"';
    expect(outcome).toEqual(failed('exit', `command not found: "no-terraform": ${how}`, 127));
  },
);

test.each<[JsonObject, Settings['step'], string]>([
  [{}, {}, 'the terraform executor needs "subcommand"'],
  [{ subcommand: '$NOTHING' }, {}, 'the terraform executor needs "subcommand"'],
  [
    { subcommand: 'plan' },
    { command: 'a | b' },
    'the "command" of a terraform step holds additional arguments, not shell code',
  ],
  [{ subcommand: 'destroy', planFile: 'p' }, {}, '"planFile" is used by plan, apply and show, not by "destroy"'],
])('a step without a subcommand is not run: %j %j', async (config, step, message) => {
  const world = testAttempt({ step: { command: null, ...step } });
  expect(await executor.run(config, world.attempt)).toEqual(failed('error', message));
  expect(world.started).toEqual([]);
});
