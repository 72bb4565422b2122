import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { connectClient, packages } from '#engine/temporal/connection.ts';
import { DEFAULT_QUEUE } from '#engine/temporal/protocol.ts';
import { describeWith } from '../../support/require.ts';
import { hasTemporal, type StartedWorker, startTemporal, type TemporalServer } from '../../support/temporal.ts';
import { type Ended, type RunningWf, startWf, wf } from '../../support/wf.ts';

describeWith('temporal', hasTemporal, 'workers and callers that do not fit', () => {
  const directory = mkdtempSync(join(tmpdir(), 'wf-test-'));
  const keys = { one: join(directory, 'one.key'), two: join(directory, 'two.key') };
  let server: TemporalServer;
  const begun: RunningWf[] = [];
  const workers: StartedWorker[] = [];

  beforeAll(async () => {
    server = await startTemporal(directory);
    writeFileSync(keys.one, Buffer.alloc(32, 1));
    writeFileSync(keys.two, Buffer.alloc(32, 2));
  });
  afterEach(async () => {
    for (const run of begun) run.kill('SIGKILL');
    // A worker that stops in order leaves the list of its server.
    for (const worker of workers) worker.kill('SIGTERM');
    await Promise.all([...begun.splice(0), ...workers.splice(0)].map(({ ended }) => ended));
    await server.restart();
  });
  afterAll(async () => {
    await server.close();
    rmSync(directory, { recursive: true, force: true });
  });

  function run(options: readonly string[]): RunningWf & { readonly home: string } {
    const cwd = mkdtempSync(join(directory, 'run-'));
    writeFileSync(join(cwd, 'work.yaml'), 'queue: db\nsteps: [{name: a, command: echo made}]');
    const home = join(cwd, 'home');
    const args = ['run', 'work.yaml', '--engine', server.url, '--reporter', 'plain', ...options];
    const started = startWf(args, { cwd, env: { HOME: cwd, WF_HOME: home }, mergesErrors: true });
    begun.push(started);
    return { ...started, home };
  }

  async function worker(name: string, args: readonly string[] = []): Promise<StartedWorker> {
    const started = await server.worker(name, { args });
    workers.push(started);
    return started;
  }

  it.each([
    ['without the key', [], 'the workers of the engine use a key (engineKeyFile), and this command has none: "keyed"'],
    ['with another key', ['--engine-key-file', keys.two], 'do not have the key of this command: "keyed"'],
  ])('a caller %s is refused before anything is stored', async (_, options, problem) => {
    await worker('keyed', ['--engine-key-file', keys.one]);
    const started = run(options);
    expect(refusal(await started.ended, problem)).toEqual({ code: 2, isNamed: true });
    expect(existsSync(join(started.home, 'runs'))).toBe(false);
    expect(await openRuns()).toEqual([]);
  });

  it('a run that waits for a worker ends if the worker has another key', async () => {
    const started = run([]);
    await started.until('no worker serves');
    await worker('keyed', ['--engine-key-file', keys.one]);
    expect(refusal(await started.ended, 'and this command has none: "keyed"')).toEqual({ code: 2, isNamed: true });
    expect(await openRuns()).toEqual([]);
  });

  it('a run with a key is executed by the worker that has it', async () => {
    await worker('other', ['--engine-key-file', keys.two]);
    const fitting = await worker('fitting', ['--engine-key-file', keys.one]);
    expect(fitting.printed()).toContain('the worker "other" has another key');
    const { code, stdout } = await run(['--engine-key-file', keys.one]).ended;
    expect({ code, isMade: stdout.includes('| made') }).toEqual({ code: 0, isMade: true });
  });

  it('an attempt with a key is lost with its worker, and made by the next', async () => {
    const cwd = mkdtempSync(join(directory, 'run-'));
    const begin = join(cwd, 'begin');
    const script = `echo $WORKER >> ${begin}; test "$WF_ATTEMPT" = 2 || sleep 60`;
    const retry = 'retryPolicy: {limit: 1, intervalSec: 0}';
    writeFileSync(join(cwd, 'lost.yaml'), `steps: [{name: a, script: '${script}', ${retry}}]`);
    const first = await worker('first', ['--engine-key-file', keys.one]);
    const options = ['--engine', server.url, '--engine-key-file', keys.one, '--lost-after', '3', '--reporter', 'plain'];
    const env = { HOME: cwd, WF_HOME: join(cwd, 'home') };
    const started = startWf(['run', 'lost.yaml', ...options], { cwd, env, mergesErrors: true });
    begun.push(started);
    await expect.poll(() => existsSync(begin)).toBe(true);
    first.kill('SIGKILL');
    await worker('second', ['--engine-key-file', keys.one]);
    const { code, stdout } = await started.ended;
    expect({ code, isLost: stdout.includes('the worker "first" was lost') }).toEqual({ code: 0, isLost: true });
  });

  it('a worker reports a run of another version, which waits', async () => {
    const one = await worker('one');
    const access = await connect();
    const { Client } = await packages.client();
    const client = new Client({ connection: access.connection });
    const args = [{ release: '9.0.0' }];
    const handle = await client.workflow.start('wf.run.99', { workflowId: 'newer', taskQueue: DEFAULT_QUEUE, args });
    await one.until('executes "wf.run.1", not "wf.run.99": the run needs a worker of wf 9.0.0, which started it');
    expect((await handle.describe()).status.name).toBe('RUNNING');
    await handle.terminate();
    await access.connection.close();
  });

  it.each([
    ['a namespace that does not exist', '/nowhere', 'the engine has no namespace "nowhere"'],
    ['an address that does not answer', 'temporal://127.0.0.1:1', 'cannot be reached: 127.0.0.1:1'],
  ])('a worker names %s', async (_, address, problem) => {
    const url = address.startsWith('/') ? `${server.url}${address}` : address;
    const env = { HOME: directory, WF_HOME: join(directory, 'home') };
    const started = startWf(['worker', '--engine', url, '--name', 'lone'], { env, mergesErrors: true });
    begun.push(started);
    expect(refusal(await started.ended, problem)).toEqual({ code: 2, isNamed: true });
  });

  it('a run whose server is gone is left to it by a signal, and continues there', async () => {
    const cwd = mkdtempSync(join(directory, 'run-'));
    const own = await startTemporal(cwd);
    await own.worker('lone');
    writeFileSync(join(cwd, 'work.yaml'), `steps: [{name: a, script: 'until test -e ${cwd}/go; do sleep 0.1; done'}]`);
    const env = { HOME: cwd, WF_HOME: join(cwd, 'home') };
    const options = ['--engine', own.url, '--lost-after', '60', '--reporter', 'plain'];
    const started = startWf(['run', 'work.yaml', ...options], { cwd, env, mergesErrors: true });
    begun.push(started);
    await started.until('START');
    await own.stop();
    started.kill('SIGTERM');
    expect(refusal(await started.ended, 'did not take the request to stop')).toEqual({ code: 2, isNamed: true });
    await own.restart();
    writeFileSync(join(cwd, 'go'), '');
    const followed = await wf(['logs', '--follow', '@latest'], { cwd, env });
    const status = await wf(['status', '@latest'], { cwd, env });
    await own.close();
    expect([followed.code, status.stdout.includes('SUCCEEDED')]).toEqual([0, true]);
  });

  function connect() {
    const address = `127.0.0.1:${server.port}`;
    return connectClient({ url: server.url, address, namespace: 'default', keyFile: null, env: {} });
  }

  /** The runs that the engine has, and that have not ended. */
  async function openRuns(): Promise<readonly string[]> {
    const { connection } = await connect();
    const request = { namespace: 'default', query: 'ExecutionStatus = "Running"' };
    const { executions } = await connection.workflowService.listWorkflowExecutions(request);
    await connection.close();
    return (executions ?? []).map(({ execution }) => execution?.workflowId ?? '');
  }
});

function refusal({ code, stdout }: Ended, problem: string) {
  return { code, isNamed: stdout.includes(problem) };
}
