import type { JsonObject } from '#core/workflow.ts';
import { executor as http, webhook } from '#executors/http/http.ts';
import { testAttempt } from '../attempt.ts';

type Settings = Parameters<typeof testAttempt>[0];

/** The outcome of a successful request. */
export const answered = { status: 'succeeded', exitCode: null, outputs: {} };

/** Runs the request of an http step. */
export async function call(command: string, config: JsonObject = {}, settings: Settings = {}) {
  const world = testAttempt({ ...settings, step: { command, ...settings.step } });
  const outcome = await http.run(config, world.attempt);
  return { outcome, stdout: world.stdout(), stderr: world.stderr(), started: world.started };
}

/** Runs the call of a webhook step. */
export async function hook(config: JsonObject, settings: Settings = {}) {
  const world = testAttempt(settings);
  const outcome = await webhook.run(config, world.attempt);
  return { outcome, stdout: world.stdout(), stderr: world.stderr(), started: world.started };
}
