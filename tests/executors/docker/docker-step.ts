import { writeSync } from 'node:fs';
import type { Outcome } from '#core/run/run.ts';
import type { JsonObject, Workflow } from '#core/workflow.ts';
import { executor } from '#executors/docker/docker.ts';
import { workflow } from '../../support/workflow.ts';
import { testAttempt } from '../attempt.ts';

/** A started docker step. */
export type DockerStep = ReturnType<typeof testAttempt> & { readonly running: Promise<Outcome> };

/** The settings of a test's docker step. */
export type DockerStepSettings = Parameters<typeof testAttempt>[0] & {
  readonly host: string;
  readonly config?: JsonObject;
  readonly workflow?: Partial<Workflow>;
};

/** Starts a step in a container of the image `wf-test:1`, unless its settings say otherwise. */
export function startDockerStep({ host, config = {}, ...settings }: DockerStepSettings): DockerStep {
  const world = testAttempt({ ...settings, variables: { DOCKER_HOST: host, HOME: '/root', ...settings.variables } });
  const { stdoutFd, stderrFd } = world.attempt.log;
  const attempt = {
    ...world.attempt,
    workflow: { ...workflow(), ...settings.workflow },
    // A chunk of output may end within a character.
    write: (stream: 'stdout' | 'stderr', chunk: string | Uint8Array) => {
      const bytes = Buffer.from(chunk as Uint8Array);
      writeSync(stream === 'stdout' ? stdoutFd : stderrFd, bytes);
    },
  };
  return { ...world, attempt, running: executor.run({ image: 'wf-test:1', ...config }, attempt) };
}

/** Runs a docker step to its end. */
export async function runDockerStep(settings: DockerStepSettings) {
  const step = startDockerStep(settings);
  const outcome = await step.running;
  return { ...step, outcome, stdout: step.stdout(), stderr: step.stderr() };
}
