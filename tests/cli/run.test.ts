import { execFileSync, spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { launcher, startWf, type WfOptions, wf, withDirectory } from '../support/wf.ts';

/** A directory with a workflow file and a home for `wf`. */
function withWorkflow<T>(yaml: string, use: (run: { cwd: string; env: Record<string, string> }) => Promise<T>) {
  return withDirectory((cwd) => {
    writeFileSync(join(cwd, 'w.yaml'), yaml);
    return use({ cwd, env: { WF_HOME: join(cwd, 'home') } });
  });
}

const one = 'steps:\n  - name: a\n    command: echo hello\n';
const failing = "steps:\n  - name: a\n    command: sh -c 'exit 7'\n";
const tolerated = `${failing}    continueOn:\n      failure: true\n`;
const second = "  - {name: b, depends: a, command: sh -c 'exit 8'}\n";

describe('exit codes', () => {
  it.each([
    ['a success', one, [], 0],
    ['a failure', failing, [], 1],
    ['a failure passed through', failing, ['-x'], 7],
    ['a tolerated failure', tolerated, [], 0],
    ['a tolerated failure, strictly', tolerated, ['--strict'], 1],
    ['a failure after a tolerated one', `${tolerated}${second}`, ['-x'], 8],
    ['tolerated failures alone, passed through', tolerated, ['--strict', '-x'], 7],
    ['a precondition that is not met', `preconditions: [{condition: a, expected: b}]\n${one}`, [], 3],
    ['a time limit', `timeoutSec: 0.1\n${one.replace('echo hello', 'sleep 60')}`, [], 124],
    ['an invalid file', 'steps: []\n', [], 2],
    ['a failed handler', `${one}handlerOn:\n  exit:\n    command: "false"\n`, [], 1],
  ])('%s', async (_, yaml, flags, expected) => {
    await withWorkflow(yaml, async (options) => {
      expect((await wf(['run', 'w.yaml', ...flags], options)).code).toBe(expected);
    });
  });

  it('is 2 for a missing file, with a similar name', async () => {
    await withWorkflow(one, async (options) => {
      const { code, stderr } = await wf(['run', 'v.yaml'], options);
      expect([code, stderr]).toEqual([2, 'error: no workflow "v.yaml"\n  help: did you mean "w.yaml"?\n']);
    });
  });

  it('is 2 for invalid arguments, with a suggestion', async () => {
    const { code, stderr } = await wf(['rum', 'w.yaml']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('did you mean run?')]);
  });
});

const stoppable = `MaxCleanUpTimeSec: 20
steps:
  - name: slow
    command: sh
    script: |
      trap 'echo asked; exit 0' TERM
      echo ready
      while :; do sleep 0.05; done
  - name: never
    command: echo never
    depends: slow
handlerOn:
  cancel:
    command: echo canceled handler
  exit:
    command: echo exit handler
`;

describe('signals', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s stops the run, whose handlers still run, with exit code %i', async (signal, expected) => {
    await withWorkflow(stoppable, async (options) => {
      const run = startWf(['run', 'w.yaml'], options);
      await run.until('| ready');
      run.kill(signal);
      const { code, stdout } = await run.ended;
      expect(code).toBe(expected);
      expect(stdout).toContain('| asked');
      expect(stdout).toContain('| canceled handler');
      expect(stdout).toContain('| exit handler');
      expect(stdout).not.toContain('| never');
    });
  });

  it('the second signal kills without handlers', async () => {
    const stubborn = stoppable.replace("trap 'echo asked; exit 0' TERM", "trap 'echo asked' TERM");
    await withWorkflow(stubborn, async (options) => {
      const run = startWf(['run', 'w.yaml'], options);
      await run.until('| ready');
      run.kill('SIGINT');
      await run.until('| asked');
      run.kill('SIGINT');
      const { code, stdout } = await run.ended;
      expect(code).toBe(130);
      expect(stdout).not.toContain('handler');
    });
  });

  it('leaves no process, whatever the steps have started', async () => {
    const leaves = `steps:\n  - name: a\n    script: |\n      sleep 300 &\n      echo "pid $!"\n      setsid sleep 300 &\n      echo "pid $!"\n`;
    await withWorkflow(leaves, async (options) => {
      const { code, stdout } = await wf(['run', 'w.yaml'], options);
      const pids = [...stdout.matchAll(/pid (\d+)/g)].map(([, pid]) => Number(pid));
      expect([code, pids.length]).toEqual([0, 2]);
      expect(pids.filter(isRunning)).toEqual([]);
    });
  });
});

it('spares background processes of a step on request', async () => {
  const yaml =
    'steps:\n  - name: a\n    leaveBackground: true\n    script: |\n      sleep 300 &\n      echo "pid $!"\n';
  await withWorkflow(yaml, async (options) => {
    const { stdout } = await wf(['run', 'w.yaml'], options);
    const pid = Number(/pid (\d+)/.exec(stdout)?.[1]);
    expect(isRunning(pid)).toBe(true);
    process.kill(pid, 'SIGKILL');
  });
});

it('ends no process of a run with the same id in another store', async () => {
  const script = 'sleep 300 &\n      echo ready\n      until [ -e "end-$1" ]; do sleep 0.05; done';
  await withWorkflow(`params: one\nsteps:\n  - name: a\n    script: |\n      ${script}\n`, async ({ cwd, env }) => {
    const start = (run: string, home: string) =>
      startWf(['run', '--run-id', 'same', 'w.yaml', '--', run], { cwd, env: { ...env, WF_HOME: join(cwd, home) } });
    const first = start('first', 'one-home');
    await first.until('ready');
    // What it starts is younger than the other run, where that looks for what it has left.
    const second = start('second', 'other-home');
    await second.until('ready');
    writeFileSync(join(cwd, 'end-first'), '');
    expect((await first.ended).code).toBe(0);
    const { stdout } = await wf(['status', 'same', '--json'], {
      cwd,
      env: { ...env, WF_HOME: join(cwd, 'other-home') },
    });
    expect(JSON.parse(stdout)).toMatchObject({ status: 'running', steps: [{ name: 'a', status: 'running' }] });
    writeFileSync(join(cwd, 'end-second'), '');
    expect((await second.ended).code).toBe(0);
  });
});

describe('surroundings', () => {
  it('a closed reader does not end the run', async () => {
    await withWorkflow(`${one}  - name: b\n    command: touch done\n    depends: a\n`, async ({ cwd, env }) => {
      const script = '"$0" "$1" run w.yaml | head -1; echo "${PIPESTATUS[0]}"';
      const output = execFileSync('bash', ['-c', script, process.execPath, launcher], {
        cwd,
        env: plain(env),
      }).toString();
      expect(output.split('\n')[1]).toBe('0');
      expect(existsSync(join(cwd, 'done'))).toBe(true);
    });
  });

  it('a closed standard output does not end the run', async () => {
    await withWorkflow(one, async ({ cwd, env }) => {
      const child = spawn('sh', ['-c', '"$0" "$1" run w.yaml >&-', process.execPath, launcher], {
        cwd,
        env: plain(env),
      });
      expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0);
    });
  });

  it.each([
    ['a run keeps its exit code, for its output is also in its logs', ['run', 'w.yaml'], 0],
    ['what a command was to print is lost, which its exit code tells', ['schema'], 1],
  ])('a full disk behind standard output is reported without a stack trace: %s', async (_name, args, exitCode) => {
    await withWorkflow(one, async ({ cwd, env }) => {
      const full = openSync('/dev/full', 'w');
      const child = spawn(process.execPath, [launcher, ...args], {
        cwd,
        env: plain(env),
        stdio: ['ignore', full, 'pipe'],
      });
      closeSync(full);
      let stderr = '';
      child.stderr?.on('data', (text) => {
        stderr += text;
      });
      expect(await new Promise((resolve) => child.on('close', resolve))).toBe(exitCode);
      expect(stderr).toBe('wf: cannot write to standard output: ENOSPC: no space left on device, write\n');
    });
  });

  it('suggests what to do if runs cannot be stored', async () => {
    await withWorkflow(one, async ({ cwd }) => {
      const { code, stderr, stdout } = await wf(['run', 'w.yaml'], { cwd, env: { HOME: '/proc/1' } });
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain('help: set WF_HOME to a directory that can be written, or run with --no-history');
    });
  });

  it('shows the output of failed steps with --no-history, too', async () => {
    const failing = (name: string) =>
      `{name: ${name}, command: "sh -c 'echo ${name} out; echo ${name} err >&2; exit 3'"}`;
    await withWorkflow(`steps: [${failing('a')}, ${failing('b')}]\n`, async ({ cwd, env }) => {
      const { stdout } = await wf(['run', 'w.yaml', '--no-history'], { cwd, env });
      const [printed = '', recap = ''] = stdout.split('FAILED w');
      for (const name of ['a', 'b']) {
        expect(printed).toMatch(new RegExp(`\\[${name}\\] \\| ${name} out`));
        expect(recap).toContain(`  │ ${name} out\n  │ ${name} err\n`);
      }
    });
  });

  it('keeps nothing with --no-history', async () => {
    await withWorkflow(one, async ({ cwd, env }) => {
      const { code, stdout } = await wf(['run', 'w.yaml', '--no-history'], { cwd, env: { ...env, TMPDIR: cwd } });
      expect(code).toBe(0);
      expect(stdout).toContain('| hello');
      expect(readdirSync(cwd)).toEqual(['w.yaml']);
    });
  });

  it.each([[0o000], [0o077], [0o777]])('keeps files private under umask %o, which steps keep', async (umask) => {
    await withWorkflow('steps:\n  - name: a\n    command: sh -c umask\n', async ({ cwd, env }) => {
      const script = `umask ${umask.toString(8)}; exec "$0" "$1" run w.yaml`;
      const output = execFileSync('sh', ['-c', script, process.execPath, launcher], {
        cwd,
        env: plain(env),
      }).toString();
      expect(output).toContain(`| ${umask.toString(8).padStart(4, '0')}`);
      for (const entry of readdirSync(join(cwd, 'home'), { recursive: true, withFileTypes: true })) {
        const mode = statSync(join(entry.parentPath, entry.name)).mode & 0o777;
        expect(mode).toBe(entry.isDirectory() ? 0o700 : 0o600);
      }
    });
  });

  it('prints plain lines where a terminal cannot be redrawn, and ASCII without UTF-8', async () => {
    await withWorkflow(one, async ({ cwd, env }) => {
      const { stdout } = await wf(['run', 'w.yaml'], { cwd, env: { ...env, TERM: 'dumb', LANG: 'C' } });
      expect(stdout).toMatch(/^[\x20-\x7e\n]*$/);
    });
  });
});

describe('parameters', () => {
  const show = `params: A=a B=b\nsteps:\n  - name: a\n    command: printf '[%s]' $A $B $3\n`;

  it.each([
    [['--params', 'A="x y"'], '[x y][b]'],
    [['-p', 'A=x  y', '-p', 'B=$HOME `id`'], '[x  y][$HOME `id`]'],
    [['--', 'B=2', 'one', 'extra'], '[one][2][extra]'],
    [['--params', 'A=1', '-p', 'A=2', '--', 'A=3'], '[3][b]'],
    [['--params-file', 'params.env'], '[from a file][b]'],
    [['--params-file', 'params.json'], '[from JSON][b]'],
  ])('%j', async (flags, expected) => {
    await withWorkflow(show, async (options) => {
      writeFileSync(join(options.cwd, 'params.env'), '# a comment\nA=from a file\n');
      writeFileSync(join(options.cwd, 'params.json'), '{"A": "from JSON"}');
      const { stdout, stderr } = await wf(['run', 'w.yaml', ...flags], options);
      expect(stdout + stderr).toContain(`| ${expected}\n`);
    });
  });

  it.each([
    ['none.env', 'cannot read the parameters file "none.env": there is no such file'],
    ['/dev/zero', 'the parameters file "/dev/zero" is larger than 1 MiB'],
    ['w.yaml/x', 'cannot read the parameters file "w.yaml/x": there is no such file'],
    ['latin.env', 'latin.env:1:6: the file is not UTF-8: byte 0xe9 at offset 5 is not part of a character'],
  ])('reports the error of the file %s', async (file, message) => {
    await withWorkflow(show, async (options) => {
      writeFileSync(join(options.cwd, 'latin.env'), Buffer.from('A=caf\xe9', 'latin1'));
      const { code, stderr } = await wf(['run', 'w.yaml', '--params-file', file], options);
      expect([code, stderr.split('\n')[0]]).toEqual([2, `error: ${message}`]);
    });
  });

  it('of any size keep the heading short', async () => {
    await withWorkflow(show, async (options) => {
      const { code, stdout } = await wf(['run', 'w.yaml', '-p', `A=${'x'.repeat(100_000)}`], options);
      expect([code, stdout.split('\n')[0]?.length]).toEqual([0, expect.toSatisfy((length) => length < 600)]);
    });
  });

  it('refuses names that change how every program runs', async () => {
    await withWorkflow(show, async (options) => {
      const { code, stderr } = await wf(['run', 'w.yaml', '-p', 'LD_PRELOAD=/tmp/x.so'], options);
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining(
          'parameter "LD_PRELOAD" changes the behavior of programs, and the file does not declare it',
        ),
      ]);
    });
  });
});

describe('places', () => {
  it('finds a workflow by name in the workflows directory', async () => {
    await withDirectory(async (cwd) => {
      mkdirSync(join(cwd, 'home/dags/group'), { recursive: true });
      writeFileSync(join(cwd, 'home/dags/group/nightly.yaml'), one);
      const options: WfOptions = { cwd, env: { WF_HOME: join(cwd, 'home') } };
      const codes = [await wf(['run', 'nightly'], options), await wf(['run', 'group/nightly.yaml'], options)];
      expect(codes.map(({ code }) => code)).toEqual([0, 0]);
    });
  });

  it('reports an error of a sub-workflow with its position', async () => {
    await withWorkflow('steps:\n  - name: a\n    run: child\n', async (options) => {
      writeFileSync(join(options.cwd, 'child.yaml'), 'steps:\n  - name: b\n    comand: echo\n    depends: c\n');
      const { code, stdout } = await wf(['run', 'w.yaml'], options);
      expect(code).toBe(1);
      expect(stdout).toContain(
        `✖ a   "child" is not a valid workflow: ${options.cwd}/child.yaml:3:5: unknown key "comand" in step "b" ` +
          '(the first of 2 errors that wf validate shows)',
      );
    });
  });

  it('merges base.yaml beneath every workflow', async () => {
    await withWorkflow('steps:\n  - name: a\n    command: echo $FROM_BASE\n', async (options) => {
      mkdirSync(join(options.cwd, 'home'));
      writeFileSync(join(options.cwd, 'home/base.yaml'), 'env:\n  - FROM_BASE: based\n');
      expect((await wf(['run', 'w.yaml'], options)).stdout).toContain('| based');
    });
  });

  it('reads standard input', async () => {
    await withDirectory(async (cwd) => {
      const { code, stdout } = await wf(['run', '-'], { cwd, env: { WF_HOME: join(cwd, 'home') }, input: one });
      expect([code, stdout]).toEqual([0, expect.stringContaining('| hello')]);
    });
  });

  it('starts a run id only once', async () => {
    await withWorkflow('steps:\n  - name: a\n    command: sh -c "echo x >> count"\n', async (options) => {
      const runs = await Promise.all([1, 2, 3].map(() => wf(['run', 'w.yaml', '--run-id', 'mine'], options)));
      const refused = runs.filter(({ code }) => code !== 0);
      expect(refused.map(({ code, stderr }) => [code, stderr])).toEqual(
        Array(2).fill([
          2,
          'error: a run "mine" exists already\n  help: wf status mine shows it; choose another id to start a run\n',
        ]),
      );
      expect(readFileSync(join(options.cwd, 'count'), 'utf8')).toBe('x\n');
    });
  });
});

describe('--reporter json', () => {
  it('prints one JSON object per line, from the first event to the summary', async () => {
    await withWorkflow(one, async (options) => {
      const { stdout, stderr } = await wf(['run', 'w.yaml', '--reporter', 'json'], options);
      const lines = stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(stderr).toBe('');
      expect(lines.map(({ type }) => type)).toEqual([
        'run.created',
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
      expect(lines.every(({ at, runId }) => new Date(at).toISOString() === at && runId === lines[0].runId)).toBe(true);
      expect(lines.find(({ type }) => type === 'step.output')).toMatchObject({
        step: 'a',
        stream: 'output',
        text: 'hello',
      });
      expect(lines.at(-1)).toMatchObject({ workflow: 'w', status: 'succeeded', trigger: 'cli', params: [] });
    });
  });
});

describe('--reporter quiet', () => {
  it('prints nothing for a successful run, and the recap of a failed one', async () => {
    await withWorkflow(one, async (options) => {
      expect((await wf(['run', 'w.yaml', '--reporter', 'quiet'], options)).stdout).toBe('');
    });
    await withWorkflow(failing, async (options) => {
      const { stdout } = await wf(['run', 'w.yaml', '--reporter', 'quiet'], options);
      expect(stdout).toMatch(/^FAILED w in /);
    });
  });
});

/** What has ended but was not noticed yet by the system's first process does not count. */
function isRunning(pid: number): boolean {
  return existsSync(`/proc/${pid}`) && !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
}

function plain(env: Record<string, string>): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8', ...env };
}
