import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { printError } from '#cli/exit-codes.ts';
import { buildProgram } from '#cli/program.ts';
import type { RunSummary } from '#core/summary/summary.ts';
import { type DaemonPlace, withDaemons } from '../support/daemon.ts';
import { fakeConsole } from '../support/fake-console.ts';
import { certificateFile } from '../support/http-server.ts';
import { type Ended, type RunningWf, startWf } from '../support/wf.ts';

const files = {
  'greet.yaml': 'params: world\nsteps:\n  - name: greet\n    command: echo "hello $1"\n',
  'flaky.yaml': `description: Fails at first
steps:
  - name: first
    command: printf 'one\\ntwo\\nno end'
  - name: second
    depends: first
    script: |
      echo out $WF_ATTEMPT
      echo err $WF_ATTEMPT >&2
      test -e good
    retryPolicy: { limit: 1, intervalSec: 0 }
  - name: third
    depends: second
    command: echo third
handlerOn:
  exit: { command: echo handled }
params: A= ""
`,
  'wait.yaml': 'steps:\n  - name: wait\n    command: sh -c "echo begun; until test -e go; do sleep 0.05; done"\n',
  'spelled.yaml': 'secrets: [TOKEN]\nenv: [{TOKEN: hunter22}]\nsteps:\n  - {name: login, command: test -e ready}\n',
  'each.yaml': `steps: [{name: s, parallel: [a, b], command: 'sh -c "echo $ITEM; test $ITEM = a || test -e go"'}]\n`,
  'long.yaml': 'steps:\n  - name: long\n    command: printf "%0200000d\\n%s\\n" 1 end\n',
  'broken.yaml': 'steps:\n  - name: one\n    comand: echo one\n',
};

/** What is typed on another machine. */
type Client = {
  readonly wf: (...args: readonly string[]) => Promise<Ended>;
  readonly start: (...args: readonly string[]) => RunningWf;
  readonly json: <T = RunSummary>(...args: readonly string[]) => Promise<T>;
};

function clientOf({ cwd }: DaemonPlace, url: string, env: Readonly<Record<string, string>> = {}): Client {
  const options = { cwd, env: { WF_HOME: join(cwd, 'client'), WF_SERVER: url, ...env } };
  const start = (...args: readonly string[]) => startWf(args, options);
  const wf = (...args: readonly string[]) => start(...args).ended;
  return { start, wf, json: async (...args) => JSON.parse((await wf(...args, '--json')).stdout) };
}

/** What a command line prints, typed in this process. */
async function typed(args: readonly string[], env: Readonly<Record<string, string>>) {
  vi.unstubAllEnvs();
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  const { console, printed } = fakeConsole();
  let code = 0;
  const setCode = (told: number) => {
    code = told;
  };
  try {
    await buildProgram(console, setCode, args).parseAsync(args, { from: 'user' });
  } catch (error) {
    code = await printError(error, console);
  }
  return { code, ...printed() };
}

afterEach(() => vi.unstubAllEnvs());

test(
  'commands print the same for a daemon as on its machine',
  () =>
    withDaemons(files, async (place) => {
      const { url } = await place.serve();
      const client = clientOf(place, url);
      await client.wf('run', 'flaky', '--run-id', 'failed-one', '--', 'A=1', 'b c');
      await client.wf('run', 'each');
      writeFileSync(join(place.cwd, 'go'), '');
      await client.wf('retry', 'each');
      await client.wf('run', 'long');
      await client.wf('run', 'greet', '--run-id', 'greeting');

      const commands = [
        ['list'],
        ['list', '--json'],
        ['status'],
        ['status', '@failed'],
        ['status', 'flaky', '--json'],
        ['status', 'gree'],
        ['status', 'nobody'],
        ['history'],
        ['history', 'flaky', '--json'],
        ['history', '--status', 'failed', '--last', '1h'],
        ['history', '--waiting'],
        ['history', 'wait'],
        ['history', '--limit', '1'],
        ['history', 'nobody'],
        ['logs', 'flaky'],
        ['logs', 'failed-one', 'second'],
        ['logs', 'flaky', 'second', '--attempt', '1', '--stream', 'stderr'],
        ['logs', 'flaky', '--tail', '3'],
        ['logs', 'flaky', '--raw'],
        ['logs', 'flaky', '--raw', '--tail', '2'],
        ['logs', 'flaky', '--json'],
        ['logs', 'flaky', '-f'],
        ['logs', 'flaky', 'third'],
        ['logs', 'flaky', 'secnd'],
        ['logs', 'flaky', 'second', '--attempt', '5'],
        ['logs', 'each', 's'],
        ['logs', 'each', 's', '--tail', '2'],
        ['logs', 'each', 's[0]'],
        ['logs', 'long'],
        ['logs', 'long', '--tail', '2'],
        ['logs', 'long', '--json'],
        ['logs', 'nobody', '-f'],
      ];
      for (const args of commands) {
        const there = await typed(args, { WF_HOME: join(place.cwd, 'client'), WF_SERVER: url });
        const here = await typed(args, { WF_HOME: join(place.cwd, 'home'), WF_DAGS: place.cwd });
        // On this machine, a line says in which directory the files of the runs are.
        expect([args, there]).toEqual([args, { ...here, err: here.err.replace(/^wf: the last .*\n/, '') }]);
      }
      expect((await client.wf('status', '--json')).stdout).toBe(
        (
          await typed(['status', '--json'], {
            WF_HOME: join(place.cwd, 'home'),
          })
        ).out,
      );
    }),
  60_000,
);

test(
  'a stop of a workflow with several runs on a daemon names them, and stops them with --all',
  () =>
    withDaemons(files, async (place) => {
      const { url } = await place.serve();
      const client = clientOf(place, '');
      const server = ['--server', url];
      for (const id of ['wait-1', 'wait-2']) await client.wf('run', 'wait', '--detach', '--run-id', id, ...server);
      const statuses = async () => (await client.json<RunSummary[]>('history', ...server)).map(({ status }) => status);
      // One that had not started is canceled, which reads otherwise.
      await expect.poll(statuses, { timeout: 30_000 }).toEqual(['running', 'running']);
      const { code, stdout, stderr } = await client.wf('stop', 'wait', ...server);
      expect([code, stdout, stderr.replace(/wait-[12]/g, 'ID')]).toEqual([
        2,
        '',
        'error: 2 runs of "wait" are active: ID, ID\n' +
          `  help: name one of them, or stop them all with wf stop --server ${url} --all wait\n`,
      ]);
      const all = await client.wf('stop', '--all', 'wait', ...server);
      expect([all.code, all.stdout.split('\n').sort()]).toEqual([
        0,
        ['', ...['wait-1', 'wait-2'].map((id) => `run ${id} of "wait" is stopped`)],
      ]);
      expect(await statuses()).toEqual(['canceled', 'canceled']);
    }),
  60_000,
);

test(
  'a run id that a daemon has starts nothing, and says how to see that run',
  () =>
    withDaemons(files, async (place) => {
      const { url } = await place.serve();
      const client = clientOf(place, '');
      const run = (...args: readonly string[]) => client.wf('run', ...args, '--run-id', 'mine', '--server', url);
      expect((await run('greet')).code).toBe(0);
      expect(await run('greet')).toMatchObject({
        code: 2,
        stdout: '',
        stderr: `error: a run "mine" exists already\n  help: wf status --server ${url} mine shows it; choose another id to start a run\n`,
      });
      expect(await run('greet', '--detach')).toMatchObject({
        code: 0,
        stdout: 'mine\n',
        stderr: 'run mine exists already: nothing was started\n',
      });
      expect(await run('long')).toMatchObject({
        code: 2,
        stdout: '',
        stderr: 'error: there is another run "mine"\n  help: choose another id\n',
      });
      expect(await client.json<RunSummary[]>('history', '--server', url)).toHaveLength(1);
    }),
  60_000,
);

test(
  'a daemon with another base path is reported with the source of its address',
  () =>
    withDaemons(files, async (place) => {
      const { url } = await place.serve();
      const help = 'check that --server points to the base URL of a wf daemon of this version';
      expect(await clientOf(place, '').wf('list', '--server', `${url}/wf`)).toMatchObject({
        code: 2,
        stdout: '',
        stderr: `error: ${url}/wf does not know this path: there is nothing at this path\n  help: ${help}\n`,
      });
    }),
  60_000,
);

test(
  'a run of a daemon is shown like a local one, with its exit code',
  () =>
    withDaemons(files, async (place) => {
      const { url } = await place.serve();
      const client = clientOf(place, url);

      const failed = await client.wf('run', 'flaky');
      expect(failed).toMatchObject({ code: 1, stderr: '' });
      expect(failed.stdout.replace(/\d\d:\d\d:\d\d|\d\.\ds|[0-9a-f]{8}-[0-9a-f]{4}/g, '-')).toBe(`▶ flaky  -
- [first]  START  printf 'one\\ntwo\\nno end'
- [first]  | one
- [first]  | two
- [first]  | no end
- [first]  OK     -
- [second] START  echo out $WF_ATTEMPT ...
- [second] | out 1
- [second] | err 1
- [second] RETRY  now (attempt 2 of 2): exit 1 after -
- [second] START  echo out $WF_ATTEMPT ... (attempt 2 of 2)
- [second] | out 2
- [second] | err 2
- [second] FAIL   exit 1 after - (attempt 2 of 2)
- [third]  NOTRUN "second" failed
- [handlerOn.exit] START  echo handled
- [handlerOn.exit] | handled
- [handlerOn.exit] OK     -
FAILED flaky in -   1 succeeded · 1 failed · 1 not run
✖ second   exit 1   after 2 attempts   flaky.yaml:5:5
  │ out 2
  │ err 2
  logs: wf logs - second

retry what failed: wf retry -
`);
      expect((await client.wf('run', 'flaky', '-x', '--reporter', 'quiet', '--server', `${url}/`)).stdout).toContain(
        `wf retry --server ${url} `,
      );
      const events = (await client.wf('run', 'greet', '--reporter', 'json', '--', 'Ann')).stdout.trim().split('\n');
      expect(events.map((line) => JSON.parse(line).type)).toEqual([
        'run.created',
        'run.queued',
        'run.owned',
        'run.prepared',
        'run.started',
        'step.scheduled',
        'step.started',
        'step.output',
        'step.finished',
        'run.finished',
        'run.summary',
      ]);
      expect(events.find((line) => line.includes('step.output'))).toContain('"hello Ann"');
      expect(await place.json('history', 'greet')).toMatchObject([{ trigger: 'api', status: 'succeeded' }]);
      expect((await client.wf('run', 'greet', '--run-id', 'failed one')).code).toBe(2);
      expect(await client.wf('run', 'greet', '--reporter', 'loud', '--run-id', 'loud')).toMatchObject({ code: 2 });
      expect(await client.wf('status', 'loud')).toMatchObject({ code: 2 });
    }),
  60_000,
);

test(
  'the start of a step on a daemon names what it runs, without secrets, as the same run here does',
  () =>
    withDaemons(
      {
        'w.yaml': `type: chain
secrets: [TOKEN]
env: [{TOKEN: hunter22xyz}]
steps:
  - {name: plan, executor: {type: terraform, config: {binary: echo, subcommand: plan}}, command: -var t=hunter22xyz}
  - {name: play, executor: {type: ansible, config: {binary: echo, playbook: site.yml}}}
  - {name: each, parallel: [child], run: "\${ITEM}", params: X=eu}
`,
        'child.yaml': 'params: [X: x]\nsteps: [{name: push, command: echo $X}]\n',
      },
      async (place) => {
        const { url } = await place.serve();
        const starts = (stdout: string) => stdout.split('\n').flatMap((line) => / START .*/.exec(line) ?? []);
        const expected = [' START  echo plan -var t=***', ' START  echo site.yml', ' START  workflow: child X=eu'];
        expect(starts((await clientOf(place, url).wf('run', 'w')).stdout)).toEqual(expected);
        const here = await clientOf(place, url).wf('run', '--no-server', 'w.yaml');
        expect(starts(here.stdout)).toEqual([...expected, ' START  echo $X']);
      },
    ),
  60_000,
);

test(
  'a JUnit file of a run of a daemon has the failures in all its child runs',
  () =>
    withDaemons(
      {
        'w.yaml': 'steps: [{name: s, parallel: [a, b, c, d], run: child}]\n',
        'child.yaml': 'params: [X: x]\nsteps: [{name: push, command: \'sh -c "echo denied $X; exit 3"\'}]\n',
      },
      async (place) => {
        const { url } = await place.serve();
        await clientOf(place, url).wf('run', 'w', '-q', '--reporter', 'junit=report.xml');
        const report = readFileSync(join(place.cwd, 'report.xml'), 'utf8');
        expect([...report.matchAll(/<failure [^>]*>([^\n]*\n[^\n]*)/g)].map(([, text]) => text)).toEqual(
          ['a', 'b', 'c', 'd'].map((key) => `s[${key}] &gt; push: exit 3\ndenied ${key}`),
        );
      },
    ),
  60_000,
);

test(
  'suggests a retry with the file if the daemon stores no secrets with the run',
  () =>
    withDaemons(files, async (place) => {
      const { url } = await place.serve();
      const client = clientOf(place, url);
      const suggested = 'retry what failed: wf retry one --file\n';
      const failed = await client.wf('run', 'spelled', '--run-id', 'one');
      expect([failed.code, failed.stdout]).toEqual([1, expect.stringContaining(suggested)]);
      expect((await client.wf('status', 'one')).stdout).toContain(suggested);
      place.write('ready', '');
      expect((await client.wf('retry', 'one')).code).toBe(2);
      expect((await client.wf('retry', 'one', '--file')).code).toBe(0);
    }),
  60_000,
);

test(
  'runs are started once per id, retried and stopped on the daemon',
  () =>
    withDaemons(files, async (place) => {
      const { url } = await place.serve();
      const client = clientOf(place, url);
      const detached = (runId: string) => client.wf('run', 'wait', '--detach', '--run-id', runId);

      expect(await detached('one')).toMatchObject({ code: 0, stdout: 'one\n', stderr: '' });
      expect(await detached('one')).toMatchObject({
        code: 0,
        stdout: 'one\n',
        stderr: 'run one exists already: nothing was started\n',
      });
      expect(await client.wf('run', 'greet', '--detach', '--run-id', 'one')).toMatchObject({ code: 2 });
      expect((await client.wf('retry', 'one')).stderr).toContain('run one is still running');
      await detached('two');
      expect((await client.wf('stop', 'wait')).stderr).toContain('2 runs of "wait" are active: ');
      expect((await client.wf('stop', 'one')).stdout).toBe('run one of "wait" is stopped\n');
      expect((await client.wf('stop', 'one')).stdout).toBe(
        'run one of "wait" had finished already: canceled, stopped by the API\n',
      );
      expect((await client.wf('stop', 'wait', '--no-wait')).stdout).toBe('run two of "wait" was asked to stop\n');
      await expect.poll(() => client.json('status', 'two')).toMatchObject({ status: 'canceled' });

      writeFileSync(join(place.cwd, 'go'), '');
      expect((await client.wf('retry', 'one', '--detach', '--run-id', 'again')).stdout).toBe('again\n');
      await expect.poll(() => client.json('status', 'again')).toMatchObject({ status: 'succeeded', retryOf: 'one' });
      expect(await client.wf('retry', 'again')).toMatchObject({
        code: 0,
        stdout: 'nothing to do: every step of run again succeeded\n',
      });
      expect((await client.wf('retry', 'again', '--step', 'wait')).stdout).toContain('SUCCEEDED wait');
      expect((await client.wf('mark', 'again', 'wait', 'failed')).stdout).toBe(
        'step "wait" counts as failed; run again of "wait" is failed\n',
      );
    }),
  60_000,
);

test(
  'the first signal stops the run on the daemon; a second one leaves it running',
  () =>
    withDaemons({ ...files, 'deaf.yaml': deaf }, async (place) => {
      const client = clientOf(place, (await place.serve()).url);

      const polite = client.start('run', 'wait');
      await polite.until('begun');
      polite.kill('SIGINT');
      expect(await polite.ended).toMatchObject({ code: 130, signal: null });
      expect(await client.json('status', 'wait')).toMatchObject({ status: 'canceled' });

      const hasty = client.start('run', 'deaf', '--run-id', 'deaf-one');
      await hasty.until('begun');
      hasty.kill('SIGTERM');
      await expect.poll(() => client.json('status', 'deaf-one')).toMatchObject({ status: 'canceling' });
      hasty.kill('SIGTERM');
      expect(await hasty.ended).toMatchObject({ code: 143 });
      expect((await hasty.ended).stderr).toMatch(
        /^wf: run deaf-one continues at .*; wf status deaf-one shows its result\n$/,
      );
      expect(await client.wf('stop', '--force', 'deaf-one')).toMatchObject({ code: 0, stderr: '' });
    }),
  60_000,
);

const deaf =
  'steps:\n  - name: wait\n    command: sh -c "trap \'\' TERM; echo begun; while true; do sleep 0.05; done"\n';

test(
  'following across a crash of the daemon shows every line once',
  () =>
    withDaemons({ 'talk.yaml': talk }, async (place) => {
      const first = await place.serve();
      const client = clientOf(place, first.url);
      await client.wf('run', 'talk', '--detach', '--run-id', 'talking');
      const followed = client.start('logs', '-f', 'talking');
      const shown = client.start('logs', '-f', 'talking', 'left', '--raw');
      await Promise.all([followed.until('left 10 '), shown.until('left 10 ')]);

      await first.end('SIGKILL');
      writeFileSync(join(place.cwd, 'gone'), '');
      await expect.poll(() => readLines(place.cwd, 'left').length).toBeGreaterThan(40);
      const second = await place.serve('--port', new URL(first.url).port);
      expect(second.url).toBe(first.url);
      writeFileSync(join(place.cwd, 'back'), '');

      const { stdout, stderr, code } = await followed.ended;
      expect([code, stderr]).toEqual([
        0,
        `wf: ${first.url} does not answer; retrying\nwf: ${first.url} answers again\n`,
      ]);
      for (const step of ['left', 'right']) {
        const printed = stdout.split('\n').flatMap(
          (line) =>
            line
              .split(`| `)
              .at(-1)
              ?.match(new RegExp(`${step} .*`))?.[0] ?? [],
        );
        expect(printed).toEqual(readLines(place.cwd, step));
        expect(printed.length).toBeGreaterThan(100);
      }
      expect(stdout.match(/\bsecond attempt\b/g)).toHaveLength(1);
      expect((await shown.ended).stdout).toBe(`${readLines(place.cwd, 'left').join('\n')}\n`);
    }),
  60_000,
);

test(
  'following a run says that its process died',
  () =>
    withDaemons({ 'deaf.yaml': deaf }, async (place) => {
      const { url } = await place.serve();
      const client = clientOf(place, url);
      await client.wf('run', 'deaf', '--detach', '--run-id', 'dying');
      const followed = client.start('logs', '-f', 'dying');
      await followed.until('begun');
      const { owner } = JSON.parse((await client.wf('status', 'dying', '--json')).stdout) as RunSummary;
      process.kill(owner?.pid ?? 0, 'SIGKILL');
      expect(await followed.ended).toMatchObject({
        code: 0,
        stdout: '[wait] begun\n',
        stderr: `run dying is lost: its process ${owner?.pid} died\n`,
      });
    }),
  60_000,
);

/** Both also write their output to a file. `right` fails while the daemon is down, and is retried. */
const talk = `steps:
  - name: left
    script: |
      i=0
      while [ $i -lt 20 ] || ! test -e back; do i=$((i+1)); echo "left $i x" | tee -a left; sleep 0.01; done
      j=0
      while [ $j -lt 100 ]; do j=$((j+1)); echo "left more $j" | tee -a left; done
  - name: right
    retryPolicy: { limit: 1, intervalSec: 0 }
    script: |
      if [ $WF_ATTEMPT = 1 ]; then
        until test -e gone; do echo "right $$ a" | tee -a right; sleep 0.02; done
        exit 1
      fi
      echo "second attempt"
      j=0
      while [ $j -lt 100 ]; do j=$((j+1)); echo "right more $j" | tee -a right; done
`;

function readLines(cwd: string, name: string): readonly string[] {
  try {
    return readFileSync(join(cwd, name), 'utf8').trimEnd().split('\n');
  } catch {
    return [];
  }
}

test(
  'asks for a login if the daemon requires one',
  () =>
    withDaemons(files, async (place) => {
      writeFileSync(join(place.cwd, 'token'), 's3cret\n');
      writeFileSync(join(place.cwd, 'look'), 'look-only\n');
      const options = ['--token-file', join(place.cwd, 'token'), '--read-only-token-file', join(place.cwd, 'look')];
      const { url } = await place.serve(...options);
      const status = (env: Readonly<Record<string, string>>, ...args: readonly string[]) =>
        clientOf(place, url, env).wf('run', 'greet', '--detach', '--run-id', 'one', ...args);

      const none = await status({});
      expect([none.code, none.stderr.split('\n')[0]]).toEqual([2, `error: ${url} requires a login`]);
      const wrong = await status({ WF_TOKEN: 'wrong' });
      expect([wrong.code, wrong.stderr.split('\n')[0]]).toEqual([2, `error: ${url} rejects the login`]);
      expect(wrong.stderr).not.toContain('wrong\n');
      const reader = await status({ WF_TOKEN: 'look-only' });
      expect(reader.stderr).toMatch(/^error: .* forbids this request: this login is read-only\n {2}help: .*WF_TOKEN/);
      expect(await clientOf(place, url, { WF_TOKEN: 'look-only' }).wf('history')).toMatchObject({ code: 0 });
      expect(await status({ WF_TOKEN: 's3cret' })).toMatchObject({ code: 0 });
      expect(await status({}, '--token-file', 'token')).toMatchObject({ code: 0 });
      const inUrl = url.replace('//', '//me:s3cret@');
      expect(await clientOf(place, inUrl).wf('history')).toMatchObject({ code: 0 });
      expect((await clientOf(place, inUrl).wf('config', 'server')).stdout).not.toContain('s3cret');
      const failed = await clientOf(place, inUrl.replace('s3cret', 'other')).wf('history');
      expect([failed.code, failed.stderr]).toEqual([2, expect.not.stringContaining('other')]);
    }),
  60_000,
);

test(
  'uses TLS for a daemon whose authority is known',
  () =>
    withDaemons(files, async (place) => {
      const key = certificateFile.replace('certificate.pem', 'key.pem');
      const { url } = await place.serve('--tls-cert', certificateFile, '--tls-key', key);
      expect(url).toMatch(/^https:/);
      const unknown = await clientOf(place, url).wf('list');
      expect([unknown.code, unknown.stderr]).toEqual([
        2,
        expect.stringMatching(
          /^error: the certificate of https:.* is not signed by a trusted authority.*\n {2}help: .*--server-ca/,
        ),
      ]);

      expect(await clientOf(place, url, { WF_SERVER_CA: certificateFile }).wf('list')).toMatchObject({ code: 0 });
      const run = await clientOf(place, url).wf('run', 'greet', '--server-ca', certificateFile);
      expect(run.stdout).toContain('| hello world');
      const plain = await clientOf(place, url.replace('https', 'http')).wf('list');
      expect([plain.code, plain.stderr]).toEqual([2, expect.stringContaining(`is ${url}`)]);
    }),
  60_000,
);

test(
  'options that a daemon does not support are refused with an alternative',
  () =>
    withDaemons(files, async (place) => {
      const { url } = await place.serve();
      const client = clientOf(place, url);
      const told = async (...args: readonly string[]) => {
        const { code, stdout, stderr } = await client.wf(...args);
        expect([args, code, stdout]).toEqual([args, 2, '']);
        return stderr;
      };

      expect(await told('gc')).toContain('error: wf gc works only on this machine, and WF_SERVER names a daemon\n');
      expect(await told('report')).toContain('wf report works only on this machine');
      expect(await told('restart', 'greet')).toContain('wf restart works only on this machine');
      expect(await told('run', 'greet', '--watch')).toContain('--watch works only for local runs');
      expect(await told('run', '-')).toContain('standard input works only for local runs');
      expect(await told('stop', 'greet', '--force')).toContain('there are no runs yet');
      expect(await told('status', '--dags', '.')).toContain('--dags applies to local workflows');
      expect(await told('run', 'missing')).toBe('error: no workflow "missing"\n');
      expect(await told('run', 'greet.yml/../../greet.yaml')).toContain('error: no workflow');
      expect(await told('run', './greet.yaml')).toContain('wf run --no-server ./greet.yaml runs it here');
      expect(await told('run', 'broken')).toBe(`error: unknown key "comand" in step "one"
  ┌─ broken.yaml:3:5
3 │     comand: echo one
  │     ^^^^^^ did you mean "command"?
  help: Known keys here: name, id, description, dir, command, script, args, shell, ... (wf schema steps).

1 error in 1 file
`);
      expect(await client.wf('run', 'greet.yaml', '--no-server')).toMatchObject({ code: 0 });
      expect(await client.json('history', '--no-server')).toHaveLength(1);
      expect(await client.json('history')).toEqual([]);
    }),
  60_000,
);

test('steps do not use the daemon that the user chose', () =>
  withDaemons({ 'env.yaml': 'steps: [{ name: env, command: "sh -c \'echo [$WF_SERVER]\'" }]\n' }, async (place) => {
    const client = clientOf(place, 'http://me:s3cret@127.0.0.1:1');
    expect((await client.wf('run', '--no-server', 'env.yaml')).stdout).toContain('| []\n');
  }));
