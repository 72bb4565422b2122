import type { RecordField } from '#core/log-forwarding.ts';
import { flag, type Kind, listOf, number, oneOf, text, webAddress, wholeNumber } from './setting-kinds.ts';

/** A setting of the block `logForwarding`. */
type ForwardingSetting<T> = { readonly kind: Kind<NonNullable<T>>; readonly fallback: T; readonly about: string };

const metricName: Kind<string> = {
  name: 'letters, digits and _',
  read: (value) => {
    const fits = typeof value === 'string' && /^[a-zA-Z_][a-zA-Z0-9_]*$/.test(value);
    return fits ? { value } : { problem: 'must be letters, digits and _' };
  },
};

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
  timeoutSec: setting(number({ from: 0.001 }), 5, 'the timeout of a request'),
  includeStepOutput: setting(flag, false, 'whether the output of steps is forwarded'),
  queueSize: setting(wholeNumber({ from: 1, to: 1_000_000 }), 256, 'the maximum number of waiting records'),
  batchSize: setting(
    wholeNumber({ from: 1, to: 10_000 }),
    1,
    'the maximum number of records per request; if more than 1, a request contains a list',
  ),
  maxRetries: setting(wholeNumber({ from: 0, to: 1000 }), 3, 'the maximum number of retries of a request'),
  initialBackoffMS: setting(
    wholeNumber({ from: 0 }),
    100,
    'the delay before the first retry; it doubles with each retry',
  ),
  maxBackoffMS: setting(wholeNumber({ from: 0 }), 2000, 'the maximum delay before a retry'),
  fields: setting(
    listOf<RecordField>(['timestamp', 'stream', 'attempt']),
    [] as readonly RecordField[],
    'the optional fields of a record',
  ),
  headers: setting(headers, {}, 'the headers of each request; `${NAME}` is replaced from the environment'),
  monitorEnabled: setting(flag, true, 'whether the monitor is enabled'),
  monitorHost: setting(text, '127.0.0.1', 'the address that the monitor listens on'),
  monitorPort: setting(
    wholeNumber({ from: 0, to: 65_535 }),
    8091,
    'the port that the monitor listens on; 0: any free port',
  ),
  monitorBasePath: setting(text, '/log-forwarding', 'the prefix of the paths of the monitor'),
  metricPrefix: setting(
    metricName,
    'wf',
    'the prefix of the metrics of the monitor; `blackdagger` for existing dashboards',
  ),
} satisfies { readonly [key: string]: ForwardingSetting<unknown> };

/** The values of the block. */
export type ForwardingValues = {
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
