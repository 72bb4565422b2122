import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startDaemon } from './daemon.mjs';
import { megabytesIn } from './memory.mjs';

const launcher = join(import.meta.dirname, '../bin/wf.js');
const runsAtOnce = 4;
/** Runs between two lines of the table. */
const window = 1000;
/** Past runs that are kept, so that the list of runs does not grow. */
const keptRuns = 1000;

/**
 * `npm run bench -- soak [runs]`: lets a daemon start so many runs (20,000 if not given), four at once, while one client
 * follows all changes and another lists the latest runs; removes the oldest runs. Prints the least memory of the daemon
 * among each 1,000 runs: every other reading includes garbage that is not collected yet.
 */
export async function bench([count = '20000']) {
  const folder = mkdtempSync(join(homedir(), '.wf-bench-'));
  const steps = 'steps:\n  - name: a\n    command: echo 1\n    output: V\n  - name: b\n    command: echo $V\n';
  const options = ['--max-concurrent-runs', String(runsAtOnce)];
  const daemon = await startDaemon(folder, 10, { 'soak.yaml': steps }, options);
  // After the daemon was ended, with time for the last of its runs to end.
  process.on('exit', () => rmSync(folder, { recursive: true, maxRetries: 10 }));
  const following = new AbortController();
  try {
    follow(`${daemon.url}/api/v2/events`, following.signal);
    console.log(`${'runs'.padStart(7)} ${'least memory'.padStart(15)} ${'time'.padStart(8)}`);
    const started = performance.now();
    for (let done = 0; done < Number(count); ) {
      const next = Math.min(window, Number(count) - done);
      const least = await runWindow(daemon, next);
      done += next;
      removeOldRuns(daemon.home);
      const seconds = (performance.now() - started) / 1000;
      const cells = [
        String(done).padStart(7),
        `${least.toFixed(1)} MB`.padStart(15),
        `${seconds.toFixed(0)} s`.padStart(8),
      ];
      console.log(cells.join(' '));
    }
  } finally {
    following.abort();
    await daemon.close();
  }
}

/** Starts the runs, waits until they have ended, and resolves to the least memory meanwhile, in MB. */
async function runWindow({ url, pid }, count) {
  let started = 0;
  let least = Number.POSITIVE_INFINITY;
  for (;;) {
    const active = await activeRuns(url);
    if (active === 0 && started === count) return least;
    for (let at = active; at < 2 * runsAtOnce && started < count; at += 1) {
      await answered(fetch(`${url}/api/v2/workflows/soak/runs`, { method: 'POST' }), 201);
      started += 1;
    }
    await answered(fetch(`${url}/api/v2/runs?limit=20`), 200);
    // Not `Private_Dirty`: what the daemon shares with a child between fork and exec counts too.
    least = Math.min(least, megabytesIn(`/proc/${pid}/status`, 'RssAnon'));
    await delay(50);
  }
}

function removeOldRuns(home) {
  const command = [launcher, 'gc', '--keep', String(keptRuns)];
  execFileSync(process.execPath, command, {
    env: { ...process.env, WF_HOME: home },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

async function activeRuns(url) {
  const { running, waiting } = JSON.parse(await answered(fetch(`${url}/api/v2/queue`), 200));
  return running.length + waiting.length;
}

async function answered(request, status) {
  const answer = await request;
  const text = await answer.text();
  if (answer.status !== status) throw new Error(`the daemon answered with ${answer.status}: ${text}`);
  return text;
}

/** Reads the stream of all changes until it is aborted. */
async function follow(url, signal) {
  try {
    const { body } = await fetch(url, { signal });
    for await (const _ of body);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
