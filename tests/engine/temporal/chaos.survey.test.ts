import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openEngineHost } from '#app/engine-app.ts';
import { readConfig, workflowDirectories } from '#config/config.ts';
import { newRunId } from '#service/service.ts';
import { runRequest } from '#service/start-runs.ts';
import { getWorkflow } from '#service/workflows.ts';
import { describeWith } from '../../support/require.ts';
import { hasTemporal, type StartedWorker, startTemporal } from '../../support/temporal.ts';

const RUNS = 24;
const KILLS = 8;
const KILL_EVERY_MS = 2500;

/**
 * Each attempt notes its begin and its end outside, and whether a process of an earlier attempt still exists. Attempts are
 * retried only when their worker was lost.
 */
const step = (name: string, depends = '') => `
  - name: ${name}
    ${depends === '' ? '' : `depends: ${depends}`}
    script: |
      for pid in $(cut -d' ' -f3 "$NOTES/$WF_RUN_ID.$WF_STEP" 2>/dev/null); do
        kill -0 "$pid" 2>/dev/null && echo "overlap $WF_ATTEMPT $$" >> "$NOTES/$WF_RUN_ID.$WF_STEP"
      done
      echo "begin $WF_ATTEMPT $$" >> "$NOTES/$WF_RUN_ID.$WF_STEP"
      sleep 0.$(( $$ % 8 + 1 ))
      echo "end $WF_ATTEMPT $$" >> "$NOTES/$WF_RUN_ID.$WF_STEP"
    retryPolicy: {limit: 30, intervalSec: 0.1}
`;

const text = `
env: [{NOTES: "$NOTES_DIR"}]
steps:${step('one')}${step('two')}${step('three', '[one, two]')}${step('four', 'three')}`;

describeWith('temporal', hasTemporal, 'runs on Temporal under kill -9 of workers and server', () => {
  it('all succeed; no attempt begins twice, none overlaps another, nothing is left', { timeout: 300_000 }, async () => {
    const directory = mkdtempSync(join(tmpdir(), 'wf-test-'));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true, maxRetries: 10 }));
    const notes = mkdtempSync(join(directory, 'notes-'));
    const server = await startTemporal(directory);
    onTestFinished(() => server.close());
    const options = { args: ['--slots', '6'], env: { NOTES_DIR: notes } };
    const workers: StartedWorker[] = [await server.worker('one', options), await server.worker('two', options)];

    const env = { PATH: process.env['PATH'] ?? '', WF_HOME: join(directory, 'home'), WF_LOST_AFTER: '5' };
    const config = readConfig(env, directory, {});
    const loaded = getWorkflow({ text: Buffer.from(text) }, workflowDirectories(config));
    const host = await openEngineHost(config, { url: server.url, keepHistory: true });
    const requests = Array.from({ length: RUNS }, () => {
      return runRequest({ ...loaded, params: [], envFiles: [], runId: newRunId(), trigger: 'cli' });
    });
    const runs = requests.map((request) => host.start(request, () => {}));

    let kills = 0;
    let haveEnded = false;
    const ends = Promise.all(runs.map(({ finished }) => finished)).finally(() => {
      haveEnded = true;
    });
    while (kills < KILLS && !haveEnded) {
      await Promise.race([ends, new Promise((resolve) => setTimeout(resolve, KILL_EVERY_MS))]);
      if (haveEnded) break;
      kills += 1;
      if (kills % 4 === 0) {
        await server.restart();
        continue;
      }
      const index = kills % 2;
      workers[index]?.kill('SIGKILL');
      workers[index] = await server.worker(workers[index]?.name ?? '', options);
    }
    const states = await ends;
    await host.close();

    expect(states.filter(({ status }) => status !== 'succeeded').map(({ message }) => message)).toEqual([]);
    expect(kills).toBeGreaterThan(2);
    const lines = readdirSync(notes).map(
      (name) => [name, readFileSync(join(notes, name), 'utf8').trim().split('\n')] as const,
    );
    expect(lines).toHaveLength(RUNS * 4);
    expect(
      lines.flatMap(([name, all]) => all.filter((line) => line.startsWith('overlap')).map((line) => `${name} ${line}`)),
    ).toEqual([]);
    const begun = lines.flatMap(([name, all]) =>
      all.flatMap((line) => (line.startsWith('begin') ? [`${name} ${line.split(' ')[1]}`] : [])),
    );
    expect(begun.filter((one, index) => begun.indexOf(one) !== index)).toEqual([]);
    for (const worker of workers) worker.kill('SIGTERM');
    await Promise.all(workers.map(({ ended }) => ended));
    expect(leftIn(notes)).toEqual([]);
  });
});

/** The processes of this machine with the notes of the test in their environment. */
function leftIn(notes: string): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid || !existsSync(`/proc/${pid}/environ`)) return false;
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`NOTES=${notes}`);
    } catch {
      return false;
    }
  });
}
