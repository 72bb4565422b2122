import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually, untilOver } from '../support/background-runs.ts';
import { withDaemons } from '../support/daemon.ts';
import { closedPort, httpServer } from '../support/http-server.ts';
import type { Place } from '../support/past-runs.ts';
import { parsePrometheus } from '../support/prometheus.ts';

/** Unique to this file: processes left by a run are found by its id in any home. */
const [r1 = '', r2 = '', r3 = ''] = Array.from({ length: 3 }, () => `run-${randomUUID()}`);

const files = {
  'mixed.yaml': `handlerOn:
  exit:
    command: echo bye
steps:
  - name: good
    command: echo good
  - name: bad
    command: sh -c 'exit 3'
  - name: never
    command: echo never
    depends: bad
  - name: asked
    executor: jq
    command: .a
    script: '{"a":1}'
`,
};

test('metrics of runs and requests are exported in the Prometheus format', () =>
  withDaemons(files, async (place) => {
    const daemon = await place.serve();
    await daemon.act('mixed', { action: 'start', 'request-id': r1 });
    await untilOver(place, r1, 'failed');
    const metrics = await eventually(async () => {
      const read = parsePrometheus(await daemon.get('/metrics'));
      return read['wf_runs_total']?.samples['workflow="mixed",status="failed"'] === 1 && read;
    });

    expect(metrics['wf_steps_total']).toEqual({
      type: 'counter',
      samples: {
        'executor="command",status="succeeded"': 2,
        'executor="command",status="failed"': 1,
        'executor="command",status="upstream_failed"': 1,
        'executor="jq",status="succeeded"': 1,
      },
    });
    const samples = (name: string) => metrics[name]?.samples ?? {};
    expect(samples('wf_run_duration_seconds_count')).toEqual({ '': 1 });
    expect(samples('wf_run_duration_seconds_bucket')['le="+Inf"']).toBe(1);
    expect(samples('wf_step_duration_seconds_count')).toEqual({ '': 4 });
    for (const gauge of ['wf_runs_active', 'wf_queue_depth', 'wf_scheduler_lag_seconds'])
      expect([gauge, metrics[gauge]]).toEqual([gauge, { type: 'gauge', samples: { '': 0 } }]);
    expect(metrics['wf_runs_late_total']).toEqual({ type: 'counter', samples: { '': 0 } });
    expect(metrics['wf_schedule_missed_total']).toEqual({ type: 'counter', samples: { '': 0 } });
    expect(Object.keys(samples('wf_build_info'))).toEqual([
      expect.stringMatching(/^version="\d+\.\d+\.\d+",node="\d+\.\d+\.\d+"$/),
    ]);
    await daemon.get('/api/v1/dags/nobody');
    await daemon.get('/made/up/by/a/client');
    const { wf_http_request_duration_seconds_count: requests } = parsePrometheus(await daemon.get('/metrics'));
    expect(requests?.samples).toMatchObject({
      'method="POST",route="/api/v1/dags/{name}",status="200"': 1,
      'method="GET",route="/api/v1/dags/{name}",status="404"': 1,
      'method="any",route="none",status="404"': 1,
    });
    const health = JSON.parse(await daemon.get('/health'));
    expect(health).toEqual({
      status: 'ok',
      eventLoopLagMs: { mean: expect.any(Number), p99: expect.any(Number), max: expect.any(Number) },
    });
  }));

test('one monitor reports the forwarding of all runs, and its counters never decrease', () =>
  withDaemons(
    {
      'talk.yaml': `steps:
  - name: talk
    command: sh -c 'i=0; until test -e go && test $i -gt 8; do echo "line $i"; i=$((i+1)); sleep 0.05; done'
`,
      'hang.yaml': 'steps:\n  - name: hang\n    command: sh -c "echo hanging; sleep 60"\n',
    },
    async (place) => {
      const sink = await httpServer((_, response) => response.end());
      const port = await closedPort();
      configure(place, sink.url, port);
      const daemon = await place.serve();
      const seen: Counts[] = [];
      const look = async () => {
        const counts = await ask(port, '/metrics');
        expect(counts.queued).toBe(counts.forwarded + counts.failed + counts.queueDepth);
        for (const key of ['queued', 'forwarded', 'dropped', 'failed', 'retried'] as const)
          expect([key, counts[key] >= (seen.at(-1)?.[key] ?? 0)]).toEqual([key, true]);
        seen.push(counts);
        return counts;
      };

      expect(await look()).toMatchObject({ queued: 0, queueCapacity: 256, closed: false });
      for (const runId of [r1, r2, r3])
        await daemon.act(runId === r3 ? 'hang' : 'talk', { action: 'start', 'request-id': runId });
      await eventually(async () => (await look()).queueCapacity === 3 * 256);
      place.write('go', '');
      const runs = await Promise.all([r1, r2].map((runId) => untilOver(place, runId, 'succeeded')));
      const { owner } = await place.json('status', r3);
      process.kill(owner?.pid ?? Number.NaN, 'SIGKILL');
      await untilOver(place, r3, 'failed');
      const last = await eventually(async () => {
        const counts = await look();
        return counts.queueCapacity === 256 && counts;
      });

      expect(last).toMatchObject({ dropped: 0, queueDepth: 0 });
      expect(last.forwarded).toBeGreaterThanOrEqual(2 * 8);
      expect(last.forwarded).toBeLessThanOrEqual(sink.received.length);
      const text = await (await fetch(`http://127.0.0.1:${port}/log-forwarding/metrics/prometheus`)).text();
      expect(parsePrometheus(text)['wf_log_forwarding_records_total']?.samples).toMatchObject({
        'result="queued"': last.queued,
        'result="forwarded"': last.forwarded,
      });
      expect((await ask<{ status: string }>(port, '/health')).status).toBe('ok');
      for (const { runId } of runs) expect(readFileSync(join(place.runsDir, runId, 'process.log'), 'utf8')).toBe('');
      expect((await daemon.end('SIGTERM')).stderr).not.toMatch(/^(?!\S+ warning: no login is required: ).+/m);
    },
  ));

type Counts = Record<
  'queued' | 'forwarded' | 'dropped' | 'failed' | 'retried' | 'queueDepth' | 'queueCapacity',
  number
>;

async function ask<T = Counts>(port: number, path: string): Promise<T> {
  return (await fetch(`http://127.0.0.1:${port}/log-forwarding${path}`)).json() as Promise<T>;
}

function configure({ cwd }: Place, sinkUrl: string, port: number): void {
  mkdirSync(join(cwd, 'home'), { recursive: true });
  const block = { enabled: true, httpURL: sinkUrl, includeStepOutput: true, monitorPort: port };
  const lines = Object.entries(block).map(([key, value]) => `  ${key}: ${value}`);
  writeFileSync(join(cwd, 'home/config.yaml'), `logForwarding:\n${lines.join('\n')}\n`);
}
