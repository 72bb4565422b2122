import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { connectClient, packages } from '#engine/temporal/connection.ts';
import { payloadCodec } from '#engine/temporal/payloads.ts';
import { describeWith } from '../../support/require.ts';
import { hasTemporal, startTemporal } from '../../support/temporal.ts';
import { wf } from '../../support/wf.ts';

/** 1,200 instances, more than a run makes in one execution, and a step that waits meanwhile. */
const text = `
type: graph
steps:
  - {name: ask, command: echo asked, approval: {prompt: "Go on?"}}
  - name: list
    script: 'seq -s , 600 | sed "s/.*/[&]/"'
    output: N
  - {name: each, command: echo "item $ITEM", depends: list, parallel: {items: $N, maxConcurrent: 20}}
  - {name: other, command: echo "item $ITEM", depends: list, parallel: {items: $N, maxConcurrent: 20}}
  - {name: end, command: echo "last of $N", depends: [each, other, ask]}
`;

describeWith('temporal', hasTemporal, 'a run of 1,200 attempts', () => {
  it('continues in a new execution, where answers and copies reach it', { timeout: 600_000 }, async () => {
    const directory = mkdtempSync(join(tmpdir(), 'wf-test-'));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true, maxRetries: 10 }));
    const server = await startTemporal(directory);
    onTestFinished(() => server.close());
    for (const name of ['one', 'two']) await server.worker(name, { args: ['--slots', '20'] });
    const address = server.url.replace('temporal://', '');
    const settings = { url: server.url, address, namespace: 'default', keyFile: null, env: {} };
    const { connection, dataConverter } = await connectClient(settings);
    onTestFinished(() => connection.close());
    const { Client } = await packages.client();
    const client = new Client({ connection, dataConverter });

    const cwd = join(directory, 'here');
    mkdirSync(cwd);
    writeFileSync(join(cwd, 'work.yaml'), text);
    const call = (home: string, ...args: readonly string[]) =>
      wf(args, { cwd, env: { HOME: cwd, WF_HOME: join(directory, home) } });
    const id = (await call('home1', 'run', 'work.yaml', '--engine', server.url, '--detach')).stdout.trim();
    // A second copy, which is away until the end.
    cpSync(join(directory, 'home1'), join(directory, 'home2'), { recursive: true });
    const handle = client.workflow.getHandle(id);
    const first = (await handle.describe()).runId;
    await expect.poll(async () => (await handle.describe()).runId, { timeout: 400_000, interval: 500 }).not.toBe(first);
    expect((await call('home1', 'status', id)).stdout).toContain('waits for approval');
    expect(await call('home1', 'approve', id)).toMatchObject({ code: 0 });
    await handle.result();

    const copies = await Promise.all(
      ['home1', 'home2'].map(async (home) => {
        const { code } = await call(home, 'status', id);
        const run = join(directory, home, 'runs', id);
        const journal = readFileSync(join(run, 'journal.jsonl'), 'utf8');
        return { code, journal, logs: readdirSync(join(run, 'logs'), { recursive: true }).sort() };
      }),
    );
    expect(copies[1]).toEqual(copies[0]);
    const [copy = { code: null, journal: '', logs: [] }] = copies;
    expect({ code: copy.code, ends: copy.journal.split('"type":"step.finished"').length - 1 }).toEqual({
      code: 0,
      ends: 1205,
    });
    expect(copy.journal).toContain('"type":"run.finished"');
    for (const step of ['list', 'each[1]', 'each[600]', 'other[600]', 'end']) {
      expect((await call('home2', 'logs', id, step)).stdout).not.toBe('');
    }

    const { Worker } = await packages.worker();
    const codePath = join(import.meta.dirname, '../../../dist/temporal-workflow.js');
    const last = (await handle.describe()).runId;
    for (const runId of [first, last]) {
      const history = await client.workflow.getHandle(id, runId).fetchHistory();
      const converter = { payloadCodecs: [payloadCodec(null)] };
      await Worker.runReplayHistory({ workflowBundle: { codePath }, dataConverter: converter }, history, id);
    }
  });
});
