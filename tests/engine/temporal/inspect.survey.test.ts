import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Check } from '#doctor/machine.ts';
import { connectClient, packages } from '#engine/temporal/connection.ts';
import { DEFAULT_QUEUE } from '#engine/temporal/protocol.ts';
import { describeWith } from '../../support/require.ts';
import { hasTemporal, startTemporal, type TemporalServer } from '../../support/temporal.ts';
import { wf } from '../../support/wf.ts';

const REPORTED_AFTER = 'system.numConsecutiveWorkflowTaskProblemsToTriggerSearchAttribute';

describeWith('temporal', hasTemporal, 'wf workers and wf doctor', () => {
  const directory = mkdtempSync(join(tmpdir(), 'wf-test-'));
  let server: TemporalServer;
  let early: readonly [string, string, readonly Check[]];

  beforeAll(async () => {
    // By default a run is reported after five failures, between which the server waits for up to half a minute.
    server = await startTemporal(directory, { settings: [`${REPORTED_AFTER}=1`] });
    const { stdout, stderr } = await call('workers');
    early = [stdout, stderr, await engineChecks(server.url)];
    await server.worker('one', { args: ['--slots', '3'] });
  });
  afterAll(async () => {
    await server.close();
    rmSync(directory, { recursive: true, force: true });
  });

  function call(...args: readonly string[]) {
    const env = { HOME: directory, WF_HOME: join(directory, 'home'), DOCKER_HOST: `unix://${directory}/no.sock` };
    return wf([...args, ...(args.includes('--engine') ? [] : ['--engine', server.url])], { cwd: directory, env });
  }

  /** The checks behind those of the machine. */
  async function engineChecks(url: string): Promise<readonly Check[]> {
    const { stdout } = await call('doctor', '--json', '--engine', url);
    const checks: readonly Check[] = JSON.parse(stdout);
    return checks.slice(checks.findIndex(({ name }) => name === '/proc') + 1);
  }

  it('say so if there is no worker', () => {
    const [stdout, stderr, checks] = early;
    expect([stdout, stderr]).toEqual([
      '',
      `no worker serves ${server.url}: start one with wf worker --engine ${server.url}\n`,
    ]);
    expect(checks.find(({ name }) => name === 'workers')).toEqual({
      name: 'workers',
      ok: false,
      version: null,
      detail: `no worker serves the queue "wf" of ${server.url}`,
      help: `start one: wf worker --engine ${server.url}`,
    });
  });

  it('show the slots of a worker, and that it has served lately', async () => {
    const listed = async () => JSON.parse((await call('workers', '--json')).stdout);
    const one = { name: 'one', version: '0.1.0', core: 1, key: null, labels: {}, serves: [], running: 0 };
    await expect.poll(listed, { timeout: 20_000 }).toEqual([{ ...one, slots: 3, lastSeen: expect.any(String) }]);
    expect((await call('workers')).stdout).toMatch(/^NAME .*\none +0\.1\.0 +3 +0 +\d+s ago\n$/);
  });

  it('check what runs need of an engine', async () => {
    const checks = await engineChecks(server.url);
    expect(checks.map(({ name, ok }) => [name, ok])).toEqual([
      ['engine', true],
      ['namespace', true],
      ['retention', false],
      ['clock', true],
      ['workers', true],
      ['worker one', true],
      ['decisions', true],
      ['engine key', true],
      ['log store', true],
    ]);
    expect(checks[2]).toMatchObject({
      detail: 'runs are kept for 24h after their end: what no command has read by then is lost',
      help: 'temporal operator namespace update --namespace default --retention 72h',
    });
    expect(checks[4]?.detail).toBe('the queue "wf" is served by one');
    expect(checks[5]).toMatchObject({ version: '0.1.0', detail: 'serves the queue "wf", no log store' });
  });

  it('name the runs that workers cannot continue', { timeout: 60_000 }, async () => {
    const { connection } = await connectClient({
      url: server.url,
      address: `127.0.0.1:${server.port}`,
      namespace: 'default',
      keyFile: null,
      env: {},
    });
    const { Client } = await packages.client();
    const client = new Client({ connection });
    // Of another release.
    const handle = await client.workflow.start('wf.run.99', { workflowId: 'newer', taskQueue: DEFAULT_QUEUE });
    const decisions = async () => (await engineChecks(server.url)).find(({ name }) => name === 'decisions');
    await expect.poll(decisions, { timeout: 50_000, interval: 1000 }).toEqual({
      name: 'decisions',
      ok: false,
      version: null,
      detail: 'workers fail to continue newer',
      help: 'what the workers print says why',
    });
    await handle.terminate();
    await connection.close();
  });

  it('name an engine that cannot be reached, and a namespace that it does not have', async () => {
    const away = await engineChecks('temporal://127.0.0.1:1');
    const logs = expect.objectContaining({ name: 'log store', ok: true });
    expect(away).toEqual([expect.objectContaining({ name: 'engine', ok: false }), logs]);
    expect(away[0]?.detail).toContain('temporal://127.0.0.1:1 cannot be reached');
    expect(await engineChecks(`${server.url}/nowhere`)).toEqual([
      expect.objectContaining({ ok: false, detail: 'the engine has no namespace "nowhere"' }),
      logs,
    ]);
    const { code, stderr } = await call('workers', '--engine', 'temporal://127.0.0.1:1');
    expect({ code, isNamed: stderr.includes('cannot be reached') }).toEqual({ code: 2, isNamed: true });
  });
});
