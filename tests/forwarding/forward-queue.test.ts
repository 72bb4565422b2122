import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { ForwardQueue, type ForwardQueueOptions, HttpSink } from '#forwarding/forward-queue.ts';
import type { ForwardedRecord } from '#forwarding/line-feed.ts';
import { until } from '../executors/attempt.ts';
import { closedPort, httpServer, tcpServer } from '../support/http-server.ts';

const quick = { queueSize: 4, batchSize: 1, maxRetries: 2, initialBackoffMs: 1, maxBackoffMs: 2 };

function record(line: string): ForwardedRecord {
  return { requestId: 'r', dagName: 'd', stepName: 's', line };
}

/** A queue in front of a real sink. */
async function queueTo(httpUrl: string, options: Partial<ForwardQueueOptions> = {}, timeoutMs = 2000) {
  const sink = await HttpSink.open({ httpUrl, headers: { 'X-Token': 'abc' }, timeoutMs });
  onTestFinished(() => sink.close());
  let now = 0;
  const queue = new ForwardQueue({ ...quick, sink, now: () => now, onRoom: () => {}, ...options });
  const tick = (ms: number) => {
    now += ms;
  };
  return { queue, sink, tick };
}

const empty = {
  queued: 0,
  forwarded: 0,
  dropped: 0,
  failed: 0,
  retried: 0,
  queueDepth: 0,
  queueCapacity: 4,
  closed: false,
};

describe('a sink that accepts everything', () => {
  test('gets one request per record, in order', async () => {
    const server = await httpServer((_, response) => response.end());
    const { queue } = await queueTo(`${server.url}/logs`);
    for (const line of ['a', 'b', 'c']) queue.add(record(line));
    await queue.idle();
    expect(server.received.map(({ method, url, body }) => [method, url, JSON.parse(body)])).toEqual(
      ['a', 'b', 'c'].map((line) => ['POST', '/logs', record(line)]),
    );
    expect(server.received[0]?.headers).toMatchObject({ 'content-type': 'application/json', 'x-token': 'abc' });
    expect(queue.counts).toEqual({ ...empty, queued: 3, forwarded: 3 });
  });

  test('gets lists if batches are enabled', async () => {
    const server = await httpServer((_, response) => response.end());
    const { queue } = await queueTo(server.url, { batchSize: 3 });
    for (const line of ['a', 'b', 'c', 'd']) queue.add(record(line));
    await queue.idle();
    expect(server.received.map(({ body }) => JSON.parse(body))).toEqual([
      [record('a'), record('b'), record('c')],
      [record('d')],
    ]);
  });

  test('is used over one connection', async () => {
    const ports = new Set<number>();
    const server = await httpServer((_, response) => {
      ports.add(server.connections());
      response.end();
    });
    const { queue } = await queueTo(server.url);
    for (const line of ['a', 'b', 'c']) queue.add(record(line));
    await queue.idle();
    expect([...ports]).toEqual([1]);
  });
});

describe('a sink that does not accept a record', () => {
  test('is retried while that may help', async () => {
    const answers = [500, 429, 204];
    const server = await httpServer((_, response) => response.writeHead(answers.shift() ?? 500).end());
    const { queue } = await queueTo(server.url);
    queue.add(record('a'));
    await queue.idle();
    expect(queue.counts).toEqual({ ...empty, queued: 1, forwarded: 1, retried: 2 });
  });

  test('counts it as failed after the last attempt', async () => {
    const server = await httpServer((_, response) => response.writeHead(503).end());
    const { queue } = await queueTo(server.url);
    queue.add(record('a'));
    queue.add(record('b'));
    await queue.idle();
    expect(server.received.length).toBe(6);
    expect(queue.counts).toEqual({ ...empty, queued: 2, failed: 2, retried: 4 });
  });

  test('is retried at growing intervals while it is down, and at once when it is back', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const askedAt: number[] = [];
    const start = Date.now();
    const send = async () => {
      askedAt.push(Date.now() - start);
      return askedAt.length <= 6 ? ('unavailable' as const) : ('taken' as const);
    };
    const sink = { send };
    const options = { ...quick, sink, maxRetries: 1, initialBackoffMs: 100, maxBackoffMs: 1000 };
    const queue = new ForwardQueue({ ...options, queueSize: 9, now: Date.now, onRoom: () => {} });
    for (const line of ['a', 'b', 'c', 'd', 'e']) queue.add(record(line));
    await vi.runAllTimersAsync();
    await queue.idle();
    expect(askedAt).toEqual([0, 100, 300, 700, 1500, 2500, 3500, 3500]);
    expect(queue.counts).toMatchObject({ queued: 5, failed: 3, forwarded: 2, retried: 3 });
  });

  test('is not retried if it rejects the request', async () => {
    const server = await httpServer((_, response) => response.writeHead(400).end());
    const { queue } = await queueTo(server.url);
    queue.add(record('a'));
    await queue.idle();
    expect(server.received.length).toBe(1);
    expect(queue.counts).toEqual({ ...empty, queued: 1, failed: 1 });
  });

  test('because it is unreachable', async () => {
    const { queue } = await queueTo(`http://127.0.0.1:${await closedPort()}`);
    queue.add(record('a'));
    await queue.idle();
    expect(queue.counts).toEqual({ ...empty, queued: 1, failed: 1, retried: 2 });
  });

  test('because it closes the connection', async () => {
    const { url } = await tcpServer((socket) => socket.destroy());
    const { queue, sink } = await queueTo(url);
    queue.add(record('a'));
    await queue.idle();
    expect(queue.counts).toMatchObject({ failed: 1, retried: 2 });
    expect(sink.problem).toBe('the connection was closed before the response was complete');
  });

  test('because it does not respond in time', async () => {
    const server = await httpServer(() => {});
    const { queue, sink } = await queueTo(server.url, { maxRetries: 1 }, 20);
    queue.add(record('a'));
    await queue.idle();
    expect(server.received.length).toBe(2);
    expect(queue.counts).toEqual({ ...empty, queued: 1, failed: 1, retried: 1 });
    expect(sink.problem).toBe('no complete response within 0.02s');
  });

  test('because it does not complete its answer', async () => {
    const server = await httpServer((_, response) => response.write('{'));
    const { queue, sink } = await queueTo(server.url, { maxRetries: 0 }, 20);
    queue.add(record('a'));
    await queue.idle();
    expect(queue.counts).toMatchObject({ failed: 1 });
    expect(sink.problem).toBe('no complete response within 0.02s');
  });
});

describe('a full queue', () => {
  test('is stuck when nothing has left it for a second', async () => {
    const server = await httpServer(() => {});
    const { queue, tick } = await queueTo(server.url);
    for (const line of ['a', 'b', 'c', 'd']) queue.add(record(line));
    tick(1000);
    expect([queue.isFull, queue.isStuck]).toEqual([true, false]);
    tick(1);
    expect([queue.isFull, queue.isStuck]).toEqual([true, true]);
    queue.abort();
    await queue.idle();
    expect(queue.counts).toEqual({ ...empty, queued: 4, failed: 4 });
  });

  test('has consistent counts at any time', async () => {
    const seen: boolean[] = [];
    const server = await httpServer((_, response) => {
      const { queued, forwarded, failed, queueDepth } = queue.counts;
      seen.push(queued === forwarded + failed + queueDepth && queueDepth > 0);
      response.writeHead(seen.length % 3 === 0 ? 400 : 200).end();
    });
    const { queue } = await queueTo(server.url, { queueSize: 50 });
    for (let i = 0; i < 30; i++) queue.add(record(String(i)));
    await queue.idle();
    expect(seen).toEqual(Array.from({ length: 30 }, () => true));
    expect(queue.counts).toMatchObject({ queued: 30, forwarded: 20, failed: 10, queueDepth: 0 });
  });
});

describe('closing', () => {
  test('abandons the request to a hanging sink at once', async () => {
    const server = await httpServer(() => {});
    const { queue } = await queueTo(server.url, {}, 60_000);
    queue.add(record('a'));
    queue.add(record('b'));
    await until(() => server.received.length === 1);
    queue.abort();
    await queue.idle();
    expect(queue.counts).toMatchObject({ queued: 2, failed: 2, queueDepth: 0, retried: 0 });
  });

  test('does not wait for a sink that was down before', async () => {
    const { queue } = await queueTo(`http://127.0.0.1:${await closedPort()}`);
    queue.add(record('a'));
    await queue.idle();
    queue.close();
    queue.add(record('b'));
    await queue.idle();
    expect(queue.counts).toEqual({ ...empty, queued: 1, failed: 1, dropped: 1, retried: 2, closed: true });
  });
});
