import { execFile } from 'node:child_process';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import type { RunSummary } from '#core/summary/summary.ts';
import { type DaemonPlace, withDaemons } from '../support/daemon.ts';
import { httpServer } from '../support/http-server.ts';
import { describeWith, isInstalled } from '../support/require.ts';
import { withTmux } from '../support/tmux.ts';
import { launcher, startWf } from '../support/wf.ts';

const files = {
  'hello.yaml': 'params: world\nsteps:\n  - name: greet\n    command: echo "hello $1"\n',
  'wait.yaml': 'params: world\nsteps:\n  - name: wait\n    command: sleep 60\n',
};
const run = promisify(execFile);

describeWith('curl', isInstalled('curl'), 'requests by curl', () => {
  const curl = async (...args: readonly string[]) => (await run('curl', ['-s', ...args])).stdout;
  const status = (...args: readonly string[]) => curl('-o', '/dev/null', '-w', '%{http_code}', ...args);

  test('need no login on loopback by default', () =>
    withDaemons(files, async ({ serve }) => {
      const { url } = await serve();
      const json = ['-H', 'Accept: application/json'];
      expect(JSON.parse(await curl(...json, `${url}/api/v1/dags/?group=`))).toMatchObject({
        DAGs: [{ File: 'hello.yaml' }, { File: 'wait.yaml' }],
      });
      expect(JSON.parse(await curl(...json, `${url}/api/v1/dags/hello`))).toMatchObject({
        DAG: { File: 'hello.yaml' },
      });
      expect(JSON.parse(await curl(...json, `${url}/api/v1/dags/hello/spec`))).toMatchObject({
        Definition: files['hello.yaml'],
      });
      const post = async (...fields: readonly string[]) =>
        JSON.parse(await curl('-X', 'POST', ...fields, `${url}/api/v1/dags/wait`)) as { readonly RequestId?: string };
      const look = async () => JSON.parse(await curl(`${url}/api/v1/dags/wait`)) as object;
      const shows = (StatusText: string) => expect.poll(look).toMatchObject({ DAG: { Status: { StatusText } } });
      const { RequestId = '' } = await post('-d', 'action=start', '-d', 'params=Ann');
      await shows('running');
      expect(await post('-d', 'action=stop')).toEqual({});
      await shows('canceled');
      expect(await post('-F', 'action=retry', '-F', `request-id=${RequestId}`)).toEqual({
        RequestId: expect.any(String),
      });
      await shows('running');
      expect(await post('-d', 'action=stop')).toEqual({});
      await shows('canceled');
    }));

  test('need the token of --require-login, as a bearer token or as a password', () =>
    withDaemons(files, async (place) => {
      const { url, process } = await place.serve('--require-login');
      const { path, token } = keptToken(place);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(token).toMatch(/^[\w-]{43}$/);
      expect(process.printed()).toContain(`curl -u ":$(cat ${path})" ${url}/api/v1/dags/\n`);
      expect(process.printed()).not.toContain(token);

      const dags = `${url}/api/v1/dags/`;
      expect(await status(dags)).toBe('401');
      expect(await status('-u', 'me:wrong', dags)).toBe('401');
      expect(await status('-u', `:${token}`, dags)).toBe('200');
      expect(await status('-u', `anyone:${token}`, '-d', 'action=start', `${dags}hello`)).toBe('200');
      expect(await status('-H', `Authorization: Bearer ${token}`, dags)).toBe('200');
      expect(await status(`${url}/health`)).toBe('200');
    }));
});

test('a generated token is kept for the next daemon', () =>
  withDaemons(files, async (place) => {
    const first = await place.serve('--require-login');
    const { token } = keptToken(place);
    await first.end('SIGTERM');
    const { url } = await place.serve('--require-login');
    expect(keptToken(place).token).toBe(token);
    expect(await statusOf(url, token)).toBe(200);
  }));

test.each([
  ['a variable', { WF_REQUIRE_LOGIN: 'true' }, ''],
  ['a key', {}, 'requireLogin: true\n'],
])('a login is also required by %s', (_, env, config) =>
  withDaemons({ ...files, 'config.yaml': config }, async ({ cwd }) => {
    const daemon = startWf(['serve', '--port', '0', '--dags', cwd], { cwd, env: { WF_HOME: cwd, ...env } });
    try {
      await daemon.until('wf serves http');
      const [, url = ''] = /wf serves (\S+),/.exec(daemon.printed()) ?? [];
      expect((await fetch(`${url}/api/v1/dags`)).status).toBe(401);
    } finally {
      daemon.kill('SIGKILL');
      await daemon.ended;
    }
  }),
);

test('no token is generated if the settings have a login', () =>
  withDaemons({ ...files, token: 'a-token-of-my-own-1\n' }, async (place) => {
    const { url } = await place.serve('--require-login', '--token-file', join(place.cwd, 'token'));
    expect(await statusOf(url, 'a-token-of-my-own-1')).toBe(200);
    expect(() => keptToken(place)).toThrow('ENOENT');
  }));

test('a file without a token stops the start with a suggestion', () =>
  withDaemons(files, async (place) => {
    await (await place.serve('--require-login')).end('SIGTERM');
    place.write('home/daemon/token', '\n');
    const { code, stderr } = await place.launch('--require-login').ended;
    expect([code, stderr]).toEqual([
      2,
      `error: "${keptToken(place).path}" must hold one line of at least 16 ASCII characters\n  help: remove it: the next start of the daemon creates a new one\n`,
    ]);
  }));

test('commands of the same user find the token, for each name of the machine', () =>
  withDaemons(files, async (place) => {
    const { url } = await place.serve('--require-login');
    for (const server of [url, url.replace('127.0.0.1', 'localhost')]) {
      const ran = await place.wf('run', 'hello', '--server', server);
      expect([ran.code, ran.stderr]).toEqual([0, '']);
      expect(ran.stdout).toContain('hello world');
      expect(await place.json<readonly object[]>('history', '--server', server)).not.toEqual([]);
    }
    expect((await place.wf('retry', '@latest', '--from', 'greet', '--server', url)).code).toBe(0);
    const { runId } = await place.json<RunSummary>('status', '@latest');
    expect((await place.wf('logs', runId, '--server', url)).stdout).toBe('[greet] hello world\n');
  }));

test('commands with another home or an own login do not use it', () =>
  withDaemons(files, async ({ cwd, env, serve }) => {
    const { url } = await serve('--require-login');
    const list = (more: Readonly<Record<string, string>>) =>
      startWf(['list', '--server', url], { cwd, env: { ...env, ...more } }).ended;
    expect((await list({ WF_HOME: join(cwd, 'other') })).stderr).toMatch(/requires a login/);
    expect((await list({ WF_TOKEN: 'some-other-token' })).stderr).toMatch(/rejects the login/);
    expect((await list({})).code).toBe(0);
  }));

test('the token is sent only to the daemon that generated it', () =>
  withDaemons(files, async (place) => {
    const daemon = await place.serve('--require-login');
    const stranger = await httpServer((_, response) => response.writeHead(500).end());
    await place.wf('list', '--server', stranger.url);
    await daemon.end('SIGKILL');
    await place.wf('list', '--server', stranger.url);
    expect(stranger.received.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined]);
    rmSync(keptToken(place).path);
  }));

test('the address of the daemon links to its description', () =>
  withDaemons(files, async ({ serve }) => {
    const plain = await serve();
    const answer = await fetch(`${plain.url}/`, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([307, '/api/docs']);
    expect((await (await fetch(plain.url)).text()).startsWith('<!doctype html>')).toBe(true);
    await plain.end('SIGTERM');
    const { url } = await serve('--base-path', '/wf', '--require-login');
    expect((await fetch(`${url}/`, { redirect: 'manual' })).status).toBe(401);
  }));

describeWith('tmux', isInstalled('tmux'), 'the login link for browsers', () => {
  test('is printed with the token on a terminal, where no log keeps it', () =>
    withDaemons(files, async (place) => {
      const command = `WF_HOME=${place.cwd}/home ${process.execPath} ${launcher} serve --port 0 --dags ${place.cwd} --require-login`;
      await withTmux({ columns: 200, rows: 20, cwd: place.cwd, command }, async ({ text, type }) => {
        await expect.poll(text, { timeout: 10_000 }).toMatch(/wf serves/);
        const [, url = ''] = /wf serves (\S+),/.exec(text()) ?? [];
        expect(text()).toContain(`log in with a browser: ${url}/#token=${keptToken(place).token}\n`);
        type('C-c');
        await expect.poll(text).toContain('ending');
      });
    }));
});

function keptToken({ cwd }: DaemonPlace): { readonly path: string; readonly token: string } {
  const path = join(cwd, 'home/daemon/token');
  return { path, token: readFileSync(path, 'utf8').trim() };
}

async function statusOf(url: string, token: string): Promise<number> {
  return (await fetch(`${url}/api/v1/dags`, { headers: { Authorization: `Bearer ${token}` } })).status;
}
