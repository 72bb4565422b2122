import type { LogForwarding } from '#core/log-forwarding.ts';
import { expandText, lookupIn, references } from '#core/words/interpolate.ts';
import { canonicalKey } from '#language/read/canonical-key.ts';
import { WfError } from '#system/errors.ts';
import type { Config } from './config.ts';
import { type Entry, unknownKey } from './config-file.ts';
import { type ForwardingValues, forwardingSettings } from './forwarding-settings.ts';
import { readValue, type Sourced } from './resolve.ts';
import type { Kind } from './setting-kinds.ts';

const variablePrefix = 'WF_LOG_FORWARDING_';

/**
 * The settings of log forwarding: variables `WF_LOG_FORWARDING_<KEY>` take precedence over the block `logForwarding`
 * of `config.yaml`. Null if it is off. Throws a `WfError` `usage` for an invalid setting, with its position.
 */
export async function readLogForwarding(config: Config): Promise<LogForwarding | null> {
  const given = givenEntries(config);
  if (given.length === 0) return null;
  const read = readForwardingValues(config);
  const values = Object.fromEntries(Object.entries(read).map(([key, { value }]) => [key, value])) as ForwardingValues;
  return values.enabled ? forwarding(values, config.processEnv) : null;
}

/** Every setting of the block with its source. Throws a `WfError` `usage` for an invalid setting, with its position. */
export function readForwardingValues(config: Config): { readonly [K in keyof ForwardingValues]: Sourced<unknown> } {
  const values = new Map<string, Sourced<unknown>>();
  for (const [key, { fallback }] of Object.entries(forwardingSettings))
    values.set(key, { value: fallback, level: 'default', source: 'default' });
  for (const entry of givenEntries(config)) {
    const key = knownKey(entry);
    const value = readValue(forwardingSettings[key].kind as Kind<unknown>, { ...entry, key });
    const isVariable = entry.line === 0;
    const source = isVariable ? entry.place : entry.place.replace(/:\d+$/, '');
    values.set(key, { value, level: isVariable ? 'variable' : 'user', source });
  }
  return Object.fromEntries(values) as ReturnType<typeof readForwardingValues>;
}

/** The entries of the file first: later entries take precedence. */
function givenEntries({ settings, processEnv, cwd }: Config): readonly Entry[] {
  const block = settings.user.entries?.find(({ key }) => canonicalKey(key) === 'logforwarding');
  const inEnvironment = Object.entries(processEnv)
    .filter(([name]) => name.startsWith(variablePrefix))
    .map(([name, value]) => ({
      key: name.slice(variablePrefix.length),
      value,
      entries: null,
      base: cwd,
      line: 0,
      place: name,
    }));
  return [...(block?.entries ?? []), ...inEnvironment];
}

/** `HTTP_URL`, `httpURL` and `http_url` are one key. */
function knownKey(entry: Entry): keyof ForwardingValues {
  const known = Object.keys(forwardingSettings) as (keyof ForwardingValues)[];
  const key = known.find((name) => canonicalKey(name) === canonicalKey(entry.key));
  if (key === undefined) throw unknownKey(entry, known);
  return key;
}

function forwarding(values: ForwardingValues, env: Config['processEnv']): LogForwarding {
  if (values.httpURL === null) throw new WfError('usage', 'log forwarding is on, but "httpURL" is not set');
  return {
    httpUrl: values.httpURL,
    headers: expandHeaders(values.headers, env),
    timeoutMs: values.timeoutSec * 1000,
    includeStepOutput: values.includeStepOutput,
    fields: values.fields,
    queueSize: values.queueSize,
    batchSize: values.batchSize,
    maxRetries: values.maxRetries,
    initialBackoffMs: values.initialBackoffMS,
    maxBackoffMs: values.maxBackoffMS,
    monitor: values.monitorEnabled
      ? {
          host: values.monitorHost,
          port: values.monitorPort,
          basePath: `/${values.monitorBasePath.replace(/^\/+|\/+$/g, '')}`.replace(/^\/$/, ''),
          metricPrefix: values.metricPrefix,
        }
      : null,
  };
}

/** The sink would refuse an empty token, with an error far from its cause. */
function expandHeaders(headers: Readonly<Record<string, string>>, env: Config['processEnv']): Record<string, string> {
  const scope = lookupIn(env);
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      const missing = references(value).find((variable) => scope(variable) === undefined);
      if (missing === undefined) return [name, expandText(value, scope)];
      throw new WfError(
        'usage',
        `the header "${name}" of log forwarding needs the variable "${missing}", which is not set`,
      );
    }),
  );
}
