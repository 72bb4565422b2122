import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readConfig } from '#config/config.ts';
import { readLogForwarding } from '#config/forwarding-settings.ts';
import { withDirectory } from '../support/wf.ts';

/** What these settings come to. */
function read(yaml: string | null, env: Record<string, string> = {}) {
  return withDirectory(async (home) => {
    if (yaml !== null) writeFileSync(join(home, 'config.yaml'), yaml);
    try {
      return await readLogForwarding(readConfig({ WF_HOME: home, ...env }, home, {}));
    } catch (error) {
      return (error as Error).message.replace(home, 'HOME');
    }
  });
}

const on = 'logForwarding:\n  enabled: true\n  httpURL: http://localhost:9/logs\n';

const defaults = {
  httpUrl: 'http://localhost:9/logs',
  headers: {},
  timeoutMs: 5000,
  includeStepOutput: false,
  fields: [],
  queueSize: 256,
  batchSize: 1,
  maxRetries: 3,
  initialBackoffMs: 100,
  maxBackoffMs: 2000,
  monitor: { host: '127.0.0.1', port: 8091, basePath: '/log-forwarding', metricPrefix: 'wf' },
};

describe('log forwarding', () => {
  test.each([
    null,
    '',
    'logForwarding:\n',
    'logForwarding: {httpURL: "http://localhost"}',
    'logForwarding: {enabled: no}',
  ])('is off: %s', async (yaml) => expect(await read(yaml)).toBeNull());

  test('needs only an address', async () => expect(await read(on)).toEqual(defaults));

  test('reads every setting from the file', async () => {
    const yaml = `${on}  sinkType: http
  timeoutSec: 0.5
  includeStepOutput: true
  queueSize: 1
  batchSize: 10
  maxRetries: 0
  initialBackoffMS: 5
  maxBackoffMS: 6
  fields: [timestamp, attempt]
  headers: {Authorization: "Bearer \${TOKEN}", X-Number: 5}
  monitorEnabled: true
  monitorHost: localhost
  monitorPort: 0
  monitorBasePath: logs/
  metricPrefix: blackdagger
`;
    expect(await read(yaml, { TOKEN: 'abc' })).toEqual({
      httpUrl: 'http://localhost:9/logs',
      headers: { Authorization: 'Bearer abc', 'X-Number': '5' },
      timeoutMs: 500,
      includeStepOutput: true,
      fields: ['timestamp', 'attempt'],
      queueSize: 1,
      batchSize: 10,
      maxRetries: 0,
      initialBackoffMs: 5,
      maxBackoffMs: 6,
      monitor: { host: 'localhost', port: 0, basePath: '/logs', metricPrefix: 'blackdagger' },
    });
  });

  test('reads every setting from the environment, which takes precedence over the file', async () => {
    const env = {
      WF_LOG_FORWARDING_ENABLED: '1',
      WF_LOG_FORWARDING_HTTP_URL: 'https://example.org/x',
      WF_LOG_FORWARDING_TIMEOUT_SEC: '7',
      WF_LOG_FORWARDING_INCLUDE_STEP_OUTPUT: 'true',
      WF_LOG_FORWARDING_QUEUE_SIZE: '8',
      WF_LOG_FORWARDING_BATCH_SIZE: '9',
      WF_LOG_FORWARDING_MAX_RETRIES: '10',
      WF_LOG_FORWARDING_INITIAL_BACKOFF_MS: '11',
      WF_LOG_FORWARDING_MAX_BACKOFF_MS: '12',
      WF_LOG_FORWARDING_FIELDS: 'stream, timestamp',
      WF_LOG_FORWARDING_HEADERS: 'A: one\nB: two: three',
      WF_LOG_FORWARDING_MONITOR_ENABLED: 'false',
    };
    const expected = {
      httpUrl: 'https://example.org/x',
      headers: { A: 'one', B: 'two: three' },
      timeoutMs: 7000,
      includeStepOutput: true,
      fields: ['stream', 'timestamp'],
      queueSize: 8,
      batchSize: 9,
      maxRetries: 10,
      initialBackoffMs: 11,
      maxBackoffMs: 12,
      monitor: null,
    };
    expect(await read(null, env)).toEqual(expected);
    expect(await read(`${on}  timeoutSec: 1\n`, env)).toEqual(expected);
    expect(await read(on, { WF_LOG_FORWARDING_ENABLED: 'false' })).toBeNull();
  });

  test('accepts keys in any case', async () => {
    expect(await read('logForwarding: {Enabled: true, http_url: "http://localhost:9/logs"}')).toEqual(defaults);
  });

  test.each([
    [`${on}  colour: red\n`, 'HOME/config.yaml:4:3: unknown key "colour"'],
    ['logs: {}\n', 'HOME/config.yaml:1:1: unknown key "logs"'],
    ['- a\n', 'HOME/config.yaml:1:1: the configuration must be a map'],
    ['logForwarding: yes\n', 'HOME/config.yaml:1:1: "logForwarding" must be a map'],
    ['logForwarding: {\n', 'HOME/config.yaml:1:16: "{" is never closed'],
    [`${on}  queueSize: 0\n`, 'HOME/config.yaml:4:3: "queueSize" must be a whole number from 1 to 1000000'],
    [`${on}  timeoutSec: soon\n`, 'HOME/config.yaml:4:3: "timeoutSec" must be a number from 0.001'],
    [`${on}  monitorPort: 70000\n`, 'HOME/config.yaml:4:3: "monitorPort" must be a whole number from 0 to 65535'],
    [`${on}  includeStepOutput: maybe\n`, 'HOME/config.yaml:4:3: "includeStepOutput" must be true or false'],
    [`${on}  sinkType: kafka\n`, 'HOME/config.yaml:4:3: "sinkType" must be http'],
    [`${on}  fields: [colour]\n`, 'HOME/config.yaml:4:3: "fields" may list timestamp, stream, attempt'],
    [`${on}  headers: {"a b": c}\n`, 'HOME/config.yaml:4:3: "headers" cannot have the header "a b"'],
    [
      `${on}  headers: "Authorization Bearer s3cret"\n`,
      'HOME/config.yaml:4:3: "headers" must be lines such as "Name: value"',
    ],
    [`${on}  headers: [a]\n`, 'HOME/config.yaml:4:3: "headers" must give each header a text'],
    [
      `${on}  headers: {A: "$NOT_SET"}\n`,
      'the header "A" of log forwarding needs the variable "NOT_SET", which is not set',
    ],
    ['logForwarding: {enabled: true}\n', 'log forwarding is on, but "httpURL" is not set'],
    [
      'logForwarding:\n  httpURL: ftp://x\n',
      'HOME/config.yaml:2:3: "httpURL" must be an address that starts with http:// or https://',
    ],
  ])('is rejected if it is invalid: %j', async (yaml, message) => expect(await read(yaml)).toEqual(message));

  test('names the invalid variable', async () => {
    expect(await read(on, { WF_LOG_FORWARDING_QUEUE_SIZE: 'x' })).toBe(
      'WF_LOG_FORWARDING_QUEUE_SIZE: "queueSize" must be a whole number from 1 to 1000000',
    );
    expect(await read(on, { WF_LOG_FORWARDING_COLOUR: 'x' })).toBe('WF_LOG_FORWARDING_COLOUR: unknown key "COLOUR"');
  });
});
