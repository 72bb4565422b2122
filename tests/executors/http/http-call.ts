import type { JsonObject } from '../../../src/core/workflow.ts';
import { executor as http } from '../../../src/executors/http/http.ts';
import { executor as webhook } from '../../../src/executors/http/webhook.ts';
import { testAttempt } from '../attempt.ts';

type Settings = Parameters<typeof testAttempt>[0];

/** The outcome of a request that was answered as was hoped for. */
export const answered = { status: 'succeeded', exitCode: null, outputs: {} };

/** Makes the request of an http step to its end. */
export async function call(command: string, config: JsonObject = {}, settings: Settings = {}) {
  const world = testAttempt({ ...settings, step: { command, ...settings.step } });
  const outcome = await http.run(config, world.attempt);
  return { outcome, stdout: world.stdout(), stderr: world.stderr(), started: world.started };
}

/** Makes the call of a webhook step to its end. */
export async function hook(config: JsonObject, settings: Settings = {}) {
  const world = testAttempt(settings);
  const outcome = await webhook.run(config, world.attempt);
  return { outcome, stdout: world.stdout(), stderr: world.stderr(), started: world.started };
}
