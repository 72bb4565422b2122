import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { closedPort, httpServer } from '../support/http-server.ts';
import { parsePrometheus } from '../support/prometheus.ts';
import { startWf, wf, withDirectory } from '../support/wf.ts';

type Sent = { requestId: string; dagName: string; stepName: string; line: string };

/** Runs a workflow with its logs forwarded to an address; the monitor gets a port that is free. */
async function run(httpUrl: string, yaml: string, settings: Record<string, string | number | boolean> = {}) {
  const monitorPort = await closedPort();
  return withDirectory(async (cwd) => {
    const block = { enabled: true, httpURL: httpUrl, includeStepOutput: true, monitorPort, ...settings };
    writeFileSync(join(cwd, 'config.yaml'), JSON.stringify({ logForwarding: block }));
    writeFileSync(join(cwd, 'w.yaml'), yaml);
    const startedAt = performance.now();
    const monitor = `http://127.0.0.1:${monitorPort}`;
    const ended = await wf(['run', 'w.yaml', '--run-id', 'r1', '-p', `MONITOR=${monitor}`], {
      cwd,
      env: { WF_HOME: cwd, WF_REPORTER: 'quiet' },
    });
    return { ...ended, tookMs: performance.now() - startedAt, directory: cwd };
  });
}

const talk = (command: string) => `name: talker\nparams: MONITOR=\nsteps:\n  - name: talk\n    command: ${command}\n`;

/** What a sink got from `seq n` and around it. */
function expected(lines: readonly string[]): readonly Sent[] {
  const common = { requestId: 'r1', dagName: 'talker' };
  const step = { ...common, stepName: 'talk' };
  return [
    { ...common, stepName: '', line: 'run started' },
    { ...step, line: 'step talk started' },
    ...lines.map((line) => ({ ...step, line })),
    { ...step, line: 'step talk succeeded' },
    { ...common, stepName: '', line: 'run succeeded' },
  ];
}

describe('log forwarding', () => {
  it('sends every line of a run, one request each, in order', async () => {
    const server = await httpServer((_, response) => response.end());
    const { code, stderr } = await run(server.url, talk('seq 3'));
    expect([code, stderr]).toEqual([0, '']);
    expect(server.received.map(({ body }) => JSON.parse(body) as Sent)).toEqual(expected(['1', '2', '3']));
  });

  it('loses nothing of a burst beyond the queue', async () => {
    const server = await httpServer((_, response) => response.end());
    const { code, stderr } = await run(server.url, talk('seq 3000'), { batchSize: 100, queueSize: 50 });
    expect([code, stderr]).toEqual([0, '']);
    const sent = server.received.flatMap(({ body }) => JSON.parse(body) as Sent[]);
    expect(sent).toEqual(expected(Array.from({ length: 3000 }, (_, i) => String(i + 1))));
  });

  it('sends only events unless output is wanted too', async () => {
    const server = await httpServer((_, response) => response.end());
    await run(server.url, talk('seq 3'), { includeStepOutput: false });
    expect(server.received.map(({ body }) => JSON.parse(body) as Sent)).toEqual(expected([]));
  });

  it('sends lines while the step is running', async () => {
    await withDirectory(async (cwd) => {
      const server = await httpServer(({ body }, response) => {
        if (body.includes('"line":"wait"')) writeFileSync(join(cwd, 'go'), '');
        response.end();
      });
      writeFileSync(join(cwd, 'w.yaml'), talk('"echo wait; until [ -e go ]; do sleep 0.01; done"'));
      const env = {
        WF_HOME: cwd,
        WF_LOG_FORWARDING_ENABLED: 'true',
        WF_LOG_FORWARDING_INCLUDE_STEP_OUTPUT: 'true',
        WF_LOG_FORWARDING_HTTP_URL: server.url,
        WF_LOG_FORWARDING_MONITOR_ENABLED: 'false',
      };
      expect((await wf(['run', 'w.yaml'], { cwd, env })).code).toBe(0);
    });
  });

  it('adds requested fields', async () => {
    const server = await httpServer((_, response) => response.end());
    await run(server.url, talk('sh -c "echo e >&2"'), { fields: 'timestamp,stream,attempt' });
    const sent = server.received.map(({ body }) => JSON.parse(body) as Sent);
    expect(sent.find(({ line }) => line === 'e')).toEqual({
      requestId: 'r1',
      dagName: 'talker',
      stepName: 'talk',
      line: 'e',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      stream: 'output',
      attempt: 1,
    });
  });

  it('sends no secrets', async () => {
    const server = await httpServer((_, response) => response.end());
    await run(server.url, `secrets: [T]\nenv: [{T: hunter22}]\n${talk('sh -c "echo $T; echo $T >&2"')}`);
    const bodies = server.received.map(({ body }) => body).join('\n');
    expect(bodies).toContain('"line":"***"');
    expect(bodies).not.toContain('hunter22');
  });

  it('sends no standard error of a step with a secret output', async () => {
    const server = await httpServer((_, response) => response.end());
    const step = talk('"echo session-$((4000 + 711)) | tee /dev/stderr"');
    await run(server.url, `secrets: [SESSION]\n${step}    output: SESSION\n`);
    const bodies = server.received.map(({ body }) => body).join('\n');
    expect(bodies.match(/"line":"\*\*\*"/g)).toHaveLength(2);
    expect(bodies).not.toContain('4711');
  });

  it('needs an address', async () => {
    const { code, stderr } = await run('nowhere', talk('seq 3'));
    expect([code, stderr.replace(/.*config/, 'config')]).toEqual([
      2,
      'config.yaml:1:34: "httpURL" must be an address that starts with http:// or https://\n',
    ]);
  });
});

describe('a sink that is', () => {
  it('gone does not delay the run or its end', async () => {
    const port = await closedPort();
    const { code, stderr } = await run(`http://127.0.0.1:${port}`, talk('seq 1000'), { initialBackoffMS: 1 });
    expect([code, stderr]).toEqual([
      0,
      `wf: log forwarding: 1004 of 1004 lines were not accepted by http://127.0.0.1:${port} (connection refused)\n`,
    ]);
  });

  it('at another address is reported with its answer', async () => {
    const server = await httpServer((_, response) => response.writeHead(404).end());
    const { code, stderr } = await run(server.url, talk('echo a'));
    expect([code, stderr]).toEqual([
      0,
      `wf: log forwarding: 5 of 5 lines were not accepted by ${server.url} (404 Not Found)\n`,
    ]);
  });

  it('hanging delays the end of a run by five seconds at most', async () => {
    const server = await httpServer(() => {});
    const { code, stderr, tookMs } = await run(server.url, talk('seq 1000'), { timeoutSec: 60 });
    expect([code, stderr]).toEqual([
      0,
      `wf: log forwarding: 1004 of 1004 lines were not accepted by ${server.url} (not sent in time)\n`,
    ]);
    // The limit is what is promised, not a measure of speed.
    expect(tookMs).toBeLessThan(8000);
  });

  it('slow gets as much as it accepts until the end', async () => {
    const server = await httpServer((_, response) => void setTimeout(() => response.end(), 200));
    const { code, stderr } = await run(server.url, talk('seq 1000'));
    expect(code).toBe(0);
    const [, lost] = /^wf: log forwarding: (\d+) of 1004 lines were not accepted/.exec(stderr) ?? [];
    expect(server.received.length).toBeGreaterThan(5);
    expect(Number(lost)).toBeGreaterThanOrEqual(1004 - server.received.length);
  });

  it('broken for a while gets everything in the end', async () => {
    let asked = 0;
    const server = await httpServer((_, response) => response.writeHead(++asked % 3 === 0 ? 200 : 500).end());
    const { code, stderr } = await run(server.url, talk('seq 5'), { initialBackoffMS: 1 });
    expect([code, stderr, server.received.length]).toEqual([0, '', 27]);
  });

  it('hanging does not delay a run that does not want to wait', async () => {
    const server = await httpServer(() => {});
    await withDirectory(async (cwd) => {
      writeFileSync(join(cwd, 'w.yaml'), talk('"trap true TERM; echo ready; while true; do sleep 0.05; done"'));
      const env = {
        WF_HOME: cwd,
        WF_REPORTER: 'plain',
        WF_LOG_FORWARDING_ENABLED: 'true',
        WF_LOG_FORWARDING_HTTP_URL: server.url,
        WF_LOG_FORWARDING_TIMEOUT_SEC: '600',
        WF_LOG_FORWARDING_MONITOR_ENABLED: 'false',
      };
      const running = startWf(['run', 'w.yaml'], { cwd, env });
      await running.until('ready');
      running.kill('SIGINT');
      await running.until('stop');
      running.kill('SIGINT');
      expect((await running.ended).code).toBe(130);
    });
    // Shorter than the time limit for a sink during a run.
  }, 4400);
});

describe('the monitor', () => {
  const fixture = readFileSync(resolve(import.meta.dirname, '../../fixtures/log-forwarding/workflow.yaml'), 'utf8');

  it('answers a step of the run that it watches', async () => {
    const server = await httpServer((_, response) => response.end());
    const { code, stderr } = await run(server.url, fixture);
    expect([code, stderr]).toEqual([0, '']);
    const sent = server.received.map(({ body }) => JSON.parse(body) as Sent);
    const scraped = sent.flatMap(({ stepName, line }) => (stepName === 'scrape' ? [line] : []));
    const text = scraped.filter((line) => /^(#|wf_)/.test(line)).map((line) => `${line}\n`);
    const { wf_log_forwarding_records_total: records, ...others } = parsePrometheus(text.join(''));
    expect(Object.keys(others)).toEqual([
      'wf_log_forwarding_queue_depth',
      'wf_log_forwarding_queue_capacity',
      'wf_log_forwarding_sink_closed',
    ]);
    // Twenty lines, and the events of the run and its step.
    expect(records?.samples['result="queued"']).toBeGreaterThanOrEqual(22);
    expect(sent.filter(({ stepName }) => stepName === 'count').map(({ line }) => line)).toContain('5');
  });

  it('that cannot open its port is reported, and changes nothing else', async () => {
    const server = await httpServer((_, response) => response.end());
    const { code, stderr } = await run(server.url, talk('seq 1'), { monitorPort: server.port });
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining(`wf: the monitor of log forwarding is not available at 127.0.0.1:${server.port}: `),
    ]);
    expect(server.received.length).toBe(5);
  });
});
