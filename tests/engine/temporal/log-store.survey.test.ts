import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { daemonUrl } from '../../support/daemon.ts';
import { describeWith } from '../../support/require.ts';
import { hasTemporal, type StartedWorker, startTemporal, type TemporalServer } from '../../support/temporal.ts';
import { type RunningWf, startWf, wf } from '../../support/wf.ts';

const TOKEN = 'token-of-the-workers';
const LINES = 40_000;

/** Prints lines of 10 bytes: four times as much as the end of a log that is in the report. */
const printing = (from: number, to: number) => `seq -f %09.0f ${from} ${to}`;
const lines = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `${String(from + index).padStart(9, '0')}\n`).join('');

const long = `
steps:
  - name: prints
    script: |
      ${printing(1, LINES / 2)}
      until test -e "$GATE"; do sleep 0.1; done
      ${printing(LINES / 2 + 1, LINES)}
`;
const lost = `
steps:
  - name: prints
    script: |
      ${printing(1, LINES)}
      until test -e "$GATE"; do sleep 0.1; done
      echo attempt "$WF_ATTEMPT"
    retryPolicy: {limit: 2, intervalSec: 0.1}
`;
const keeping = `
steps:
  - name: build
    script: 'mkdir out; echo built > out/part.txt; echo own > "$WF_ARTIFACTS_DIR/own.txt"'
    artifacts: {path: out/*.txt, required: true}
    workerSelector: {at: a}
  - name: places
    script: 'cat parts/out/part.txt parts/own.txt; test ! -e out'
    artifacts: {from: build, to: parts}
    depends: build
    workerSelector: {at: b}
  - {name: reads, command: 'cat \${build.artifacts}/out/part.txt', depends: build, workerSelector: {at: b}}
  - {name: child, run: child}
  - name: of-child
    script: 'cat theirs/made/child.txt; test -e "$GATE"'
    artifacts: {from: child, to: theirs}
    depends: [child, places, reads]
    workerSelector: {at: b}
---
name: child
steps: [{name: made, script: 'echo child > child.txt', artifacts: child.txt, workerSelector: {at: a}}]
`;
const separate = `
logOutput: separate
steps:
  - {name: both, script: "${printing(1, LINES)}; ${printing(1, 9)} >&2"}
  - {name: silent, command: 'true'}
`;

describeWith('temporal', hasTemporal, 'the log store of the workers of an engine', () => {
  const directory = mkdtempSync(join(tmpdir(), 'wf-test-'));
  const started: RunningWf[] = [];
  let server: TemporalServer;

  beforeAll(async () => {
    server = await startTemporal(directory);
  });
  afterAll(async () => {
    for (const each of started) each.kill('SIGKILL');
    await Promise.all(started.map(({ ended }) => ended));
    await server.close();
    rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
  });

  /** A home with a workflow; its steps wait for a gate. */
  function place(text: string, env: Readonly<Record<string, string>> = {}) {
    const cwd = mkdtempSync(join(directory, 'run-'));
    const gate = join(cwd, 'gate');
    writeFileSync(join(cwd, 'work.yaml'), `env: [{GATE: ${gate}}]\n${text}`);
    const own = { HOME: cwd, WF_HOME: join(cwd, 'home'), WF_LOST_AFTER: '5', ...env };
    const call = (...args: readonly string[]) => wf(args, { cwd, env: own });
    return {
      cwd,
      env: own,
      call,
      open: () => writeFileSync(gate, ''),
      detach: async () => (await call('run', 'work.yaml', '--engine', server.url, '--detach')).stdout.trim(),
    };
  }

  /** A worker of a test, which ends with it. */
  async function worker(
    name: string,
    options: Readonly<Record<string, string>>,
    args: readonly string[] = [],
  ): Promise<StartedWorker> {
    const found = await server.worker(name, { env: options, args });
    onTestFinished(async () => {
      // A worker that was killed stays listed, and the next order may go to it.
      found.kill('SIGTERM');
      await found.ended;
    });
    return found;
  }

  /** A daemon of a home that stores logs. */
  async function serve(home: string, port = 0): Promise<{ readonly process: RunningWf; readonly url: string }> {
    const env = { HOME: directory, WF_HOME: home, WF_ENGINE_LOGS_TOKEN: TOKEN };
    const args = ['serve', '--port', String(port), '--dags', directory, '--engine', server.url];
    const process = startWf(args, { cwd: directory, env, mergesErrors: true });
    started.push(process);
    return { process, url: await daemonUrl(process) };
  }

  const digest = (text: string) => createHash('sha256').update(text).digest('hex');
  const isComplete = async (read: () => Promise<{ readonly stdout: string }>, text: string) =>
    expect.poll(async () => digest((await read()).stdout), { timeout: 30_000, interval: 300 }).toBe(digest(text));

  it('is a directory, in which logs are read while their steps run', async () => {
    const shared = mkdtempSync(join(directory, 'shared-'));
    const store = `file:${shared}`;
    const { directory: own } = await worker('files', { WF_ENGINE_LOGS: store });
    const { call, detach, open, cwd, env } = place(long, { WF_ENGINE_LOGS: store });
    const id = await detach();
    const following = startWf(['logs', '--follow', id, 'prints'], { cwd, env });
    await following.until(String(LINES / 2).padStart(9, '0'));
    expect(existsSync(join(own, id))).toBe(true);
    open();
    expect(digest((await following.ended).stdout)).toBe(digest(lines(1, LINES)));
    await isComplete(() => call('logs', id, 'prints'), lines(1, LINES));
    // The worker keeps no file of a run whose logs are stored.
    await expect.poll(() => existsSync(join(own, id)), { timeout: 10_000 }).toBe(false);
    expect(await call('doctor', '--engine', server.url)).toMatchObject({ stdout: expect.stringContaining(store) });
  });

  it('keeps artifacts, for steps on other machines, retries and readers', { timeout: 90_000 }, async () => {
    const shared = mkdtempSync(join(directory, 'shared-'));
    const env = { WF_ENGINE_LOGS: `file:${shared}` };
    for (const at of ['a', 'b']) await worker(`keeps-${at}`, env, ['--labels', `at=${at}`]);
    const { call, open } = place(keeping, env);
    const failed = await call('run', 'work.yaml', '--engine', server.url, '--reporter', 'plain');
    const printed = (text: string) =>
      [...text.matchAll(/\[(places|reads|of-child)\] +\| (.*)/g)].map(([, step, line]) => `${step}: ${line}`);
    expect({ code: failed.code, printed: printed(failed.stdout).sort() }).toEqual({
      code: 1,
      printed: ['of-child: child', 'places: built', 'places: own', 'reads: built'],
    });
    const first = JSON.parse((await call('status', '--json', '@latest')).stdout).runId;
    open();
    const retried = await call('retry', first, '--reporter', 'plain');
    expect({ code: retried.code, printed: printed(retried.stdout) }).toEqual({ code: 0, printed: ['of-child: child'] });
    const { runId } = JSON.parse((await call('status', '--json', '@latest')).stdout);
    expect(runId).not.toBe(first);
    expect((await call('artifacts', runId, '--json')).stdout).toContain('out/part.txt');
    const written = await call('artifacts', 'get', runId, '--to', 'got');
    expect({ code: written.code, found: readdirSync(join(shared, 'work', runId, 'artifacts')) }).toEqual({
      code: 0,
      found: ['build'],
    });
    const removed = await call('gc', '--keep', '1');
    const left = [first, runId].map((id) => existsSync(join(shared, 'work', id)));
    expect({ code: removed.code, left }).toEqual({ code: 0, left: [false, true] });
  });

  it('is needed for artifacts, by the caller and by the worker', async () => {
    const shared = mkdtempSync(join(directory, 'shared-'));
    const text = 'steps: [{name: build, script: "echo 1 > a.txt", artifacts: a.txt, workerSelector: {at: bare}}]\n';
    await worker('bare', {}, ['--labels', 'at=bare']);
    const bare = await place(text).call('run', 'work.yaml', '--engine', server.url);
    expect([bare.code, bare.stderr]).toEqual([2, expect.stringContaining('"artifacts" of step "build"')]);
    const { call } = place(text, { WF_ENGINE_LOGS: `file:${shared}` });
    const found = await call('run', 'work.yaml', '--engine', server.url, '--reporter', 'plain');
    expect([found.code, found.stdout]).toEqual([
      1,
      expect.stringContaining('this worker has no directory for artifacts'),
    ]);
  });

  it('keeps the streams apart that have logs of their own, and empty logs', async () => {
    const shared = mkdtempSync(join(directory, 'shared-'));
    await worker('streams', { WF_ENGINE_LOGS: `file:${shared}` });
    const { call } = place(separate, { WF_ENGINE_LOGS: `file:${shared}` });
    expect(await call('run', 'work.yaml', '--engine', server.url, '--reporter', 'quiet')).toMatchObject({ code: 0 });
    await isComplete(() => call('logs', '@latest', 'both', '--stream', 'stdout'), lines(1, LINES));
    expect((await call('logs', '@latest', 'both', '--stream', 'stderr')).stdout).toBe(lines(1, 9));
    expect((await call('logs', '@latest', 'silent')).stdout).toBe('');
  });

  it('is a daemon: its page and commands of its home read logs while steps run', async () => {
    const { call, detach, open, env } = place(long);
    const { url } = await serve(env.WF_HOME ?? '');
    await worker('posts', { WF_ENGINE_LOGS: url, WF_ENGINE_LOGS_TOKEN: TOKEN });
    const id = await detach();
    const log = async () => ({ stdout: await (await fetch(`${url}/api/v2/runs/${id}/steps/prints/logs`)).text() });
    await isComplete(log, lines(1, LINES / 2));
    open();
    await isComplete(log, lines(1, LINES));
    await isComplete(() => call('logs', id, 'prints'), lines(1, LINES));
  });

  it('gets the rest of the log of an attempt whose worker was killed, from the next worker there', async () => {
    const { call, detach, open, env } = place(lost);
    const { url } = await serve(env.WF_HOME ?? '');
    const options = { WF_ENGINE_LOGS: url, WF_ENGINE_LOGS_TOKEN: TOKEN };
    const first = await worker('killed', options);
    const id = await detach();
    const log = join(first.directory, id, 'logs/00001-prints.1.out');
    const journal = join(env.WF_HOME ?? '', 'runs', id, 'journal.jsonl');
    await expect.poll(() => readFileSync(journal, 'utf8'), { timeout: 20_000 }).toContain('"step.started"');
    first.kill('SIGKILL');
    await first.ended;
    const printed = readFileSync(log, 'utf8');
    await worker('killed', options);
    open();
    await call('logs', '--follow', id);
    await isComplete(() => call('logs', id, 'prints', '--attempt', '1'), printed);
    await isComplete(() => call('logs', id, 'prints', '--attempt', '2'), `${lines(1, LINES)}attempt 2\n`);
  });

  it('may be away: the ends of logs arrive, and the rest when it is back, also after the run', async () => {
    const { call, detach, open, env } = place(long);
    const home = env.WF_HOME ?? '';
    const daemon = await serve(home);
    const port = Number(new URL(daemon.url).port);
    const options = { WF_ENGINE_LOGS: daemon.url, WF_ENGINE_LOGS_TOKEN: TOKEN };
    const first = await worker('waits', options);
    daemon.process.kill('SIGKILL');
    await daemon.process.ended;
    const id = await detach();
    open();
    await call('logs', '--follow', id);
    const cut = (await call('logs', id, 'prints')).stdout;
    expect(cut).toContain(`bytes are not here yet: the log store is ${daemon.url}`);
    expect(cut.endsWith(lines(LINES - 5, LINES))).toBe(true);
    expect(first.printed()).toContain('takes no logs, which are sent later');
    // Even its worker is another one then.
    first.kill('SIGTERM');
    expect((await first.ended).stdout).toContain('1 logs are not in the log store yet');
    await serve(home, port);
    await worker('waits', options);
    await isComplete(() => call('logs', id, 'prints'), lines(1, LINES));
    await expect.poll(() => readdirSync(first.directory), { timeout: 10_000 }).toEqual([]);
  });

  it('may be a directory that is away', async () => {
    const shared = mkdtempSync(join(directory, 'shared-'));
    const store = { WF_ENGINE_LOGS: `file:${shared}` };
    const found = await worker('unmounted', store);
    renameSync(shared, `${shared}.away`);
    const { call, open } = place(long);
    open();
    expect((await call('run', 'work.yaml', '--engine', server.url, '--reporter', 'quiet')).code).toBe(0);
    await found.until('takes no logs, which are sent later');
    renameSync(`${shared}.away`, shared);
    await found.until('takes logs again');
    const stored = join(shared, 'work');
    await expect.poll(() => existsSync(stored), { timeout: 20_000 }).toBe(true);
    const [run = ''] = readdirSync(stored);
    await expect
      .poll(() => digest(readFileSync(join(stored, run, '00001-prints.1.out'), 'utf8')), { timeout: 20_000 })
      .toBe(digest(lines(1, LINES)));
  });

  it('takes logs only with its token, of attempts that the worker makes, and of runs of an engine', async () => {
    const { call, detach, open, env, cwd } = place(long);
    const { url } = await serve(env.WF_HOME ?? '');
    await worker('holds', {});
    const id = await detach();
    const put = async (
      run: string,
      { token = TOKEN, worker = 'holds', offset = 0, attempt = 1, step = 'prints' } = {},
    ) => {
      const address = `${url}/api/v2/runs/${run}/logs/${step}/${attempt}?offset=${offset}&worker=${worker}`;
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' };
      const response = await fetch(address, { method: 'PUT', headers, body: 'piece' });
      return { status: response.status, text: await response.text() };
    };
    await expect.poll(() => put(id), { timeout: 20_000 }).toEqual({ status: 200, text: '{"size":5}\n' });
    expect(await put(id, { offset: 2 })).toEqual({ status: 200, text: '{"size":7}\n' });
    expect(await put(id, { offset: 100 })).toEqual({ status: 200, text: '{"size":7}\n' });
    expect(await put(id, { token: 'another-token-of-a-worker' })).toMatchObject({ status: 401 });
    expect(await put(id, { worker: 'other', offset: 7 })).toMatchObject({ status: 409 });
    expect(await put(id, { attempt: 2 })).toMatchObject({ status: 409 });
    expect(await put(id, { step: 'none' })).toMatchObject({ status: 404 });
    expect(await put('none')).toMatchObject({ status: 404 });
    open();
    await call('logs', '--follow', id);
    writeFileSync(join(cwd, 'here.yaml'), 'steps: [{name: prints, command: echo here}]');
    await call('run', 'here.yaml', '--run-id', 'here');
    expect(await put('here')).toMatchObject({ status: 409, text: expect.stringContaining('not one of an engine') });
    // The token of workers is for nothing else, and that of users is none of workers.
    const doctor = (token: string) =>
      wf(['doctor', '--engine', server.url, '--engine-logs', url], { env: { ...env, WF_ENGINE_LOGS_TOKEN: token } });
    expect((await doctor(TOKEN)).stdout).toMatch(new RegExp(`✔ +log store +${url}`));
    expect((await doctor('another-token-of-a-worker')).stdout).toMatch(/✖ +log store +the login is wrong/);
  });

  it('is refused where it cannot be used', async () => {
    const start = (env: Readonly<Record<string, string>>) =>
      wf(['worker', '--engine', server.url, '--dir', join(directory, 'refused')], {
        env: { HOME: directory, WF_HOME: join(directory, 'refused-home'), ...env },
      });
    expect(await start({ WF_ENGINE_LOGS: 'https://ops.example.com' })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('needs a token'),
    });
    expect(await start({ WF_ENGINE_LOGS: `file:${directory}/none` })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is not a directory of this machine'),
    });
    expect(await start({ WF_ENGINE_LOGS: 'ftp://ops.example.com' })).toMatchObject({ code: 2 });
    expect(await start({ WF_ENGINE_LOGS: 'https://a.example', WF_ENGINE_LOGS_TOKEN: 'short' })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('at least 16'),
    });
  });

  it('is not there for outputs: an attempt with more than a message may have fails, and the run ends', async () => {
    await worker('outputs', {});
    const printsBytes = (count: number) => `"head -c ${count} /dev/zero | tr '\\\\0' x"`;
    const steps = Array.from({ length: 5 }, (_, index) => {
      const depends = index === 0 ? '' : `, depends: s${index - 1}`;
      return `  - {name: s${index}, command: ${printsBytes(250_000)}, output: OUT_${index}${depends}}`;
    });
    const large = `  - {name: large, command: ${printsBytes(300_000)}, output: LARGE}`;
    const { call } = place(`steps:\n${[...steps, large].join('\n')}\n`);
    const { code, stdout } = await call('run', 'work.yaml', '--engine', server.url, '--reporter', 'plain');
    expect(code).toBe(1);
    expect(stdout).toContain('its outputs have 300005 bytes: on an engine, an attempt can have 262144');
    expect(stdout).toContain(
      'with its outputs, those of the run have 1250025 bytes: on an engine, a run can have 1048576',
    );
  });

  it('says why it takes no logs: it is full', async () => {
    const full = createServer((request, response) => {
      request.resume();
      response.writeHead(507, { 'content-type': 'application/problem+json' });
      response.end(JSON.stringify({ detail: 'no space is left on the device' }));
    });
    await new Promise<void>((resolve) => void full.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void full.close());
    const address = full.address();
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
    const found = await worker('full', { WF_ENGINE_LOGS: url, WF_ENGINE_LOGS_TOKEN: TOKEN });
    const { call, open } = place(long);
    open();
    expect((await call('run', 'work.yaml', '--engine', server.url, '--reporter', 'quiet')).code).toBe(0);
    await found.until(`the log store ${url} takes no logs, which are sent later: no space is left on the device`);
    full.closeAllConnections();
  });
});
