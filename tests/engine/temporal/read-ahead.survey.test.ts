import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client, WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readConfig, workflowDirectories } from '#config/config.ts';
import { startRun } from '#engine/temporal/client/start-run.ts';
import { connectClient, packages } from '#engine/temporal/connection.ts';
import { payloadCodec } from '#engine/temporal/payloads.ts';
import { NAMES } from '#engine/temporal/protocol.ts';
import { newRunId } from '#service/service.ts';
import { runRequest } from '#service/start-runs.ts';
import { getWorkflow } from '#service/workflows.ts';
import { describeWith } from '../../support/require.ts';
import { hasTemporal, startTemporal, type TemporalServer } from '../../support/temporal.ts';

/** A run that gets a result and then an answer, each of which lets a step start. */
const text = `
type: graph
env: [{GATE: $GATES}]
steps:
  - {name: plan, command: echo, approval: {prompt: "Go on?"}}
  - {name: slow, script: 'echo "$WORKER" > "$GATE/$WF_RUN_ID.on"; until [ -e "$GATE/$WF_RUN_ID.open" ]; do sleep 0.05; done'}
  - {name: planned, command: echo, depends: plan}
  - {name: made, command: echo, depends: slow}
`;

describeWith('temporal', hasTemporal, 'a worker that answers a query of a run that it does not know', () => {
  const directory = mkdtempSync(join(tmpdir(), 'wf-test-'));
  let server: TemporalServer;
  let client: Client;
  let close = async () => {};

  beforeAll(async () => {
    server = await startTemporal(directory);
    const address = server.url.replace('temporal://', '');
    const settings = { url: server.url, address, namespace: 'default', keyFile: null, env: {} };
    const { connection, dataConverter } = await connectClient(settings);
    const { Client: Made } = await packages.client();
    client = new Made({ connection, dataConverter });
    close = () => connection.close();
  });
  afterAll(async () => {
    await close();
    await server.close();
    rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
  });

  it('decides nothing before the task comes, so that the run can be replayed', { timeout: 120_000 }, async () => {
    const options = { args: ['--slots', '6'], env: { GATES: directory } };
    const workers = new Map([['one', await server.worker('one', options)]]);
    let refused = 0;
    // Which worker has the run in its cache is left to chance, so this tries until it is the one without the step.
    for (let tries = 0; refused === 0; tries += 1) {
      if (tries === 12) throw new Error('no query met an event that no worker had decided about');
      for (const name of ['one', 'two']) if (!workers.has(name)) workers.set(name, await server.worker(name, options));
      const handle = await begun();
      const gate = (end: string) => join(directory, `${handle.workflowId}.${end}`);
      await expect.poll(() => existsSync(gate('on')) && readFileSync(gate('on'), 'utf8')).toMatch(/\n/);
      await expect.poll(() => typesOf(handle, 'step.held')).toBe(1);
      const [decider, working] = [await deciderOf(handle), readFileSync(gate('on'), 'utf8').trim()];
      const killed = decider === working ? undefined : workers.get(decider);
      if (killed !== undefined) {
        killed.kill('SIGKILL');
        await killed.ended;
        workers.delete(decider);
      }
      // The query waits for the worker that is gone; the result comes meanwhile, and waits longer.
      const query = handle.query<unknown, [number]>(NAMES.events, 0).catch((error: Error) => error);
      const started = await Promise.race([query, new Promise((resolve) => setTimeout(resolve, 700))]);
      writeFileSync(gate('open'), '');
      const answer = started ?? (await query);
      await handle.signal(NAMES.answer, { step: 'plan', decision: 'approved', by: null, comment: '', inputs: {} });
      await handle.result();
      if (answer instanceof Error && answer.message.includes('no worker has decided about')) refused += 1;
      const { Worker } = await packages.worker();
      const codePath = join(import.meta.dirname, '../../../dist/temporal-workflow.js');
      const dataConverter = { payloadCodecs: [payloadCodec(null)] };
      const history = await handle.fetchHistory();
      await Worker.runReplayHistory({ workflowBundle: { codePath }, dataConverter }, history, handle.workflowId);
    }
    expect(refused).toBe(1);
  });

  async function begun(): Promise<WorkflowHandle> {
    const config = readConfig({ PATH: process.env['PATH'] ?? '', WF_HOME: join(directory, 'home') }, directory, {});
    const loaded = getWorkflow({ text: Buffer.from(text) }, workflowDirectories(config));
    const runId = newRunId();
    const request = runRequest({ ...loaded, params: [], envFiles: [], runId, trigger: 'cli' });
    await startRun(client, { request, engine: server.url, at: Date.now(), lostAfterMs: 15_000 });
    return client.workflow.getHandle(runId);
  }

  /** How many events of a type the run has. */
  async function typesOf(handle: WorkflowHandle, type: string): Promise<number> {
    const { events } = await handle.query<{ events: readonly { type: string }[] }, [number]>(NAMES.events, 0);
    return events.filter((event) => event.type === type).length;
  }

  /** The worker that decided last. */
  async function deciderOf(handle: WorkflowHandle): Promise<string> {
    const { events = [] } = await handle.fetchHistory();
    const started = events?.findLast((event) => event.workflowTaskStartedEventAttributes);
    return /^\w+/.exec(started?.workflowTaskStartedEventAttributes?.identity ?? '')?.[0] ?? '';
  }
});
