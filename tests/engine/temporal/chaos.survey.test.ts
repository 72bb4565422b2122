import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openEngineHost } from '#app/engine-app.ts';
import { readConfig, workflowDirectories } from '#config/config.ts';
import type { RunState } from '#core/run/run-state.ts';
import { newRunId } from '#service/service.ts';
import { runRequest } from '#service/start-runs.ts';
import { getWorkflow } from '#service/workflows.ts';
import { daemonUrl } from '../../support/daemon.ts';
import { describeWith } from '../../support/require.ts';
import { hasTemporal, type StartedWorker, startTemporal } from '../../support/temporal.ts';
import { guardOf, notedScript, processesOf, readNotes } from '../../support/temporal-chaos.ts';
import { type RunningWf, startWf } from '../../support/wf.ts';

/** `npm run chaos` asks for the long one. */
const isFull = process.env['WF_CHAOS'] === 'full';
const [RUNS, KILLS, OPEN_RUNS] = isFull ? [1000, 300, 40] : [100, 30, 25];
const LOST_AFTER_SECONDS = 5;

/** Attempts are retried only when their worker was lost. Some take longer than that is noticed in. */
const step = (name: string, { depends = '', seconds = '0.$(( $$ % 8 + 1 ))', more = '' } = {}) => `
  - name: ${name}
    ${depends === '' ? '' : `depends: ${depends}`}
    script: |
${notedScript(seconds, '      ')}
    retryPolicy: {limit: 30, intervalSec: 0.1}
    ${more}`;
const STEPS = 8;
const text = `
type: graph
env: [{NOTES: "$NOTES_DIR"}]
steps:${step('one')}${step('two')}${step('long', { depends: 'one', seconds: '$(( $$ % 4 * 2 ))' })}
${step('each', { depends: 'two', more: 'parallel: {items: [a, b, c]}' })}
${step('four', { depends: '[long, each]' })}${step('five', { depends: 'four' })}`;

describeWith('temporal', hasTemporal, `${RUNS} runs on Temporal under ${KILLS} kill -9`, () => {
  it('all succeed; no attempt begins twice or overlaps another, two copies are equal, nothing is left', {
    timeout: 7_200_000,
  }, async () => {
    const directory = mkdtempSync(join(tmpdir(), 'wf-test-'));
    // After a failure the long one leaves its files.
    onTestFinished(({ task }) => {
      if (isFull && task.result?.state === 'fail') console.log(`see ${directory}`);
      else rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
    });
    const notes = join(directory, 'notes');
    mkdirSync(notes);
    const server = await startTemporal(directory);
    onTestFinished(() => server.close());
    const options = { args: ['--slots', '6'], env: { NOTES_DIR: notes } };
    const workers = [await server.worker('one', options), await server.worker('two', options)];
    const env = { PATH: process.env['PATH'] ?? '', WF_HOME: join(directory, 'home') };
    const config = readConfig({ ...env, WF_LOST_AFTER: String(LOST_AFTER_SECONDS) }, directory, {});
    const loaded = getWorkflow({ text: Buffer.from(text) }, workflowDirectories(config));
    const host = await openEngineHost(config, { url: server.url, keepHistory: true });

    // A daemon copies the runs too.
    const serve = async (tries = 20): Promise<RunningWf> => {
      const home = { HOME: directory, WF_HOME: join(directory, 'daemon') };
      const args = ['serve', '--port', '0', '--dags', notes, '--engine', server.url];
      const process = startWf(args, { cwd: directory, env: home, mergesErrors: true });
      onTestFinished(() => process.kill('SIGKILL'));
      const problem = await daemonUrl(process).then(
        () => null,
        (error: unknown) => error,
      );
      if (problem === null) return process;
      // It exits if the server, which was killed too, does not answer yet; then it is started again.
      if ((await process.ended).code === 2 && tries > 0) return serve(tries - 1);
      throw problem;
    };
    let daemon = await serve();

    const ended: RunState[] = [];
    let started = 0;
    const beginNext = async (): Promise<void> => {
      if (started === RUNS) return;
      started += 1;
      const request = runRequest({ ...loaded, params: [], envFiles: [], runId: newRunId(), trigger: 'cli' });
      ended.push(await host.start(request, () => {}).finished);
      await beginNext();
    };
    const all = Promise.all(Array.from({ length: OPEN_RUNS }, beginNext));

    const kills = { worker: 0, guard: 0, both: 0, server: 0, daemon: 0 };
    const kill = async (number: number) => {
      const index = number % workers.length;
      const worker = workers[index] as StartedWorker;
      const kind = (['worker', 'guard', 'worker', 'both', 'server', 'daemon'] as const)[number % 6] ?? 'worker';
      kills[kind] += 1;
      if (kind === 'server') return server.restart();
      if (kind === 'daemon') {
        daemon.kill('SIGKILL');
        await daemon.ended;
        daemon = await serve();
        return;
      }
      if (kind !== 'worker') {
        await expect.poll(() => guardOf(worker.pid)).not.toBeNull();
        process.kill(guardOf(worker.pid) ?? 0, 'SIGKILL');
      }
      if (kind === 'guard') return;
      worker.kill('SIGKILL');
      await worker.ended;
      workers[index] = await server.worker(worker.name, options);
    };
    // The kills are spread over the runs.
    for (let number = 0; number < KILLS; number += 1) {
      while (ended.length < Math.floor((number * (RUNS - OPEN_RUNS)) / KILLS)) {
        await Promise.race([all, new Promise((resolve) => setTimeout(resolve, 50))]);
      }
      await kill(number);
    }
    await all;
    await host.close();
    const [own, copies] = ['home', 'daemon'].map((home) => join(directory, home, 'runs'));
    await expect.poll(() => differencesOf(own ?? '', copies ?? ''), { timeout: 120_000, interval: 2000 }).toEqual([]);
    daemon.kill('SIGTERM');
    await daemon.ended;
    for (const worker of workers) worker.kill('SIGTERM');
    await Promise.all(workers.map((worker) => worker.ended));

    const { begun, ...found } = readNotes(notes);
    console.log(`${RUNS} runs, kills: ${JSON.stringify(kills)}, ${begun} attempts of ${found.steps} steps`);
    expect({
      ...found,
      failed: ended.flatMap(({ status, message }) => (status === 'succeeded' ? [] : [message])),
      copied: [...filesOf(copies ?? '').keys()].filter((name) => name.endsWith('.jsonl')).length,
      logs: incompleteLogs(own ?? ''),
      processes: processesOf(notes),
    }).toEqual({
      steps: RUNS * STEPS,
      unfinished: [],
      doubled: [],
      overlapping: [],
      failed: [],
      copied: RUNS,
      logs: [],
      processes: [],
    });
  });
});

/** The files of runs, with their texts, by their paths: journals and logs. */
function filesOf(runs: string): ReadonlyMap<string, string> {
  const names = readdirSync(runs, { recursive: true, encoding: 'utf8' });
  const meant = names.filter((name) => name.endsWith('/journal.jsonl') || /\/logs\/.*\.(out|err)$/.test(name));
  return new Map(meant.map((name) => [name, readFileSync(join(runs, name), 'utf8')]));
}

/** The files that two copies of the same runs do not have alike. */
function differencesOf(one: string, other: string): readonly string[] {
  const [these, those] = [filesOf(one), filesOf(other)];
  const names = new Set([...these.keys(), ...those.keys()]);
  return [...names].filter((name) => these.get(name) !== those.get(name));
}

/** The runs whose logs do not have what each of their steps has printed. */
function incompleteLogs(runs: string): readonly string[] {
  const printed = new Map<string, Set<string>>();
  for (const [name, text] of filesOf(runs)) {
    const [run = ''] = name.split('/');
    const steps = printed.get(run) ?? new Set();
    printed.set(run, steps);
    if (!name.endsWith('.jsonl')) for (const [, step = ''] of text.matchAll(/did (\S+) \d+/g)) steps.add(step);
  }
  return [...printed].flatMap(([run, { size }]) => (size === STEPS ? [] : [`${run}: ${size} of ${STEPS}`]));
}
