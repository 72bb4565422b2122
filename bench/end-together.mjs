import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { printedUrl, startDaemon } from './daemon.mjs';

/** A person who waits for longer notices it. */
const longestAllowedMs = 250;

/**
 * Lets all active runs of a daemon end at once while others wait, and asks it and a bare server for `/health` until the
 * waiting ones have run as well. Resolves to the longest wait of each in ms.
 */
export async function endTogether(folder, { active, waiting }) {
  const [gate, isOpen] = ['gate', 'open'].map((name) => join(folder, name));
  execFileSync('mkfifo', [gate]);
  const text = `steps:\n  - name: wait\n    command: sh -c 'test -e ${isOpen} || cat ${gate}'\n`;
  const daemon = await startDaemon(folder, 0, { 'wait.yaml': text }, ['--max-concurrent-runs', String(active)]);
  const plain = spawn(process.execPath, ['-e', healthServer], { stdio: ['ignore', 'pipe', 'inherit'] });
  const plainUrl = await printedUrl(plain);
  try {
    await startRuns(daemon.url, active + waiting);
    await untilCount(daemon.url, (counts) => counts.running === active && counts.waiting === waiting);
    const isOver = new AbortController();
    const waits = [daemon.url, plainUrl].map((url) => longestWait(`${url}/health`, isOver.signal));
    writeFileSync(isOpen, '');
    await untilCount(daemon.url, (counts) => {
      openGate(gate);
      return counts.running === 0 && counts.waiting === 0;
    });
    isOver.abort();
    const [oursMs, ms] = await Promise.all(waits);
    const limit = { peer: 'limit', ms: longestAllowedMs, ratio: oursMs / longestAllowedMs, target: 1 };
    return { oursMs, peers: [{ peer: 'plain node:http', ms, ratio: oursMs / ms }, limit] };
  } finally {
    const ended = once(plain, 'exit');
    plain.kill();
    await Promise.all([ended, daemon.close()]);
  }
}

const healthServer = `
const server = require('node:http').createServer((request, response) => response.end('{}'));
server.listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port));
`;

async function startRuns(url, count) {
  for (let at = 0; at < count; at += 1) {
    const answer = await fetch(`${url}/api/v2/workflows/wait/runs`, { method: 'POST' });
    if (answer.status !== 201) throw new Error(`a start was answered with ${answer.status}: ${await answer.text()}`);
    await answer.arrayBuffer();
  }
}

async function untilCount(url, isReached) {
  for (;;) {
    const { running, waiting } = await (await fetch(`${url}/api/v2/queue`)).json();
    if (isReached({ running: running.length, waiting: waiting.length })) return;
    await delay(200);
  }
}

/** Lets all that wait to read the pipe read its end. */
function openGate(gate) {
  try {
    closeSync(openSync(gate, constants.O_WRONLY | constants.O_NONBLOCK));
  } catch (error) {
    if (error.code !== 'ENXIO') throw error;
  }
}

async function longestWait(url, signal) {
  let longest = 0;
  while (!signal.aborted) {
    const asked = performance.now();
    await (await fetch(url, { headers: { Connection: 'close' } })).arrayBuffer();
    longest = Math.max(longest, performance.now() - asked);
    await delay(10);
  }
  return longest;
}
