import type { JsonObject } from '#core/workflow.ts';
import type { Attempt, Executor } from '../executor.ts';
import { type Call, makeCall } from './call.ts';
import { statusCodes, textField } from './header-fields.ts';
import { expandedSettings, httpKeys, httpSettings, target } from './http-settings.ts';

/** Calls the `url` in its settings, with POST unless `method` says otherwise; `successStatusCodes` defines success. */
export const executor: Executor = { run: (config, attempt) => makeCall(attempt, () => readCall(config, attempt)) };

const keys = [...httpKeys, 'url', 'method', 'successStatusCodes'];

function readCall(config: JsonObject, attempt: Attempt): Call {
  const settings = expandedSettings(config, keys, attempt);
  return {
    target: target(textField(settings, 'method') || 'POST', textField(settings, 'url')),
    settings: httpSettings(settings),
    successStatusCodes: statusCodes(settings, 'successStatusCodes'),
  };
}
