import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { expect, it, onTestFinished } from 'vitest';
import { payloadValue } from '#engine/temporal/history.ts';
import { payloadCodec } from '#engine/temporal/payloads.ts';
import { NAMES, type QueueEntry } from '#engine/temporal/protocol.ts';
import { describeWith } from '../../support/require.ts';
import { clientOf, hasTemporal, type StartedWorker, startTemporal, temporalWorld } from '../../support/temporal.ts';

describeWith('temporal', hasTemporal, 'queues of runs on Temporal', () => {
  let worker: StartedWorker;
  const world = temporalWorld(async (server) => {
    worker = await server.worker('one', { args: ['--slots', '10'] });
  });

  /** Runs of one workflow, each as if on a machine of its own; a step writes when it runs, and waits for its file. */
  function machines(
    head: string,
    { options = ['--lost-after', '60'] as readonly string[], engine = world.server.url } = {},
  ) {
    const shared = mkdtempSync(join(world.directory, 'shared-'));
    const log = join(shared, 'log');
    const script = `echo "+$1" >> ${log}; until test -e ${shared}/go-$1; do sleep 0.1; done; echo "-$1" >> ${log}`;
    const text = `${head}\nparams: "1"\nsteps: [{name: work, script: '${script}', retryPolicy: {limit: 3, intervalSec: 0}}]\n`;
    return {
      shared,
      log: () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []),
      finish: (number: number | string) => writeFileSync(join(shared, `go-${number}`), ''),
      start: (number: number) => {
        const { call, start } = world.place({ 'load.yaml': text }, { WF_QUEUES: 'pair=2' });
        const args = ['run', 'load.yaml', '--engine', engine, '--reporter', 'plain', ...options, '--', `${number}`];
        return { ...start(...args), call };
      },
    };
  }

  it('hold over clients: three runs in a queue of one take turns, in the order of their starts', async () => {
    const { start, finish, log } = machines('queue: db');
    const one = start(1);
    await expect.poll(log).toEqual(['+1']);
    const two = start(2);
    await two.until('WAIT   for queue db, held by run');
    const three = start(3);
    await three.until('WAIT   for queue db, held by run');
    expect((await two.call('status', '@latest')).stdout).toMatch(
      /waits for queue db, held by run \S+ of "load" {2}queue db/,
    );
    for (const number of [1, 2, 3]) finish(number);
    expect((await Promise.all([one, two, three].map(({ ended }) => ended))).map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(log()).toEqual(['+1', '-1', '+2', '-2', '+3', '-3']);
    await expect.poll(openQueues).toEqual([]);
  });

  it('admit as many as the setting "queues" allows, and of a workflow as "maxConcurrent" says', async () => {
    const pair = machines('queue: pair');
    const single = machines('maxConcurrent: 1\nname: single');
    const waits = { pair: [1, 2].map(pair.start), single: [single.start(1)] };
    await expect.poll(() => [...pair.log()].sort()).toEqual(['+1', '+2']);
    await expect.poll(single.log).toEqual(['+1']);
    const third = pair.start(3);
    const second = single.start(2);
    await third.until('WAIT   for queue pair');
    await second.until('WAIT   for queue single (maxConcurrent), held by run');
    for (const number of [1, 2, 3]) pair.finish(number);
    for (const number of [1, 2]) single.finish(number);
    const all = [...waits.pair, ...waits.single, third, second];
    expect((await Promise.all(all.map(({ ended }) => ended))).map(({ code }) => code)).toEqual([0, 0, 0, 0, 0]);
    expect(single.log()).toEqual(['+1', '-1', '+2', '-2']);
  });

  it('a stopped run that waits gives its place to the next', async () => {
    const { start, finish, log } = machines('queue: stops');
    const one = start(1);
    await expect.poll(log).toEqual(['+1']);
    const two = start(2);
    await two.until('WAIT');
    const three = start(3);
    await three.until('WAIT');
    two.kill('SIGINT');
    expect((await two.ended).code).toBe(130);
    finish(1);
    finish(3);
    expect([(await one.ended).code, (await three.ended).code]).toEqual([0, 0]);
    expect(log()).toEqual(['+1', '-1', '+3', '-3']);
  });

  it('a terminated run gives its slot to the next, and a terminated one that waits its place', async () => {
    const { start, finish, log } = machines('queue: ends', { options: ['--lost-after', '3'] });
    start(1);
    await expect.poll(log).toEqual(['+1']);
    const two = start(2);
    await two.until('WAIT');
    const three = start(3);
    await three.until('WAIT');
    const client = await clientOf(world.server);
    // What `temporal workflow terminate` does: the workflow cannot leave its queue.
    const [first, second] = await openRuns(client);
    for (const id of [second, first]) await client.workflow.getHandle(id ?? '').terminate();
    await client.connection.close();
    finish(3);
    expect((await three.ended).code).toBe(0);
    expect(log()).toContain('-3');
    expect(log()).not.toContain('+2');
  });

  it('a run keeps its slot, and one that waits its place, when their worker is killed', async () => {
    const { start, finish, log } = machines('queue: kills', { options: ['--lost-after', '3'] });
    const one = start(1);
    await expect.poll(log).toEqual(['+1']);
    const two = start(2);
    await two.until('WAIT');
    worker.kill('SIGKILL');
    await worker.ended;
    worker = await world.server.worker('two', { args: ['--slots', '10'] });
    await expect.poll(log, { timeout: 20_000 }).toEqual(['+1', '+1']);
    finish(1);
    finish(2);
    expect([(await one.ended).code, (await two.ended).code]).toEqual([0, 0]);
    expect(log()).toEqual(['+1', '+1', '-1', '+2', '-2']);
  });

  it('a run that waits for an approval lets the next one start', async () => {
    const { start, finish, log } = machines('queue: asks\nhandlerOn: {init: {command: "true"}}');
    const held = world.place({
      'asks.yaml': 'queue: asks\nsteps: [{name: plan, command: echo planned, approval: {prompt: Go?}}]',
    });
    const options = ['--engine', world.server.url, '--reporter', 'plain', '--on-approval', 'wait'];
    const asks = held.start('run', 'asks.yaml', ...options);
    await asks.until('Go?');
    const next = start(1);
    await expect.poll(log).toEqual(['+1']);
    finish(1);
    expect((await next.ended).code).toBe(0);
    expect((await held.call('approve', '@latest')).code).toBe(0);
    expect((await asks.ended).code).toBe(0);
  });

  it('a queue continues with a new history, with the runs that it has', { timeout: 180_000 }, async () => {
    const { start, finish, log } = machines('queue: long');
    const one = start(1);
    await expect.poll(log).toEqual(['+1']);
    const two = start(2);
    await two.until('WAIT');
    const client = await clientOf(world.server);
    const queue = client.workflow.getHandle('wf.queue.long');
    const { runId } = await queue.describe();
    // Runs that ended before their messages arrived.
    for (let sent = 0; sent < 1000; sent += 100) {
      await Promise.all(Array.from({ length: 100 }, (_, index) => queue.signal(NAMES.leave, `gone-${sent + index}`)));
    }
    await expect.poll(async () => (await queue.describe()).runId, { timeout: 60_000 }).not.toBe(runId);
    expect((await queue.describe()).historyLength).toBeLessThan(1000);
    await client.connection.close();
    finish(1);
    finish(2);
    expect([(await one.ended).code, (await two.ended).code]).toEqual([0, 0]);
    expect(log()).toEqual(['+1', '-1', '+2', '-2']);
  });

  it('a run that continues in new executions keeps its slot, and tells its queue each thing once', {
    timeout: 180_000,
  }, async () => {
    const place = mkdtempSync(join(world.directory, 'continues-'));
    // The server suggests it from the first event on, so each run continues after each attempt.
    const own = await startTemporal(place, { settings: ['limit.historyCount.suggestContinueAsNew=1'] });
    onTestFinished(own.close);
    await own.worker('continues', { args: ['--slots', '10'] });
    const { start, finish, log, shared } = machines('queue: moves', { engine: own.url });
    const script = `echo +moves >> ${shared}/log; until test -e ${shared}/go-moves; do sleep 0.1; done; echo -moves >> ${shared}/log`;
    const mover = world.place({
      'moves.yaml': `
queue: moves
type: chain
steps:
  - {name: first, command: "true"}
  - {name: ask, command: "true", approval: {prompt: Go?}}
  - {name: work, script: '${script}'}
  - {name: last, command: "true"}
`,
    });
    const options = ['--engine', own.url, '--lost-after', '60', '--reporter', 'plain', '--on-approval', 'wait'];
    const moves = mover.start('run', 'moves.yaml', ...options);
    await moves.until('Go?');
    const client = await clientOf(own);
    const [id = ''] = await openRuns(client);
    const one = start(1);
    await expect.poll(log, { timeout: 30_000 }).toEqual(['+1']);
    const two = start(2);
    await two.until('WAIT');
    expect((await mover.call('approve', '@latest')).code).toBe(0);
    await expect.poll(log, { timeout: 30_000 }).toEqual(['+1', '+moves']);
    finish(1);
    finish(2);
    expect((await one.ended).code).toBe(0);
    finish('moves');
    expect([(await moves.ended).code, (await two.ended).code]).toEqual([0, 0]);
    expect(log()).toEqual(['+1', '+moves', '-1', '-moves', '+2', '-2']);

    const { events } = await client.workflow.getHandle('wf.queue.moves').fetchHistory();
    const told = await Promise.all(
      (events ?? []).map(async ({ workflowExecutionSignaledEventAttributes: signal }) => {
        const value = (await payloadValue(signal?.input, [payloadCodec(null)])) as QueueEntry | string | undefined;
        return { what: signal?.signalName, runId: typeof value === 'object' ? value.runId : value };
      }),
    );
    expect(told.flatMap(({ what, runId }) => (runId === id ? [what] : []))).toEqual(['enter', 'hold', 'hold', 'leave']);
    expect(told.filter(({ what }) => what === NAMES.enter || what === NAMES.leave)).toHaveLength(6);
    await expect.poll(() => executions(client, id), { timeout: 30_000 }).toBe(4);
    await client.connection.close();
  });

  async function executions(client: Client, workflowId: string): Promise<number> {
    let found = 0;
    for await (const _ of client.workflow.list({ query: `WorkflowId = '${workflowId}'` })) found += 1;
    return found;
  }

  /** The ids of the runs that have not ended, in the order of their starts. */
  async function openRuns(client: Client): Promise<readonly string[]> {
    const found: { readonly id: string; readonly at: number }[] = [];
    const query = "WorkflowType = 'wf.run.1' and ExecutionStatus = 'Running'";
    for await (const { workflowId, startTime } of client.workflow.list({ query }))
      found.push({ id: workflowId, at: startTime.getTime() });
    return found.sort((one, other) => one.at - other.at).map(({ id }) => id);
  }

  async function openQueues(): Promise<readonly string[]> {
    const client = await clientOf(world.server);
    const found: string[] = [];
    const query = "WorkflowType = 'wf.queue.1' and ExecutionStatus = 'Running'";
    for await (const { workflowId } of client.workflow.list({ query })) found.push(workflowId);
    await client.connection.close();
    return found;
  }
});
