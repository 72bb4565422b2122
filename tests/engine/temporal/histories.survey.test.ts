import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { temporal } from '@temporalio/proto';
import { expect, it, onTestFinished } from 'vitest';
import { connectClient, packages } from '#engine/temporal/connection.ts';
import { payloadCodec } from '#engine/temporal/payloads.ts';
import { CORE, EARLIER_CORES, RUN_TYPE, runType } from '#engine/temporal/protocol.ts';
import { describeWith } from '../../support/require.ts';
import { hasTemporal, startTemporal } from '../../support/temporal.ts';
import { wf } from '../../support/wf.ts';

/**
 * A run that was begun by an earlier release is replayed by this one: its decisions must be the same. A change that breaks
 * this needs another `CORE`, and keeps the histories of the last one. `WF_UPDATE_GOLDENS=1` records those that are missing.
 */
const folder = join(import.meta.dirname, '../../../fixtures/histories/temporal', RUN_TYPE);
const { History } = temporal.api.history.v1;
const root = join(import.meta.dirname, '../../..');

const texts: Readonly<Record<string, string>> = {
  'graph-with-retries-and-items': `
type: graph
steps:
  - {name: list, command: 'echo one; echo two', output: LIST}
  - {name: flaky, script: 'test "$WF_ATTEMPT" = 2', retryPolicy: {limit: 2, intervalSec: 0.1}}
  - {name: each, command: 'echo "item $ITEM"', depends: [list, flaky], parallel: {items: $LIST, maxConcurrent: 1}}
  - {name: skipped, command: echo never, preconditions: [{condition: "1", expected: "2"}]}
  - {name: end, command: echo end, depends: each}
`,
  'failure-with-handlers': `
steps:
  - {name: breaks, command: 'sh -c "exit 7"'}
  - {name: later, command: echo never, depends: breaks}
handlerOn:
  failure: {command: 'echo "$WF_FAILED_STEP"'}
  exit: {command: echo done}
`,
  'time-limit': `
steps:
  - {name: short, command: sleep 60, timeoutSec: 0.3, continueOn: {failure: true}}
  - {name: again, command: echo round, repeatPolicy: {limit: 2, intervalSec: 0}}
`,
  'queue-with-an-approval': `
queue: db
maxConcurrent: 1
steps: [{name: plan, command: echo plan, approval: {prompt: Go?, timeoutSec: 1}}]
`,
  'one-worker-for-services': `
steps:
  - {name: api, service: {readyWhen: {line: up}}, script: 'echo up; exec sleep 60'}
  - {name: test, command: echo tested, depends: api, parallel: {items: [one, two], maxConcurrent: 1}}
  - {name: stays, service: {}, command: sleep 60, depends: test}
`,
  'locks-of-a-run-and-a-step': `
locks: deploy
steps:
  - {name: first, locks: [{name: table, mode: read}, pool], command: "true"}
  - {name: second, locks: second, command: "true", depends: first}
  - {name: child, run: inner, depends: second}
---
name: inner
locks: deploy
steps: [{name: a, locks: table, command: "true"}]
`,
  'notices-that-fail': `
notify: [{to: webhook, url: "http://127.0.0.1:1/", on: [failure, late], timeoutSec: 1}]
steps:
  - {name: slow, command: sleep 2, late: 1s, continueOn: {failure: true}}
  - {name: bad, command: exit 3, depends: slow, retryPolicy: {limit: 1, intervalSec: 0.1}}
`,
  'a-step-and-a-run-that-are-stopped-in-time': `
timeoutSec: 4
type: graph
steps:
  - {name: gate, command: "true", approval: {prompt: Go?}}
  - {name: child, run: slow}
---
name: slow
steps: [{name: sleeps, command: sleep 60}]
handlerOn: {cancel: {command: echo cleaned}}
`,
  'child-runs': `
steps:
  - {name: each, run: child, params: N=$ITEM, parallel: {items: [one, two], maxConcurrent: 1}}
  - {name: limited, run: slow, timeoutSec: 1, continueOn: {failure: true}}
  - {name: end, command: echo end, depends: [each, limited]}
---
name: child
params: N=0
steps: [{name: says, command: echo $N, output: SAID}]
---
name: slow
steps: [{name: sleeps, command: sleep 60}]
`,
};

const missing = Object.keys(texts).filter((name) => !existsSync(join(folder, `${name}.pb`)));

/** What scripts/temporal.mjs exports. */
type BuildScript = {
  readonly temporalFile: (root: string, outDir: string) => Promise<{ readonly contents: Buffer }>;
};

/** Where the code of earlier cores is kept. */
const earlier = 'src/engine/temporal/workflow/earlier';

it('each earlier core has its code', () => {
  const files = existsSync(join(root, earlier)) ? readdirSync(join(root, earlier)) : [];
  expect(files.sort()).toEqual(EARLIER_CORES.map((core) => `${runType(core)}.cjs`).sort());
});

describeWith('temporal', hasTemporal, 'recorded histories', () => {
  it.runIf(process.env['WF_UPDATE_GOLDENS'] === '1' && missing.length > 0)('are recorded', { timeout: 120_000 }, () =>
    record(missing),
  );

  it.each([
    ...Object.keys(texts),
    // From a run under kills: a new worker answered a query when one of two results was there, and decided about both later.
    'result-after-an-answered-query',
  ])('%s is replayed', (name) => replay(name, join(root, 'dist/temporal-workflow.js')));

  it('a change of the decisions fails, and is replayed by the code of the core before it', {
    timeout: 180_000,
  }, async () => {
    const changed = temporary();
    for (const name of ['src', 'package.json', 'tsconfig.json']) {
      cpSync(join(root, name), join(changed, name), { recursive: true });
    }
    symlinkSync(join(root, 'node_modules'), join(changed, 'node_modules'));
    const policies = join(changed, 'src/core/run/policies.ts');
    const text = readFileSync(policies, 'utf8');
    const planted = text.replace('retries >= retry.limit', 'retries + 2 >= retry.limit');
    expect(planted).not.toBe(text);
    writeFileSync(policies, planted);
    const script: BuildScript = await import(join(root, 'scripts/temporal.mjs'));
    const built = async () => {
      const { contents } = await script.temporalFile(changed, changed);
      const file = join(changed, 'workflow.js');
      writeFileSync(file, contents);
      return file;
    };
    const file = await built();
    await expect(replay('graph-with-retries-and-items', file)).rejects.toThrow(/[Nn]ondeterminism/);
    await replay('failure-with-handlers', file);

    writeFileSync(policies, text);
    const kept = execFileSync(process.execPath, [join(root, 'scripts/temporal.mjs'), 'keep', changed], {
      encoding: 'utf8',
    });
    expect(kept).toBe(`${join(changed, earlier, RUN_TYPE)}.cjs\n`);
    writeFileSync(policies, planted);
    const protocol = join(changed, 'src/engine/temporal/protocol.ts');
    const next = CORE + 1;
    const raised = readFileSync(protocol, 'utf8').replace(
      `export const CORE = ${CORE};`,
      `export const CORE = ${next};`,
    );
    writeFileSync(protocol, raised);
    const both = await built();
    expect(readFileSync(both, 'utf8')).toContain(`wf.run.${CORE}`);
    for (const name of Object.keys(texts)) await replay(name, both);
  });
});

/** Rejects if the code decides otherwise than the history says. */
async function replay(name: string, codePath: string): Promise<void> {
  const { Worker } = await packages.worker();
  const history = History.decode(readFileSync(join(folder, `${name}.pb`)));
  const dataConverter = { payloadCodecs: [payloadCodec(null)] };
  await Worker.runReplayHistory({ workflowBundle: { codePath }, dataConverter }, history, name);
}

/** Makes the runs on a server, and keeps their histories. */
async function record(names: readonly string[]): Promise<void> {
  const directory = temporary();
  const server = await startTemporal(directory);
  onTestFinished(() => server.close());
  await server.worker('one');
  mkdirSync(folder, { recursive: true });
  const address = `127.0.0.1:${server.port}`;
  const { connection } = await connectClient({
    url: server.url,
    address,
    namespace: 'default',
    keyFile: null,
    env: {},
  });
  const { Client } = await packages.client();
  const client = new Client({ connection });
  for (const name of names) {
    const [file, home] = [join(directory, `${name}.yaml`), join(directory, name)];
    writeFileSync(file, texts[name] ?? '');
    await wf(['run', file, '--engine', server.url], { cwd: directory, env: { HOME: directory, WF_HOME: home } });
    const runId = readdirSync(join(home, 'runs')).find((entry) => /^[0-9a-f-]{36}$/.test(entry)) ?? '';
    const history = await client.workflow.getHandle(runId).fetchHistory();
    writeFileSync(join(folder, `${name}.pb`), History.encode(history).finish());
  }
  await connection.close();
}

function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), 'wf-test-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true, maxRetries: 10 }));
  return directory;
}
