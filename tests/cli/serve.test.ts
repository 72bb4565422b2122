import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { RunSummary } from '#core/summary/summary.ts';
import { type Place, withPlace } from '../support/past-runs.ts';
import type { RunningWf } from '../support/wf.ts';

const files = {
  'greet.yaml': 'params: world\nsteps:\n  - name: greet\n    command: echo "hello $1"\n',
  'wait.yaml': 'steps:\n  - name: wait\n    command: sh -c "until test -e go; do sleep 0.05; done"\n',
};

test('the API answers curl with forms', () =>
  withPlace(files, async (place) => {
    const { url, end } = await serve(place);
    const get = async (path: string): Promise<Shown> =>
      (await fetch(`${url}/api/v1${path}`, { headers: { Accept: 'application/json' } })).json() as Promise<Shown>;
    const post = async (path: string, fields: Record<string, string>): Promise<{ RequestId?: string }> => {
      const answer = await fetch(`${url}/api/v1${path}`, { method: 'POST', body: new URLSearchParams(fields) });
      expect(answer.status).toBe(200);
      return answer.json() as Promise<{ RequestId?: string }>;
    };
    const status = async (path: string) => (await get(path)).DAG.Status;

    expect(await get('/dags/')).toMatchObject({ DAGs: [{ File: 'greet.yaml' }, { File: 'wait.yaml' }] });
    expect(await get('/dags/greet/spec')).toMatchObject({ Definition: files['greet.yaml'] });
    const greeted = await post('/dags/greet', { action: 'start', params: "'big world'" });
    const finished = { ...greeted, StatusText: 'finished', Params: '"big world"' };
    await expect.poll(() => status('/dags/greet')).toMatchObject(finished);
    expect((await get('/dags/greet?tab=log&step=greet')).StepLog.Content).toBe('hello big world\n');

    const waiting = await post('/dags/wait', { action: 'start' });
    await expect.poll(() => status('/dags/wait')).toMatchObject({ ...waiting, StatusText: 'running' });
    expect(await post('/dags/wait', { action: 'stop' })).toEqual({});
    await expect.poll(() => status('/dags/wait')).toMatchObject({ ...waiting, StatusText: 'canceled' });
    const retried = await post('/dags/wait', { action: 'retry', 'request-id': waiting.RequestId ?? '' });
    writeFileSync(join(place.cwd, 'go'), '');
    await expect.poll(() => status('/dags/wait')).toMatchObject({ ...retried, StatusText: 'finished' });

    const { code, stderr } = await end('SIGTERM');
    expect([code, stderr.replace(/^\S+ warning: no login is required: .*\n/, '')]).toEqual([0, '']);
  }));

test('a run whose files cannot be read hides no other, and the daemon starts', () =>
  withPlace(files, async (place) => {
    for (const runId of ['whole', 'bad']) await place.wf('run', 'greet.yaml', '--run-id', runId);
    for (const name of ['snapshot.json', 'journal.jsonl', 'owner']) {
      rmSync(join(place.runsDir, 'bad', name));
      symlinkSync(name, join(place.runsDir, 'bad', name));
    }
    const { url, end } = await serve(place);
    const answer = await fetch(`${url}/api/v2/runs`);
    const { runs } = (await answer.json()) as { runs: readonly RunSummary[] };
    expect(runs.map(({ runId, status, error }) => [runId, status, error])).toEqual([
      ['bad', 'failed', 'its files cannot be read'],
      ['whole', 'succeeded', null],
    ]);
    const { code, stderr } = await end('SIGTERM');
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining(`cannot read "${place.runsDir}/bad": too many symbolic links`),
    ]);
  }));

test('a workflows directory that does not exist is said to at the start', () =>
  withPlace({}, async ({ cwd, start }) => {
    const daemon = start('serve', '--port', '0', '--dags', 'none');
    await daemon.until('wf serves ');
    daemon.kill('SIGTERM');
    expect((await daemon.ended).stdout).toContain(`workflows in ${cwd}/none, which does not exist yet\n`);
  }));

test('a run outlives the daemon that started it', () =>
  withPlace(files, async (place) => {
    const { url, end } = await serve(place);
    const body = new URLSearchParams({ action: 'start', 'request-id': 'survivor' });
    expect((await fetch(`${url}/api/v1/dags/wait`, { method: 'POST', body })).status).toBe(200);

    await end('SIGKILL');
    writeFileSync(join(place.cwd, 'go'), '');

    await expect
      .poll(() => place.json<RunSummary>('status', 'survivor'))
      .toMatchObject({ status: 'succeeded', trigger: 'api' });
  }));

test('other hosts need a login', () =>
  withPlace(files, async (place) => {
    const refused = await place.wf('serve', '--host', '0.0.0.0', '--port', '0');
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr).toContain('will not listen on "0.0.0.0" without a login');

    const { url, end } = await serve(place, '--token-file', join(place.cwd, 'token'));
    expect((await fetch(`${url}/api/v1/dags`)).status).toBe(401);
    expect((await fetch(`${url}/api/v1/dags`, { headers: { Authorization: 'Bearer s3cret' } })).status).toBe(200);
    expect((await fetch(`${url}/health`)).status).toBe(200);
    expect((await end('SIGINT')).code).toBe(0);
  }));

test('it works under the names it had elsewhere', () =>
  withPlace(files, async (place) => {
    for (const name of ['server', 'start-all', 'scheduler']) {
      const { stdout } = await place.wf(name, '--help');
      expect(stdout).toMatch(/^Usage: wf serve\|server\|start-all\|scheduler /);
    }
  }));

test('it takes the short options it had elsewhere', () =>
  withPlace(files, async (place) => {
    const { url, end } = await begun(place, 'scheduler', '-s', '127.0.0.1', '-p', '0', '-d', place.cwd);
    const { DAGs } = (await (await fetch(`${url}/api/v1/dags`)).json()) as { DAGs: readonly object[] };
    expect(DAGs).toHaveLength(2);
    expect((await end('SIGTERM')).code).toBe(0);
  }));

/** What is looked at of an answer. */
type Shown = { readonly DAG: { readonly Status: object }; readonly StepLog: { readonly Content: string } };

/** Starts the daemon over the files of a place. */
function serve(place: Place, ...options: readonly string[]) {
  writeFileSync(join(place.cwd, 'token'), 's3cret\n');
  return begun(place, 'serve', '--port', '0', '--dags', place.cwd, ...options);
}

/** A daemon that has begun to serve. */
async function begun(place: Place, ...words: readonly string[]) {
  const daemon: RunningWf = place.start(...words);
  onTestFinished(async () => {
    daemon.kill('SIGKILL');
    await daemon.ended;
  });
  const url = await printedUrl(daemon);
  const end = (signal: NodeJS.Signals) => {
    daemon.kill(signal);
    return daemon.ended;
  };
  return { url, end };
}

async function printedUrl({ until, printed }: RunningWf): Promise<string> {
  await until('wf serves http');
  return /wf serves (\S+),/.exec(printed())?.[1] ?? '';
}
