import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { describeWith } from '../support/require.ts';
import { launcher, withDirectory } from '../support/wf.ts';

/** Starts a daemon by a shell command that prepares its surroundings and then calls `"$@"`; `printed`: its error output so far. */
async function daemon(cwd: string, prepare: string, home: string, isolated: readonly string[] = []) {
  const [program = '', ...words] = [...isolated, '/bin/sh', '-c', `${prepare} && exec "$@"`, 'sh'];
  const serve = [process.execPath, launcher, 'serve', '--port', '0', '--dags', cwd];
  const child = spawn(program, [...words, ...serve], {
    cwd,
    env: { PATH: process.env['PATH'], WF_HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let printed = '';
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    printed += part;
  });
  for await (const line of createInterface(child.stdout)) {
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
    if (url !== undefined) return { url, child, printed: () => printed };
  }
  throw new Error(`the daemon ended: ${printed}`);
}

type Told = {
  readonly runId?: string;
  readonly status?: string | number;
  readonly code?: string;
  readonly detail?: string;
  readonly problem?: string;
};

/** All requests go over one connection: a daemon without descriptors takes no other. */
function client(url: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const ask = async (method: string, path: string, body = '') => {
    const headers = body === '' ? {} : { 'Content-Type': 'application/yaml', 'If-None-Match': '*' };
    const asked = request(`${url}${path}`, { method, agent, headers }).end(body);
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    const told = JSON.parse(await text(response)) as Told;
    return { status: response.statusCode, retryAfter: response.headers['retry-after'] ?? null, body: told };
  };
  /** Creates a workflow in the home. */
  const create = (text: string) => ask('PUT', '/api/v2/workflows/fresh/source?group=home', text);
  const run = (runId: string) => ask('GET', `/api/v2/runs/${runId}`);
  return { create, run, health: () => ask('GET', '/health'), start: () => ask('POST', '/api/v2/workflows/w/runs') };
}

const inNamespace = ['unshare', '--mount', '--map-root-user'];
const canMount = spawnSync('unshare', [...inNamespace.slice(1), 'sh', '-c', 'mount -t tmpfs none /mnt']).status === 0;

describeWith('unshare', canMount, 'a daemon on a full disk', () => {
  test('answers 507 to starts and reports the reason in its health', async () => {
    await withDirectory(async (cwd) => {
      writeFileSync(join(cwd, 'w.yaml'), 'steps: [{name: a, command: "true"}]\n');
      const prepare = 'mkdir home && mount -t tmpfs -o size=1m,mode=700 none home';
      const { url, printed, child } = await daemon(cwd, prepare, join(cwd, 'home'), inNamespace);
      const { create, health, start } = client(url);
      expect((await health()).status).toBe(200);
      // The mount is seen only from within the namespace of the daemon.
      const inside = ['-t', String(child.pid), '--mount', '--user', '--preserve-credentials'];
      const command = (text: string) => spawnSync('nsenter', [...inside, 'sh', '-c', text]);
      command(`cat /dev/zero > ${join(cwd, 'home/fill')}`);
      expect(await start()).toMatchObject({ status: 507, body: { code: 'storage', status: 507 } });
      await expect.poll(async () => (await health()).status).toBe(507);
      expect((await health()).body).toMatchObject({
        status: 'failing',
        problem: 'no space left on the device',
      });
      const fresh = join(cwd, 'home/fresh.yaml');
      const steps = 'steps: [{name: a, command: "true"}]\n';
      const refused = { code: 'storage', detail: `cannot create "${fresh}": no space left on the device` };
      expect(await create(steps)).toMatchObject({ status: 507, body: refused });
      command(`rm ${join(cwd, 'home/fill')}`);
      expect((await create(steps)).status).toBe(201);
      expect(printed()).not.toMatch(/^ {4}at /m);
    });
  });
});

describeWith('unshare', canMount, 'a daemon without /proc', () => {
  test('starts runs', async () => {
    await withDirectory(async (cwd) => {
      writeFileSync(join(cwd, 'w.yaml'), 'steps: [{name: a, command: "true"}]\n');
      const { url, printed } = await daemon(cwd, 'mount -t tmpfs none /proc', join(cwd, 'home'), inNamespace);
      const { start, run } = client(url);
      const { body } = await start();
      const status = async () => (await run(body.runId ?? '')).body.status;
      await expect.poll(status, { timeout: 10_000 }).toBe('succeeded');
      expect(printed()).not.toMatch(/^ {4}at /m);
    });
  });
});

test('a daemon without descriptors answers 503 with Retry-After for a workflow that exists', async () => {
  await withDirectory(async (cwd) => {
    writeFileSync(join(cwd, 'w.yaml'), 'steps: [{name: a, command: "true"}]\n');
    const { url, printed, child } = await daemon(cwd, 'true', join(cwd, 'home'));
    const { health, start } = client(url);
    expect((await health()).body).toMatchObject({ status: 'ok' });
    const open = new Set(readdirSync(`/proc/${child.pid}/fd`).map(Number));
    const lowestFree = Array.from(open, (fd) => fd + 1).filter((fd) => !open.has(fd));
    spawnSync('prlimit', ['--pid', String(child.pid), `--nofile=${Math.min(...lowestFree)}:`]);
    const answer = await start();
    expect([answer.status, answer.retryAfter, answer.body.code]).toEqual([503, '5', 'storage']);
    spawnSync('prlimit', ['--pid', String(child.pid), '--nofile=1024:']);
    expect((await start()).status).toBe(201);
    expect(printed()).not.toMatch(/^ {4}at /m);
  });
});
