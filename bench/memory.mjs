import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startDaemon } from './daemon.mjs';
import { makeHistory } from './past-runs.mjs';

const launcher = join(import.meta.dirname, '../bin/wf.js');
const waiting = ['-e', 'setTimeout(() => {}, 600_000)'];

/** Resolves to the private memory, in MB, of a run whose only step is running, and of a Node process that waits. */
export async function runAtRest(folder) {
  const [file, started] = ['rest.yaml', 'started'].map((name) => join(folder, name));
  const step = (command) => writeFileSync(file, `steps:\n  - name: one\n    command: ${command}\n`);
  const options = { env: { ...process.env, WF_HOME: join(folder, 'home') }, stdio: 'ignore' };
  const begin = (args) => spawn(process.execPath, args, options);
  // The first run compiles the program.
  step('touch first');
  await once(begin([launcher, 'run', file]), 'exit');
  step(`sh -c 'touch ${started}; exec sleep 600'`);
  const programs = [begin([launcher, 'run', file]), begin(waiting)];
  while (!existsSync(started)) await delay(50);
  return atRest(programs, (pid) => megabytesIn(`/proc/${pid}/smaps_rollup`, 'Private_Dirty'));
}

/** Resolves to the resident memory, in MB, of a daemon after it was asked for all it has, and of a Node process that waits. */
export async function daemonAtRest(folder, { runs, workflows, followers }) {
  makeHistory(join(folder, 'daemon-home'), runs);
  const daemon = await startDaemon(folder, workflows);
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
  try {
    for (let at = 0; at < followers; at += 1) {
      const [stream] = await once(get(`${daemon.url}/api/v2/events`, { agent }), 'response');
      stream.on('error', () => {}).resume();
    }
    for (const path of ['runs?limit=100', 'runs?status=failed', 'workflows?limit=1000', 'queue', 'schedule'])
      await (await fetch(`${daemon.url}/api/v2/${path}`)).arrayBuffer();
    const bare = spawn(process.execPath, waiting, { stdio: 'ignore' });
    return await atRest([{ pid: daemon.pid }, bare], (pid) => megabytesIn(`/proc/${pid}/status`, 'VmRSS'));
  } finally {
    agent.destroy();
    await daemon.close();
  }
}

/** Measures two processes after a pause, and ends those that were spawned. */
async function atRest(programs, memoryOf) {
  await delay(3000);
  const [oursMs, ms] = programs.map(({ pid }) => memoryOf(pid));
  for (const program of programs.filter(({ kill }) => kill !== undefined)) {
    const ended = once(program, 'exit');
    program.kill();
    await ended;
  }
  return { oursMs, peers: [{ peer: 'bare node', ms, ratio: oursMs / ms }] };
}

/** A line `NAME: N kB` of a file, in MB. */
export function megabytesIn(path, name) {
  const [, kilobytes] = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(path, 'utf8')) ?? [];
  return (Number(kilobytes) * 1024) / 1e6;
}
