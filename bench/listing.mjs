import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { printedUrl, startDaemon } from './daemon.mjs';

const path = '/api/v1/dags?limit=1000';
const requests = 3000;
const connections = 20;

/**
 * The same requests for a listing of `count` workflows to `wf serve`, and to a bare `node:http` server with a prepared
 * answer.
 */
export async function listingOf(count, folder) {
  const daemon = await startDaemon(folder, count);
  const answer = await fetch(`${daemon.url}${path}`);
  const body = join(folder, 'listing.json');
  writeFileSync(body, Buffer.from(await answer.arrayBuffer()));
  const plain = spawn(process.execPath, ['-e', plainServer, body], { stdio: ['ignore', 'pipe', 'inherit'] });
  const plainUrl = await printedUrl(plain);
  const client = (url) => ({ command: [process.execPath, '-e', loadClient, `${url}${path}`] });
  const close = async () => {
    const ended = once(plain, 'exit');
    plain.kill();
    await Promise.all([ended, daemon.close()]);
  };
  return { ours: client(daemon.url), base: client(plainUrl), close };
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
let left = ${requests};
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
