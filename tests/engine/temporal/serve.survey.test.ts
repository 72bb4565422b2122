import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { daemonUrl } from '../../support/daemon.ts';
import { describeWith } from '../../support/require.ts';
import { hasTemporal, type StartedWorker, startTemporal, type TemporalServer } from '../../support/temporal.ts';
import { type RunningWf, startWf, wf } from '../../support/wf.ts';

const quick = 'steps: [{name: a, command: echo quick}]';
const deaf = `
steps: [{name: waits, script: "trap 'echo asked; exit 1' TERM; echo ready; sleep 63 & wait"}]
handlerOn: {cancel: {command: echo cleaned}}
`;
const approval = `
steps:
  - {name: plan, command: echo 3 changes, output: PLAN, approval: {prompt: "Apply $PLAN?", input: [TICKET]}}
  - {name: apply, command: 'echo "applied $PLAN for $TICKET"', depends: plan}
`;
const again = `
retryPolicy: {limit: 1, intervalSec: 1}
steps: [{name: a, command: 'false'}]
`;
const locked = 'steps: [{name: a, dir: /tmp, command: "true"}]';
const tick = `
schedule: "* * * * *"
steps: [{name: a, command: echo tick}]
`;

const far = 'steps: [{name: far, command: echo, workerSelector: {zone: eu}}]';

const turn = `
queue: turns
steps: [{name: plan, command: echo plan}, {name: waits, command: sleep 300}]
`;

/** A daemon in a home of its own, over the workflows that all of them share. */
type Served = { readonly process: RunningWf; readonly url: string; readonly home: string };

describeWith('temporal', hasTemporal, 'daemons over one engine', () => {
  const directory = mkdtempSync(join(tmpdir(), 'wf-test-'));
  const dags = join(directory, 'dags');
  const begun: RunningWf[] = [];
  let server: TemporalServer;
  let worker: StartedWorker;

  beforeAll(async () => {
    server = await startTemporal(directory);
    worker = await server.worker('one');
    mkdirSync(dags);
    for (const [name, text] of Object.entries({ quick, deaf, approval, again, locked, far, turn }))
      writeFileSync(join(dags, `${name}.yaml`), text);
  });
  afterAll(async () => {
    for (const each of begun) each.kill('SIGKILL');
    await Promise.all(begun.map(({ ended }) => ended));
    await server.close();
    rmSync(directory, { recursive: true, force: true });
  });

  function launch(name: string, options: readonly string[] = []): RunningWf {
    const env = { HOME: directory, WF_HOME: join(directory, name) };
    const engine = options.includes('--engine') ? [] : ['--engine', server.url];
    const args = ['serve', '--port', '0', '--dags', dags, ...engine, ...options];
    const started = startWf(args, { cwd: directory, env, mergesErrors: true });
    begun.push(started);
    return started;
  }

  async function serve(name: string): Promise<Served> {
    const process = launch(name);
    return { process, url: await daemonUrl(process), home: join(directory, name) };
  }

  /** Kills a daemon as a crash would. */
  async function crash({ process }: Served): Promise<void> {
    process.kill('SIGKILL');
    await process.ended;
  }

  async function ask(daemon: Served, path: string, body?: object): Promise<{ status: number; json: never }> {
    const sent = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const answer = await fetch(`${daemon.url}/api/v2/${path}`, body === undefined ? {} : sent);
    return { status: answer.status, json: (await answer.json()) as never };
  }

  const start = (daemon: Served, workflow: string, runId: string) =>
    ask(daemon, `workflows/${workflow}/runs`, { runId });
  const statusOf = async (daemon: Served, runId: string) =>
    ((await ask(daemon, `runs/${runId}`)).json as { readonly status?: string }).status;
  const until = (daemon: Served, runId: string, status: string) =>
    expect.poll(() => statusOf(daemon, runId), { timeout: 30_000 }).toBe(status);
  const logsOf = async ({ url }: Served, runId: string) => (await fetch(`${url}/api/v2/runs/${runId}/logs`)).text();
  const waitingFor = async (daemon: Served, runId: string) =>
    ((await ask(daemon, `runs/${runId}`)).json as { readonly waitingFor?: unknown }).waitingFor;

  /** The journals of a home by run, without the numbers and checksums of lines. */
  function journals({ home }: Served): Readonly<Record<string, string>> {
    const runs = join(home, 'runs');
    const names = readdirSync(runs).filter((name) => /^[a-z0-9]/.test(name));
    return Object.fromEntries(names.map((name) => [name, readFileSync(join(runs, name, 'journal.jsonl'), 'utf8')]));
  }

  it('show all runs with their logs, and stop and answer those of the other one', async () => {
    const [a, b] = await Promise.all([serve('a1'), serve('b1')]);
    expect((await start(a, 'quick', 'q1')).status).toBe(201);
    expect((await start(a, 'quick', 'q1')).status).toBe(200);
    await until(b, 'q1', 'succeeded');
    // A run that exists is found by its id, whatever started it.
    expect((await start(b, 'quick', 'q1')).status).toBe(200);
    expect(await logsOf(b, 'q1')).toBe('[a] quick\n');
    await start(a, 'deaf', 'd1');
    await start(b, 'approval', 'p1');
    await expect.poll(() => waitingFor(a, 'p1'), { timeout: 30_000 }).toEqual(['plan']);
    expect((await ask(a, 'runs/p1/steps/plan/approve', { inputs: { TICKET: 'OPS-7' } })).status).toBe(200);
    expect((await ask(b, 'runs/p1/steps/plan/reject', { reason: 'no' })).status).toBe(409);
    await expect.poll(async () => (await fetch(`${b.url}/api/v2/runs/d1`)).status, { timeout: 30_000 }).toBe(200);
    await until(b, 'd1', 'running');
    expect((await ask(b, 'runs/d1/stop', {})).status).toBe(202);
    for (const daemon of [a, b]) {
      await until(daemon, 'd1', 'canceled');
      await until(daemon, 'p1', 'succeeded');
      expect(await logsOf(daemon, 'd1')).toContain('[handlerOn.cancel] cleaned\n');
      expect(await logsOf(daemon, 'p1')).toContain('[apply] applied 3 changes for OPS-7\n');
    }
    expect(journals(a)).toEqual(journals(b));
    expect(Object.keys(journals(a)).sort()).toEqual(['d1', 'p1', 'q1']);
    await crash(b);
    a.process.kill('SIGTERM');
    expect((await a.process.ended).code).toBe(0);
  }, 120_000);

  it('name the workers that a run waits for, also after a restart', async () => {
    const first = await serve('w');
    const wait = 'step "far" waits for a worker with zone=eu: none is connected';
    const warnings = async (daemon: Served) =>
      ((await ask(daemon, 'runs/waits')).json as { readonly warnings: unknown }).warnings;
    await start(first, 'far', 'waits');
    await expect.poll(() => warnings(first), { timeout: 30_000 }).toEqual([wait]);
    const end = new AbortController();
    const live = await fetch(`${first.url}/api/v2/events?run=waits`, { signal: end.signal });
    let seen = '';
    for await (const part of live.body ?? []) {
      seen += Buffer.from(part).toString();
      if (seen.includes('event: warnings')) break;
    }
    end.abort();
    expect(seen).toContain(`data: ${JSON.stringify({ runId: 'waits', warnings: [wait] })}`);
    await crash(first);
    const second = await serve('w');
    await expect.poll(() => warnings(second), { timeout: 30_000 }).toEqual([wait]);
    expect(journals(second)['waits']).not.toContain('zone=eu: none');
    expect((await ask(second, 'runs/waits/stop', {})).status).toBe(202);
    await until(second, 'waits', 'canceled');
    expect(await warnings(second)).toEqual([]);
    await crash(second);
  }, 120_000);

  it('let their runs take turns in a queue', async () => {
    const [a, b] = await Promise.all([serve('a0'), serve('b0')]);
    await start(a, 'turn', 't1');
    await expect.poll(() => journals(a)['t1'], { timeout: 30_000 }).toContain('"step.started"');
    await start(b, 'turn', 't2');
    await expect.poll(() => journals(b)['t2'], { timeout: 30_000 }).toContain('"run.blocked"');
    expect(journals(b)['t2']).toMatch(/"type":"run.blocked",.*"why":"queue","name":"turns","holder":\{"runId":"t1"/);
    expect(journals(b)['t2']).not.toContain('"run.started"');
    expect((await ask(a, 'runs/t1/stop', {})).status).toBe(202);
    await until(a, 't1', 'canceled');
    await expect.poll(() => journals(b)['t2'], { timeout: 30_000 }).toContain('"step.started"');
    expect((await ask(b, 'runs/t2/stop', {})).status).toBe(202);
    await until(b, 't2', 'canceled');
    await Promise.all([a, b].map(crash));
  }, 120_000);

  it('retry a failed run once', async () => {
    const [a, b] = await Promise.all([serve('a2'), serve('b2')]);
    await start(a, 'again', 'f1');
    const retries = (daemon: Served) =>
      Object.values(journals(daemon)).filter((text) => text.includes('"retryOf":"f1"'));
    for (const daemon of [a, b]) {
      await expect.poll(() => retries(daemon).join(), { timeout: 30_000 }).toContain('run.finished');
      expect(retries(daemon)).toHaveLength(1);
    }
    expect(retries(a)).toEqual(retries(b));
    await Promise.all([crash(a), crash(b)]);
  }, 120_000);

  it('catch up with runs whose daemon was killed, and never copy a removed one again', async () => {
    const a = await serve('a3');
    await start(a, 'deaf', 'k1');
    await until(a, 'k1', 'running');
    await crash(a);
    // Another home has no file of it.
    const b = await serve('b3');
    await until(b, 'k1', 'running');
    await ask(b, 'runs/k1/stop', {});
    await until(b, 'k1', 'canceled');
    const next = await serve('a3');
    await until(next, 'k1', 'canceled');
    expect(await logsOf(next, 'k1')).toBe(await logsOf(b, 'k1'));
    expect(journals(next)['k1']).toBe(journals(b)['k1']);
    const removed = await fetch(`${b.url}/api/v2/runs/k1`, { method: 'DELETE' });
    expect(removed.status).toBe(204);
    await start(b, 'quick', 'k2');
    await until(b, 'k2', 'succeeded');
    expect((await fetch(`${b.url}/api/v2/runs/k1`)).status).toBe(404);
    await Promise.all([crash(next), crash(b)]);
  }, 180_000);

  it('start a scheduled run once', async () => {
    const [a, b] = await Promise.all([serve('a4'), serve('b4')]);
    writeFileSync(join(dags, 'tick.yaml'), tick);
    const ticks = (daemon: Served) =>
      Object.values(journals(daemon)).filter((text) => text.includes('"workflow":"tick"'));
    for (const daemon of [a, b])
      await expect.poll(() => ticks(daemon).join(), { timeout: 100_000 }).toContain('run.finished');
    rmSync(join(dags, 'tick.yaml'));
    const moments = (daemon: Served) => ticks(daemon).map((text) => /"scheduledFor":(\d+)/.exec(text)?.[1]);
    expect(new Set(moments(a)).size).toBe(moments(a).length);
    expect(ticks(a)).toEqual(ticks(b));
    await Promise.all([crash(a), crash(b)]);
  }, 180_000);

  it('answer while their engine is away, and continue when it is back', async () => {
    const a = await serve('a5');
    await server.restart();
    await expect.poll(async () => (await start(a, 'quick', 'r1')).status, { timeout: 30_000 }).toBe(201);
    await until(a, 'r1', 'succeeded');
    await crash(a);
  });

  it('refuse a workflow that the engine does not support', async () => {
    const a = await serve('a6');
    const { status, json } = await start(a, 'locked', 'c1');
    expect(status).toBe(400);
    expect(json).toMatchObject({ code: 'usage', detail: 'the engine does not support "dir" of step "a"' });
    await crash(a);
  });

  it.each([
    ['a limit of its queue', ['--max-concurrent-runs', '4'], '"maxConcurrentRuns" does not work with the engine'],
    ['another end of runs', ['--on-shutdown', 'stop'], '"onShutdown" does not work with the engine'],
    ['an engine that is away', ['--engine', 'temporal://127.0.0.1:1'], 'cannot be reached: 127.0.0.1:1'],
  ])('are not started with %s', async (_, options, problem) => {
    const { code, stdout } = await launch('a7', options).ended;
    expect({ code, isNamed: stdout.includes(problem) }).toEqual({ code: 2, isNamed: true });
  });

  it('are not started with another namespace, or another key than the workers', async () => {
    const nowhere = await launch('a8', ['--engine', `${server.url}/nowhere`]).ended;
    expect(nowhere).toMatchObject({
      code: 2,
      stdout: expect.stringContaining('the engine has no namespace "nowhere"'),
    });
    const key = join(directory, 'engine.key');
    writeFileSync(key, Buffer.alloc(32, 1));
    const keyed = await launch('a8', ['--engine-key-file', key]).ended;
    expect(keyed).toMatchObject({
      code: 2,
      stdout: expect.stringContaining(`do not have the key of this command: "${worker.name}"`),
    });
  });

  it('show runs of wf run of another machine', async () => {
    const a = await serve('a9');
    const env = { HOME: directory, WF_HOME: join(directory, 'caller') };
    const { code } = await wf(['run', join(dags, 'quick.yaml'), '--engine', server.url, '--run-id', 'w1'], { env });
    expect(code).toBe(0);
    await until(a, 'w1', 'succeeded');
    expect(await logsOf(a, 'w1')).toBe('[a] quick\n');
    await crash(a);
  });
});
