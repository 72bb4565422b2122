import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Outcome } from '#core/run/run.ts';
import { hasDocker, startDocker, type TestDocker } from '../../support/docker.ts';
import { describeWith } from '../../support/require.ts';
import { failed, succeeded, until } from '../attempt.ts';
import { type DockerStepSettings, startDockerStep } from './docker-step.ts';

const canceled: Outcome = { status: 'canceled', message: '', exitCode: null, signal: null };

/** A command that prints which of these signals it received, and exits with 0. */
const graceful = [
  'sh',
  '-c',
  'for s in TERM USR1 INT; do trap "echo got $s; exit 0" $s; done; echo ready; while :; do sleep 0.01; done',
];
const stubborn = ['sh', '-c', 'trap "" TERM; echo ready; while :; do sleep 0.01; done'];

describeWith('docker', hasDocker, 'a docker step that is stopped', () => {
  let world: TestDocker;
  beforeAll(async () => {
    world = await startDocker();
  });
  afterAll(() => world?.stop());

  /** Starts a step and waits for its first output. */
  async function startReady(settings: Omit<DockerStepSettings, 'host'>) {
    const step = startDockerStep({ host: world.host, ...settings });
    await Promise.race([until(() => step.stdout().includes('ready')), step.running]);
    return step;
  }

  test.each([
    ['SIGTERM', 'its own signal', {}, 'TERM'],
    ['SIGUSR1', 'its own signal', { container: { stopSignal: 'SIGINT' } }, 'USR1'],
    [
      'SIGTERM',
      'the one that the container wants, where it names none',
      { container: { stopSignal: 'SIGINT' } },
      'INT',
    ],
  ])('by %s receives %s', async (signalOnStop, _, config, got) => {
    const step = await startReady({ config, step: { command: graceful, signalOnStop } });
    step.stop();
    expect(await step.running).toEqual(succeeded);
    expect(step.stdout()).toBe(`ready\ngot ${got}\n`);
    expect(await world.containersOf(step.attempt.runId)).toEqual([]);
  });

  test('and ignores it is killed, and removed even if it should be kept', async () => {
    const step = await startReady({ config: { autoRemove: false }, step: { command: stubborn } });
    step.stop();
    step.kill();
    expect(await step.running).toEqual(failed('exit', 'exit 137: killed (SIGKILL)', 137));
    expect(await world.containersOf(step.attempt.runId)).toEqual([]);
  });

  test.each([
    ['ends at once by default', {}, failed('exit', 'exit 143', 143)],
    [
      'ignores the signal as the first process',
      { host: { init: false } },
      failed('exit', 'exit 137: killed (SIGKILL)', 137),
    ],
  ])('whose program handles no signal %s', async (_, config, outcome) => {
    const step = await startReady({ config, step: { command: ['sh', '-c', 'echo ready; exec sleep 1000'] } });
    step.stop();
    if ('host' in config) step.kill();
    expect(await step.running).toEqual(outcome);
  });

  test('before it starts creates no container', async () => {
    const stopped = startDockerStep({ host: world.host, step: { command: 'touch /x' } });
    stopped.stop();
    expect(await stopped.running).toEqual(canceled);
    expect(await world.containersOf(stopped.attempt.runId)).toEqual([]);
  });
});
