import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { printedUrl, startDaemon } from './daemon.mjs';
import { independent, workflowFile } from './programs.mjs';

const connections = 20;

/** Requests for a listing of `count` workflows. `target`: the largest ratio. */
export async function listingOf(count, folder, target) {
  const daemon = await startDaemon(folder, count);
  return againstPlainServer(folder, { daemon, path: '/api/v1/dags?limit=1000', requests: 3000, target });
}

/** Requests for a run of `count` steps, of which half have ended and one is running; `path`: after that of the run. */
export async function runningRunOf(count, folder, path) {
  const half = count / 2;
  const steps = [
    ...independent(half, 'true'),
    { name: 'hold', command: 'sleep 600', depends: [`s${half - 1}`] },
    ...independent(half - 1, 'true').map((step) => ({ ...step, name: `after-${step.name}`, depends: ['hold'] })),
  ];
  const text = readFileSync(workflowFile(folder, { maxActiveRuns: 2 }, steps), 'utf8');
  const daemon = await startDaemon(folder, 0, { 'many.yaml': text });
  const answer = await fetch(`${daemon.url}/api/v2/workflows/many/runs`, { method: 'POST' });
  const { runId } = await answer.json();
  const run = `/api/v2/runs/${runId}`;
  const close = async () => {
    await fetch(`${daemon.url}${run}/stop`, { method: 'POST' });
    await daemon.close();
  };
  await untilHeld(`${daemon.url}${run}`, half);
  return againstPlainServer(folder, { daemon: { ...daemon, close }, path: `${run}${path}`, requests: 30 });
}

async function untilHeld(url, ended) {
  for (;;) {
    const { steps } = await (await fetch(url)).json();
    const isHeld = steps.some(({ name, status }) => name === 'hold' && status === 'running');
    if (isHeld && steps.filter(({ status }) => status === 'succeeded').length === ended) return;
    await delay(200);
  }
}

/** The same requests to `wf serve`, and to a bare `node:http` server with a prepared answer. */
async function againstPlainServer(folder, { daemon, path, requests, target }) {
  const answer = await fetch(`${daemon.url}${path}`);
  const body = join(folder, 'listing.json');
  writeFileSync(body, Buffer.from(await answer.arrayBuffer()));
  const plain = spawn(process.execPath, ['-e', plainServer, body], { stdio: ['ignore', 'pipe', 'inherit'] });
  const plainUrl = await printedUrl(plain);
  const client = (url) => ({ command: [process.execPath, '-e', loadClient, `${url}${path}`, String(requests)] });
  const close = async () => {
    const ended = once(plain, 'exit');
    plain.kill();
    await Promise.all([ended, daemon.close()]);
  };
  return { ours: client(daemon.url), peers: [{ ...client(plainUrl), peer: 'plain node:http', target }], close };
}

const plainServer = `
const body = require('node:fs').readFileSync(process.argv[1]);
const headers = { 'Content-Type': 'application/json', 'Content-Length': body.length };
const server = require('node:http').createServer((request, response) => response.writeHead(200, headers).end(body));
server.listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port));
`;

/** Fails if an answer is not a listing. */
const loadClient = `
const http = require('node:http');
const agent = new http.Agent({ keepAlive: true, maxSockets: ${connections} });
let left = Number(process.argv[2]);
let open = 0;
const next = () => {
  if (left === 0) return open === 0 && agent.destroy();
  left -= 1;
  open += 1;
  http.get(process.argv[1], { agent }, (answer) => {
    if (answer.statusCode !== 200) throw new Error('answered with ' + answer.statusCode);
    answer.resume().on('end', () => { open -= 1; next(); });
  });
};
for (let i = 0; i < ${connections}; i += 1) next();
`;
