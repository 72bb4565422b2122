import { request } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openMonitor } from '#forwarding/monitor.ts';
import { parsePrometheus } from '../support/prometheus.ts';

const counts = {
  queued: 9,
  forwarded: 5,
  dropped: 3,
  failed: 2,
  retried: 4,
  queueDepth: 2,
  queueCapacity: 256,
  closed: false,
};
const settings = { host: '127.0.0.1', port: 0, basePath: '/log-forwarding', metricPrefix: 'wf' };

async function monitor(change: Partial<typeof settings> = {}, counted: Partial<typeof counts> = {}) {
  const warnings: string[] = [];
  const opened = await openMonitor({ ...settings, ...change }, () => ({ ...counts, ...counted }), {
    warn: (text) => warnings.push(text),
    retryMs: 10,
  });
  onTestFinished(opened.close);
  const ask = (path: string, options: { headers?: Record<string, string>; method?: string } = {}) =>
    new Promise<{ status: number | undefined; type: string | undefined; body: string }>((resolve, reject) => {
      const asked = request({ host: '127.0.0.1', port: opened.port(), path, ...options }, (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (text: string) => {
          body += text;
        });
        response.on('end', () =>
          resolve({ status: response.statusCode, type: response.headers['content-type'], body }),
        );
      });
      asked.on('error', reject).end();
    });
  return { port: opened.port() ?? 0, close: opened.close, warnings, ask, now: opened.port };
}

describe('the monitor', () => {
  test('returns its counts as JSON', async () => {
    const { ask } = await monitor();
    const { status, type, body } = await ask('/log-forwarding/metrics');
    expect([status, type, JSON.parse(body)]).toEqual([200, 'application/json; charset=utf-8', counts]);
  });

  test('returns its health', async () => {
    const health = { queueDepth: 2, queueCapacity: 256, dropped: 3, failed: 2 };
    const { ask } = await monitor();
    expect(JSON.parse((await ask('/log-forwarding/health')).body)).toEqual({ status: 'ok', ...health });
    const { ask: askClosed } = await monitor({}, { closed: true });
    expect(JSON.parse((await askClosed('/log-forwarding/health')).body)).toEqual({ status: 'closed', ...health });
  });

  test.each([
    ['/log-forwarding/metrics/prometheus', {}],
    ['/log-forwarding/metrics?format=prometheus', {}],
    ['/log-forwarding/metrics', { Accept: 'application/openmetrics-text;version=1.0.0,text/plain;q=0.5,*/*;q=0.1' }],
  ])('exports its counts to Prometheus: %s', async (path, headers) => {
    const { ask } = await monitor();
    const { status, type, body } = await ask(path, { headers });
    expect([status, type]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    expect(parsePrometheus(body)).toEqual({
      wf_log_forwarding_queue_depth: { type: 'gauge', samples: { '': 2 } },
      wf_log_forwarding_queue_capacity: { type: 'gauge', samples: { '': 256 } },
      wf_log_forwarding_sink_closed: { type: 'gauge', samples: { '': 0 } },
      wf_log_forwarding_records_total: {
        type: 'counter',
        samples: {
          'result="queued"': 9,
          'result="forwarded"': 5,
          'result="dropped"': 3,
          'result="failed"': 2,
          'result="retried"': 4,
        },
      },
    });
  });

  test('accepts another prefix and another path', async () => {
    const { ask } = await monitor({ metricPrefix: 'blackdagger', basePath: '' });
    expect(Object.keys(parsePrometheus((await ask('/metrics/prometheus')).body))).toContain(
      'blackdagger_log_forwarding_queue_depth',
    );
  });

  test('answers requests of no other path', async () => {
    const { ask } = await monitor();
    const statuses = await Promise.all(
      ['/', '/metrics', '/log-forwarding', '/log-forwardingmetrics', '/log-forwarding/../metrics'].map((path) =>
        ask(path),
      ),
    );
    expect(statuses.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
    expect((await ask('/log-forwarding/metrics', { method: 'POST' })).status).toBe(405);
    expect(await ask('/log-forwarding/metrics', { method: 'HEAD' })).toMatchObject({ status: 200, body: '' });
  });

  test('rejects a foreign host name that points to it', async () => {
    const { ask, port } = await monitor();
    const statuses = await Promise.all(
      [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`, 'evil.example', `127.0.0.1.evil.example:${port}`].map(
        (Host) => ask('/log-forwarding/health', { headers: { Host } }),
      ),
    );
    expect(statuses.map(({ status }) => status)).toEqual([200, 200, 200, 403, 403]);
  });

  test('is replaced by another when the process with its port ends', async () => {
    const { port, close } = await monitor();
    const second = await monitor({ port }, { queued: 77 });
    const third = await monitor({ port });
    expect([second.now(), third.now()]).toEqual([null, null]);
    expect(second.warnings).toEqual([
      `the monitor of log forwarding is not available at 127.0.0.1:${port}: listen EADDRINUSE: address already in use 127.0.0.1:${port}; wf retries until it is free`,
    ]);
    await third.close();
    await close();
    await expect.poll(second.now).toBe(port);
    const metrics = await fetch(`http://127.0.0.1:${port}/log-forwarding/metrics`);
    expect(await metrics.json()).toMatchObject({ queued: 77 });
    expect(third.now()).toBeNull();
  });
});
