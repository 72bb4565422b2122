import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import autocannon from 'autocannon';
import { startDaemon } from './daemon.mjs';

/**
 * `npm run bench -- serve [connections] [slow clients] [seconds]`: loads a daemon with many connections, some of which
 * send their requests byte by byte, and starts a run every second. No answer may be a 5xx, and the steps of the runs
 * must still start.
 */
export async function bench([connections = '10000', slow = '1000', seconds = '20']) {
  const folder = mkdtempSync(join(tmpdir(), 'wf-bench-'));
  const started = join(folder, 'started');
  const tick = `steps:\n  - name: tick\n    command: sh -c 'echo "$WF_RUN_ID $(date +%s%3N)" >> ${started}'\n`;
  const daemon = await startDaemon(folder, 100, { 'tick.yaml': tick });
  try {
    const crowd = slowCrowd(daemon.url, Number(slow));
    const load = autocannon({
      url: `${daemon.url}/api/v1/dags?limit=1`,
      connections: Number(connections),
      duration: Number(seconds),
      timeout: 30,
    });
    const [starts, result] = await Promise.all([startRuns(daemon.url, Number(seconds)), load]);
    const slowAnswers = crowd.end();
    await new Promise((resolve) => setTimeout(resolve, 3000));
    report(result, starts, { slowAnswers, started: readStarted(started), memoryMb: residentMb(daemon.pid) });
  } finally {
    await daemon.close();
    rmSync(folder, { recursive: true });
  }
}

/** Clients that send one byte of their request per second, and are replaced when disconnected. */
function slowCrowd(url, count) {
  const { port } = new URL(url);
  const answers = {};
  let isOver = false;
  const open = () => {
    const text = `GET /health HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nX-Slow: ${'x'.repeat(100)}`;
    let sent = 0;
    const socket = connect(Number(port), '127.0.0.1');
    const timer = setInterval(() => socket.write(text[sent++ % text.length]), 1000);
    socket.setEncoding('latin1').once('data', (answer) => {
      const status = answer.slice(9, 12);
      answers[status] = (answers[status] ?? 0) + 1;
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      clearInterval(timer);
      if (!isOver) open();
    });
    sockets.add(socket);
  };
  const sockets = new Set();
  for (let i = 0; i < count; i += 1) open();
  const end = () => {
    isOver = true;
    for (const socket of sockets) socket.destroy();
    return answers;
  };
  return { end };
}

async function startRuns(url, seconds) {
  const starts = [];
  const until = Date.now() + seconds * 1000;
  for (let i = 0; Date.now() < until; i += 1) {
    const at = Date.now();
    const runId = `bench-${process.pid}-${i}`;
    const body = new URLSearchParams({ action: 'start', 'request-id': runId });
    const answer = await fetch(`${url}/api/v1/dags/tick`, { method: 'POST', body });
    starts.push({ runId, at, status: answer.status, answeredMs: Date.now() - at });
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, at + 1000 - Date.now())));
  }
  return starts;
}

function readStarted(file) {
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return new Map(lines.map((line) => line.split(' ')).map(([runId, at]) => [runId, Number(at)]));
}

function residentMb(pid) {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

function report(result, starts, { slowAnswers, started, memoryMb }) {
  const delays = starts.flatMap(({ runId, at }) => started.get(runId) - at || []).sort((a, b) => a - b);
  const refused = starts.filter(({ status }) => status !== 200);
  console.log(`${result.connections} connections, ${result.duration} s: ${result.requests.total} answers`);
  console.log(
    `  2xx ${result['2xx']}, 4xx ${result['4xx']}, 5xx ${result['5xx']}, errors ${result.errors}, timeouts ${result.timeouts}`,
  );
  console.log(`  latency p50 ${result.latency.p50} ms, p99 ${result.latency.p99} ms, max ${result.latency.max} ms`);
  console.log(`slow clients were answered: ${JSON.stringify(slowAnswers)}`);
  console.log(`${starts.length} runs requested, ${refused.length} refused, ${delays.length} steps started`);
  console.log(
    `  answered within ${Math.max(...starts.map(({ answeredMs }) => answeredMs))} ms; first step after median ${delays[delays.length >> 1]} ms, at most ${delays.at(-1)} ms`,
  );
  console.log(`memory of the daemon at most ${memoryMb.toFixed(0)} MB`);
  const isWell = result['5xx'] === 0 && refused.length === 0 && delays.length === starts.length;
  console.log(isWell ? 'ok' : 'MISS');
}
