import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { crash, withPlace } from '../support/past-runs.ts';
import { launcher } from '../support/wf.ts';

const chatty = `steps:
  - name: one
    command: sh -c 'echo out 1; echo err 1 >&2; echo out 2'
  - name: flaky
    command: sh -c 'echo attempt $WF_ATTEMPT; test $WF_ATTEMPT = 2'
    depends: one
    retryPolicy:
      limit: 1
      intervalSec: 0
  - name: silent
    command: "true"
    depends: flaky
  - name: never
    command: echo never
    depends: silent
    preconditions:
      - condition: a
        expected: b
handlerOn:
  exit:
    command: printf 'bye, without a line end'
`;

describe('wf logs', () => {
  it.each([
    [
      [],
      '[one]    out 1\n[one]    err 1\n[one]    out 2\n[flaky]  attempt 1\n[flaky]  --- attempt 2 ---\n[flaky]  attempt 2\n[handlerOn.exit] bye, without a line end\n',
    ],
    [['r1', 'one'], 'out 1\nerr 1\nout 2\n'],
    [['r1', 'one', '--stream', 'stdout'], 'out 1\nerr 1\nout 2\n'],
    [['w', 'one', '--tail', '2'], 'err 1\nout 2\n'],
    [['r1', 'one', '--stream', 'stderr'], ''],
    [['@latest', '--tail', '0'], ''],
    [['w', 'flaky'], 'attempt 1\n--- attempt 2 ---\nattempt 2\n'],
    [['w', 'flaky', '--tail', '1'], '--- attempt 2 ---\nattempt 2\n'],
    [['w', 'flaky', '--raw'], 'attempt 1\nattempt 2\n'],
    [['w', 'flaky', '--attempt', '1'], 'attempt 1\n'],
    [['w', 'flaky', '--attempt', '2'], 'attempt 2\n'],
    [['w', 'handlerOn.exit', '--raw'], 'bye, without a line end'],
    [['w', 'one', '--tail', '1', '--json'], '{"step":"one","attempt":1,"stream":"output","text":"out 2"}\n'],
    [['w', 'silent'], ''],
  ])('%j', async (words, expected) => {
    await withPlace({ 'w.yaml': chatty }, async ({ wf, cwd }) => {
      await wf('run', 'w.yaml', '--run-id', 'r1');
      const isNamed = words.length > 0 && words[0] !== '@latest';
      const stderr = isNamed ? '' : `wf: the last run of a file below ${cwd}\n`;
      expect(await wf('logs', ...words)).toMatchObject({ code: 0, stdout: expected, stderr });
    });
  });

  it('of a step with two logs prints standard output first, or the one that is asked for', async () => {
    await withPlace({ 'w.yaml': `logOutput: separate\n${chatty}` }, async ({ wf }) => {
      await wf('run', 'w.yaml', '--run-id', 'r1');
      const printed = async (...words: readonly string[]) => (await wf('logs', 'r1', 'one', ...words)).stdout;
      expect(await printed()).toBe('out 1\nout 2\nerr 1\n');
      expect(await printed('--stream', 'stdout')).toBe('out 1\nout 2\n');
      expect(await printed('--stream', 'stderr')).toBe('err 1\n');
      expect(await printed('--tail', '2')).toBe('out 2\nerr 1\n');
    });
  });

  it('shows what a step prints in its order, also where a pipe or a mask is in between', async () => {
    const lines = `for n in 1 2 3 4 5; do echo "warning $n" >&2; echo "out $n"; done; echo "error" > /dev/stderr; echo FAILED`;
    const order = [1, 2, 3, 4, 5].flatMap((n) => [`warning ${n}`, `out ${n}`]).join('\n');
    for (const secrets of ['', 'env: [{KEY: hidden-key-1}]\nsecrets: [KEY]\n']) {
      await withPlace(
        { 'w.yaml': `${secrets}steps:\n  - name: a\n    command: |\n      ${lines}\n` },
        async ({ wf }) => {
          await wf('run', 'w.yaml', '--run-id', 'r1');
          expect((await wf('logs', 'r1', 'a')).stdout).toBe(`${order}\nerror\nFAILED\n`);
        },
      );
    }
  });

  it('has a stream alone for texts that refer to it, and in the files that a step names', async () => {
    const file = `steps:
  - name: a
    command: echo out; echo err >&2
    shell: sh
    stdout: out.txt
  - name: both
    command: echo out; echo err >&2
    shell: sh
    stdout: both.txt
    stderr: both.txt
  - {name: b, command: "cat \${a.stdout} \${a.stderr}; cat out.txt both.txt", shell: sh, depends: [a, both]}
`;
    await withPlace({ 'w.yaml': file }, async ({ wf }) => {
      await wf('run', 'w.yaml', '--run-id', 'r1');
      expect((await wf('logs', 'r1', 'b')).stdout).toBe('out\nerr\nout\nout\nerr\n');
    });
  });

  it('prints the times at which a step printed its lines, in order', async () => {
    const file = `type: chain
steps:
  - name: slow
    command: |
      echo first
      until ls home/runs/*/logs/*.times; do sleep 0.05; done >/dev/null 2>&1
      echo second >&2
  - name: quick
    command: echo third
`;
    await withPlace({ 'w.yaml': file }, async ({ wf, json, runsDir }) => {
      await wf('run', 'w.yaml', '--run-id', 'r1');
      const lines = (await wf('logs', 'r1', '-t', '--json')).stdout.trimEnd().split('\n');
      const read = lines.map((line): { text: string; at: string } => JSON.parse(line));
      expect(read.map(({ text }) => text)).toEqual(['first', 'second', 'third']);
      const [first = '', second = '', third = ''] = read.map(({ at }) => at);
      const { startedAt, finishedAt } = await json('status', 'r1');
      expect(first < second && second < third).toBe(true);
      expect([first, third].map((at) => at >= (startedAt ?? '') && at <= (finishedAt ?? ''))).toEqual([true, true]);
      const text = (await wf('logs', 'r1', '--timestamps')).stdout;
      expect(text.replace(/\d/g, '0')).toBe(
        ['[slow]  first', '[slow]  second', '[quick] third'].map((line) => `0000-00-00 00:00:00 ${line}\n`).join(''),
      );
      expect(readdirSync(join(runsDir, 'r1/logs')).filter((name) => name.endsWith('.times'))).toHaveLength(1);
      expect((await wf('logs', 'r1', '-t', '--raw')).stderr).toContain('--raw and --timestamps exclude each other');
    });
  });

  it('reads a run of an earlier version, which has two logs for each attempt and no times', async () => {
    await withPlace({}, async ({ wf, json, runsDir }) => {
      cpSync('fixtures/earlier-runs', runsDir, { recursive: true });
      const both = '42 rows\nwarning: slow disk\nwarning: retried\n';
      expect(await wf('logs', 'two-logs', 'rows')).toMatchObject({ code: 0, stdout: both });
      expect((await wf('logs', 'two-logs', 'rows', '--stream', 'stderr')).stdout).toBe(both.slice(8));
      expect((await wf('logs', 'two-logs', 'rows', '-t', '--tail', '1')).stdout).toMatch(
        /^2026-\S+ \S+ warning: retried\n$/,
      );
      const { status, steps } = await json('status', 'two-logs');
      expect([status, steps.map(({ exitCode }) => exitCode)]).toEqual(['failed', [3]]);
    });
  });

  it('warns of logs that no longer exist', async () => {
    await withPlace({ 'w.yaml': chatty }, async ({ wf, runsDir }) => {
      await wf('run', 'w.yaml', '--run-id', 'r1');
      const logs = join(runsDir, 'r1/logs');
      const [first = '', ...others] = readdirSync(logs).filter((name) => /-(one|silent)\./.test(name));
      for (const name of [first, ...others]) rmSync(join(logs, name));

      const silent = await wf('logs', 'r1', 'silent');
      expect(silent).toMatchObject({ code: 0, stdout: '' });
      expect(silent.stderr).toMatch(/^warning: .*-silent\.1\.out no longer exists\n$/);
      const { stdout, stderr } = await wf('logs', 'r1', '--tail', '9');
      expect(stderr).toMatch(/^warning: .*-one\.1\.out and 1 more no longer exist\n$/);
      expect(stdout).toContain('[flaky]  attempt 1\n');
    });
  });

  it('reports unknown runs, steps and attempts', async () => {
    await withPlace({ 'w.yaml': chatty }, async ({ wf }) => {
      await wf('run', 'w.yaml');
      const answers = [
        ['w', 'flakey'],
        ['w', 'flaky', '--attempt', '3'],
        ['w', '--attempt', '3'],
        ['w', 'one', '--attempt', '2'],
        ['w', 'never', '--attempt', '1'],
        ['w', 'never'],
        ['x'],
        ['w', '--raw', '--json'],
      ];
      const told = [];
      for (const words of answers) {
        const { code, stdout, stderr } = await wf('logs', ...words);
        told.push([code, stdout, stderr.split('\n')[0]]);
      }
      expect(told).toEqual([
        [2, '', 'error: the run has no step "flakey"'],
        [2, '', 'error: step "flaky" had 2 attempts in this run'],
        [2, '', 'error: no step had more than 2 attempts in this run'],
        [2, '', 'error: step "one" had 1 attempt in this run'],
        [2, '', 'error: step "never" had 0 attempts in this run'],
        [0, '', 'step "never" has not been started'],
        [2, '', 'error: no run and no workflow that has run is called "x"'],
        [2, '', 'error: --raw and --json exclude each other'],
      ]);
    });
  });

  it('reports how many attempts the instances of a fan-out had', async () => {
    const fanOut = 'steps: [{ name: each, parallel: [a, b], command: echo $ITEM }]\n';
    await withPlace({ 'w.yaml': fanOut }, async ({ wf }) => {
      await wf('run', 'w.yaml');
      const { code, stderr } = await wf('logs', 'w', 'each', '--attempt', '2');
      expect([code, stderr]).toEqual([2, 'error: step "each" had 1 attempt in this run\n']);
    });
  });

  it('keeps colours and removes other control characters, unless raw output is requested', async () => {
    const output = '\\033[31mred\\033[0m \\033]0;title\\007\\033[2Jend\\n';
    await withPlace({ 'w.yaml': `steps:\n  - name: a\n    command: printf '${output}'\n` }, async ({ wf }) => {
      await wf('run', 'w.yaml');
      expect((await wf('logs', 'w', 'a')).stdout).toBe('\u001b[31mred\u001b[0m end\n');
      expect((await wf('logs', 'w', 'a', '--raw')).stdout).toBe(
        '\u001b[31mred\u001b[0m \u001b]0;title\u0007\u001b[2Jend\n',
      );
    });
  });
});

const waiting = `steps:
  - name: first
    command: echo first line
  - name: gate
    command: sh -c 'echo waiting; printf "half "; until [ -e go ]; do sleep 0.02; done; echo line'
    depends: first
  - name: last
    command: echo last line
    depends: gate
`;

describe('wf logs -f', () => {
  it('follows a run until it ends, and repeats nothing', async () => {
    await withPlace({ 'w.yaml': waiting }, async ({ cwd, start }) => {
      const run = start('run', 'w.yaml');
      await run.until('| waiting');
      const all = start('logs', '-f');
      const tail = start('logs', 'w', '-f', '--tail', '1');
      const one = start('logs', 'w', 'gate', '-f', '--json');
      await Promise.all([all.until('waiting'), tail.until('waiting'), one.until('waiting')]);
      writeFileSync(join(cwd, 'go'), '');
      const outputs = await Promise.all([all, tail, one].map(async ({ ended }) => (await ended).stdout));
      expect(outputs).toEqual([
        '[first] first line\n[gate]  waiting\n[gate]  half line\n[last]  last line\n',
        '[gate]  waiting\n[gate]  half line\n[last]  last line\n',
        '{"step":"gate","attempt":1,"stream":"output","text":"waiting"}\n{"step":"gate","attempt":1,"stream":"output","text":"half line"}\n',
      ]);
      expect((await run.ended).code).toBe(0);
    });
  });

  it('marks followed attempts, and keeps a long line whole', async () => {
    const retried = `steps:
  - name: try
    script: |
      printf '%0200000d\\n' $WF_ATTEMPT
      until [ -e go ]; do sleep 0.02; done
      test $WF_ATTEMPT = 2
    retryPolicy: {limit: 1}
`;
    const line = (attempt: number) => `${String(attempt).padStart(200_000, '0')}\n`;
    await withPlace({ 'w.yaml': retried }, async ({ cwd, start, wf }) => {
      const run = start('run', 'w.yaml');
      await run.until('START');
      const followed = start('logs', 'w', 'try', '-f');
      await followed.until(line(1));
      writeFileSync(join(cwd, 'go'), '');
      expect((await followed.ended).stdout).toBe(`${line(1)}--- attempt 2 ---\n${line(2)}`);
      await run.ended;
      expect((await wf('logs', 'w', 'try')).stdout).toBe(`${line(1)}--- attempt 2 ---\n${line(2)}`);
      expect((await wf('logs', 'w', 'try', '--attempt', '2')).stdout).toBe(line(2));
    });
  });

  it('ends when the process of the run dies, and says so', async () => {
    await withPlace({ 'w.yaml': waiting }, async (place) => {
      const run = place.start('run', 'w.yaml');
      await run.until('| waiting');
      const logs = place.start('logs', 'w', '-f');
      await logs.until('waiting');
      run.kill('SIGKILL');
      expect(await logs.ended).toMatchObject({
        code: 0,
        stdout: '[first] first line\n[gate]  waiting\n[gate]  half \n',
        stderr: expect.stringMatching(/^run \S+ is lost: its process \d+ died\n$/),
      });
      expect((await place.json('status')).reason).toBe('lost');
    });
  });

  it('ends with its reader, and the run continues', async () => {
    const chatter = 'steps:\n  - name: a\n    command: sh -c "until [ -e go ]; do echo line; sleep 0.02; done"\n';
    await withPlace({ 'w.yaml': chatter }, async ({ cwd, env, start, json }) => {
      const run = start('run', 'w.yaml');
      await run.until('| line');
      const pipe = '"$0" "$1" logs -f | head -1';
      const options = { cwd, env: { PATH: process.env['PATH'] ?? '', ...env } };
      await once(spawn('sh', ['-c', pipe, process.execPath, launcher], { ...options, stdio: 'ignore' }), 'exit');
      expect((await json('status')).status).toBe('running');
      writeFileSync(join(cwd, 'go'), '');
      expect((await run.ended).code).toBe(0);
    });
  });

  it('waits for the first run of a workflow', async () => {
    await withPlace({ 'w.yaml': waiting, go: '' }, async ({ cwd, env, wf }) => {
      const options = { cwd, env: { PATH: process.env['PATH'] ?? '', ...env } };
      const logs = spawn(process.execPath, [launcher, 'logs', './w.yaml', '-f'], options);
      const [told] = await once(logs.stderr, 'data');
      expect(String(told)).toBe('waiting for the first run of "./w.yaml"\n');
      const printed: string[] = [];
      logs.stdout.on('data', (bytes) => printed.push(String(bytes)));
      const ended = once(logs, 'close');
      expect((await wf('run', 'w.yaml')).code).toBe(0);
      expect(await ended).toEqual([0, null]);
      expect(printed.join('')).toBe('[first] first line\n[gate]  waiting\n[gate]  half line\n[last]  last line\n');
    });
  });

  it('does not wait for a workflow that does not exist', async () => {
    await withPlace({}, async ({ wf }) => {
      expect(await wf('logs', 'nothing', '-f')).toMatchObject({ code: 2, stdout: '' });
    });
  });

  it('prints the logs of a finished run', async () => {
    await withPlace({ 'w.yaml': waiting }, async (place) => {
      await crash(place, '| waiting', 'w.yaml');
      expect((await place.wf('logs', '-f', '@latest', 'gate')).stdout).toBe('waiting\nhalf \n');
    });
  });
});
