import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import type { LogForwarding } from '#core/log-forwarding.ts';
import type { StoredEvent } from '#core/run/run.ts';
import { LogForwarder } from '#forwarding/log-forwarder.ts';
import type { LogFollowerOptions } from '#store/logs.ts';
import { httpServer } from '../support/http-server.ts';

afterEach(() => void vi.restoreAllMocks());

const settings: LogForwarding = {
  httpUrl: '',
  headers: {},
  includeStepOutput: true,
  fields: [],
  ...{ queueSize: 4, batchSize: 1, timeoutMs: 60_000, maxRetries: 0, initialBackoffMs: 1, maxBackoffMs: 1 },
  monitor: null,
};

const started = { type: 'step.started', seq: 1, at: 0, step: 'a', attempt: 1, process: null } as const;

/** A forwarder with a sink that never responds, and its input. */
async function openToHangingSink() {
  const server = await httpServer(() => {});
  let clock = 0;
  const now = vi.fn(() => clock);
  const warnings: string[] = [];
  let follower: LogFollowerOptions | null = null;
  const forwarder = await LogForwarder.open(
    { ...settings, httpUrl: server.url },
    { now, elapsed: now, publish: null, warn: (message) => void warnings.push(message) },
  );
  const close = () => forwarder.close(0, new AbortController().signal);
  onTestFinished(close);
  forwarder.attach({
    follow: (options) => {
      follower = options;
      return { follow: () => {}, finish: () => true, catchUp: () => undefined, close: () => {} };
    },
  });
  forwarder.watch(started satisfies Partial<StoredEvent> as StoredEvent);
  const output = (bytes: Buffer) => follower?.deliver({ step: 'a', attempt: 1, stream: 'stdout', bytes });
  const pass = (ms: number) => {
    clock += ms;
  };
  return { output, pass, close, now, warnings, url: server.url, isBlocked: () => follower?.isBlocked?.() };
}

test('the log is not read for a full queue until it is stuck', async () => {
  const { output, pass, isBlocked } = await openToHangingSink();
  output(Buffer.from('line\n'.repeat(10)));
  expect(isBlocked()).toBe(true);
  pass(1001);
  await expect.poll(isBlocked).toBe(false);
});

test('lines for a stuck queue are counted, and never parsed', async () => {
  const { output, pass, close, now, warnings, url } = await openToHangingSink();
  output(Buffer.from('line\n'.repeat(10)));
  pass(1001);
  output(Buffer.from('line\n'));
  const chunk = Buffer.from('another line\n'.repeat(10_000));
  const made = [
    vi.spyOn(Buffer.prototype, 'toString'),
    vi.spyOn(Buffer.prototype, 'subarray'),
    vi.spyOn(Buffer, 'from'),
  ];
  now.mockClear();

  output(chunk);

  const calls = made.map(({ mock }) => mock.calls.length);
  vi.restoreAllMocks();
  // The rest after the last line end is kept as a copy.
  expect(calls).toEqual([0, 1, 1]);
  expect(now.mock.calls.length).toBeLessThanOrEqual(2);
  await close();
  expect(warnings).toEqual([`log forwarding: 10012 of 10012 lines were not accepted by ${url} (not sent in time)`]);
});
