import type { Executor } from '../executor.ts';
import { makeCall } from './call.ts';
import { expandedSettings, httpKeys, httpSettings, stepTarget } from './http-settings.ts';

/**
 * Makes the request in `command` (`METHOD url`) with the settings of `config` or of `script`, and prints the answer. A
 * status outside 2xx fails the step.
 */
export const executor: Executor = {
  run: (config, attempt) =>
    makeCall(attempt, () => ({
      target: stepTarget(attempt),
      settings: httpSettings(expandedSettings(config, httpKeys, attempt)),
      successStatusCodes: null,
    })),
};
