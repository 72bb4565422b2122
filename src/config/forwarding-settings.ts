import type { LogForwarding, RecordField } from '#core/log-forwarding.ts';
import { expandText, lookupIn, references } from '#core/words/interpolate.ts';
import { canonicalKey } from '#language/schema/schema-type.ts';
import { WfError } from '#system/errors.ts';
import type { Config } from './config.ts';
import { type Entry, readValue, type Sourced, unknownKey } from './resolve.ts';
import { flag, type Kind, kind, listOf, number, oneOf, text, webAddress, wholeNumber } from './settings.ts';

/** A setting of the block `logForwarding`. */
type ForwardingSetting<T> = { readonly kind: Kind<NonNullable<T>>; readonly fallback: T; readonly about: string };

const metricName = kind('letters, digits and _', 'must be letters, digits and _', (value) => {
  return typeof value === 'string' && /^[a-zA-Z_][a-zA-Z0-9_]*$/.test(value) ? value : undefined;
});

const headers: Kind<Readonly<Record<string, string>>> = {
  name: 'map, or in a variable `Name: value` lines',
  read: (value) => {
    const isText = typeof value === 'string';
    const pairs = isText ? headerLines(value) : mapEntries(value);
    if (pairs === null) {
      return { problem: isText ? 'must be lines such as "Name: value"' : 'must give each header a text' };
    }
    const broken = pairs.find(
      ([name, content]) => !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) || /[\r\n\0]/.test(content),
    );
    return broken === undefined
      ? { value: Object.fromEntries(pairs) }
      : { problem: `cannot have the header "${broken[0]}"` };
  },
};

/** Every key of the block `logForwarding`. The variable is `WF_LOG_FORWARDING_` and the key in capitals. */
export const forwardingSettings = {
  enabled: setting(flag, false, 'whether the lines of runs are forwarded'),
  sinkType: setting(oneOf(['http']), 'http', 'the type of the sink; only `http`'),
  httpURL: setting(webAddress, null, 'the address of the sink'),
  timeoutSec: setting(number(0.001), 5, 'the timeout of a request'),
  includeStepOutput: setting(flag, false, 'whether the output of steps is forwarded'),
  queueSize: setting(wholeNumber(1, 1_000_000), 256, 'the maximum number of waiting records'),
  batchSize: setting(
    wholeNumber(1, 10_000),
    1,
    'the maximum number of records per request; if more than 1, a request contains a list',
  ),
  maxRetries: setting(wholeNumber(0, 1000), 3, 'the maximum number of retries of a request'),
  initialBackoffMS: setting(wholeNumber(0), 100, 'the delay before the first retry; it doubles with each retry'),
  maxBackoffMS: setting(wholeNumber(0), 2000, 'the maximum delay before a retry'),
  fields: setting(
    listOf<RecordField>(['timestamp', 'stream', 'attempt']),
    [] as readonly RecordField[],
    'the optional fields of a record',
  ),
  headers: setting(headers, {}, 'the headers of each request; `${NAME}` is replaced from the environment'),
  monitorEnabled: setting(flag, true, 'whether the monitor is enabled'),
  monitorHost: setting(text, '127.0.0.1', 'the address that the monitor listens on'),
  monitorPort: setting(wholeNumber(0, 65_535), 8091, 'the port that the monitor listens on; 0: any free port'),
  monitorBasePath: setting(text, '/log-forwarding', 'the prefix of the paths of the monitor'),
  metricPrefix: setting(
    metricName,
    'wf',
    'the prefix of the metrics of the monitor; `blackdagger` for existing dashboards',
  ),
} satisfies { readonly [key: string]: ForwardingSetting<unknown> };

type ForwardingValues = {
  readonly [K in keyof typeof forwardingSettings]: (typeof forwardingSettings)[K] extends ForwardingSetting<infer T>
    ? T
    : never;
};

function setting<T, const F extends T | null>(kind: Kind<T>, fallback: F, about: string): ForwardingSetting<T | F> {
  return { kind: kind as Kind<NonNullable<T | F>>, fallback, about };
}

/** Null if a line is not a header. The line is not reported, as it may contain a secret. */
function headerLines(text: string): [string, string][] | null {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (!lines.every((line) => line.includes(':'))) return null;
  return lines.map((line) => {
    const at = line.indexOf(':');
    return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
  });
}

function mapEntries(value: unknown): [string, string][] | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const entries = Object.entries(value as Record<string, unknown>);
  const isText = entries.every(([, content]) => typeof content === 'string' || typeof content === 'number');
  return isText ? entries.map(([name, content]) => [name, String(content)]) : null;
}

const VARIABLE_PREFIX = 'WF_LOG_FORWARDING_';

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
    const source = isVariable ? entry.position : entry.position.replace(/:\d+$/, '');
    values.set(key, { value, level: isVariable ? 'variable' : 'user', source });
  }
  return Object.fromEntries(values) as ReturnType<typeof readForwardingValues>;
}

/** The entries of the file first: later entries take precedence. */
function givenEntries({ settings, processEnv, cwd }: Config): readonly Entry[] {
  const block = settings.user.entries?.find(({ key }) => canonicalKey(key) === 'logforwarding');
  const inEnvironment = Object.entries(processEnv)
    .filter(([name]) => name.startsWith(VARIABLE_PREFIX))
    .map(([name, value]) => ({
      key: name.slice(VARIABLE_PREFIX.length),
      value,
      entries: null,
      base: cwd,
      line: 0,
      position: name,
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
