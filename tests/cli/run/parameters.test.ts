import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Ended, wf, withDirectory } from '../../support/wf.ts';

const show = `params: A=a B=b
steps:
  - name: a
    command: bash
    script: 'printf "[%s]" "$A" "$B"'
`;

describe('an undeclared parameter', () => {
  it.each([
    ['NAME=x SHELLOPTS=xtrace PS4=$(touch${IFS}PWNED)'],
    ['MAKEFLAGS=--eval=$(shell${IFS}touch${IFS}PWNED)'],
    ['TAR_OPTIONS=--checkpoint-action=exec=touch${IFS}PWNED'],
    ['GIT_SSH_COMMAND=touch${IFS}PWNED'],
    ['C=1'],
    ['1 2 3'],
  ])('%s starts nothing', async (params) => {
    await inWorkflow({ 'w.yaml': show }, async (run, cwd) => {
      const { code, stdout } = await run('run', 'w.yaml', '--params', params);
      expect([code, stdout, existsSync(join(cwd, 'PWNED'))]).toEqual([2, '', false]);
      expect((await run('history', '--json')).stdout.trim()).toBe('[]');
    });
  });

  it('is reported with all others, also by a plan', async () => {
    await inWorkflow({ 'w.yaml': show }, async (run) => {
      const flags = ['w.yaml', '-p', 'AA=1', '-p', 'PATH=/x', '--', 'x', 'y', 'z'];
      const report = [
        'error: unknown parameter "AA": did you mean "A"? It takes A, B',
        'error: parameter "PATH" changes the behavior of programs, and the file does not declare it',
        'error: positional parameter 3 is not used: the workflow takes 2 (A, B)',
        '  help: declare it under "params" in the file to accept it: "- AA: value"',
        '',
      ].join('\n');
      for (const command of ['run', 'dry']) {
        expect(await run(command, ...flags)).toMatchObject({ code: 2, stdout: '', stderr: report });
      }
    });
  });

  it('does not replace what the file, its files or the environment set, in a child run and a plan neither', async () => {
    const child = `env:
  - API: https://good
dotenv: .env
steps:
  - name: call
    command: echo "$API $TOKEN $FROM_OUTSIDE $FREE"
`;
    const parent = 'params: P=x\nsteps:\n  - {name: run, run: child, params: "API=$P"}\n';
    await inWorkflow({ 'child.yaml': child, 'parent.yaml': parent, '.env': 'TOKEN=good\n' }, async (_, cwd) => {
      const env = { WF_HOME: join(cwd, 'home'), FROM_OUTSIDE: 'good' };
      const run = (...args: string[]) => wf(args, { cwd, env });
      for (const [name, setter] of [
        ['API', 'the value that "env" sets (child.yaml:2:5)'],
        ['TOKEN', 'the value that .*/.env sets'],
        ['FROM_OUTSIDE', 'a variable of the environment in which the run starts'],
      ] as const) {
        const message = new RegExp(`parameter "${name}" would replace ${setter.replace(/[()]/g, '\\$&')}`);
        for (const command of [['run'], ['run', '--detach'], ['dry']]) {
          const { code, stderr } = await run(...command, 'child.yaml', '-p', `${name}=evil`);
          expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
        }
      }
      const { code, stdout } = await run('run', 'child.yaml', '-p', 'FREE=yes', '--run-id', 'free');
      expect([code, stdout]).toEqual([0, expect.stringContaining('| https://good good good yes\n')]);
      const retried = await run('retry', 'free', '--from', 'call', '-p', 'API=evil');
      expect([retried.code, retried.stderr]).toEqual([2, expect.stringContaining('"API" would replace')]);
      expect((await run('run', 'parent.yaml', '-p', 'P=evil')).stdout).toContain(
        '[run] FAIL   parameter "API" would replace the value that "env" sets (child.yaml:2:5)',
      );
    });
  });

  it('is refused by a retry and a restart', async () => {
    await inWorkflow({ 'w.yaml': show }, async (run) => {
      await run('run', 'w.yaml', '--run-id', 'one');
      for (const command of ['retry', 'restart']) {
        const { code, stderr } = await run(command, 'one', '--', 'C=1');
        expect([code, stderr.split('\n')[0]]).toEqual([2, 'error: unknown parameter "C": it takes A, B']);
      }
    });
  });

  it('is refused by a restart before the run is stopped', async () => {
    const wait = 'steps:\n  - name: wait\n    command: sh -c "until test -e go; do sleep 0.05; done"\n';
    await inWorkflow({ 'w.yaml': wait }, async (run) => {
      await run('run', 'w.yaml', '--detach', '--run-id', 'one');
      const refused = await run('restart', 'one', '--', 'C=1');
      expect([refused.code, refused.stderr.includes('unknown parameter "C"')]).toEqual([2, true]);
      expect(JSON.parse((await run('status', 'one', '--json')).stdout)).toMatchObject({ status: 'running' });
      expect((await run('stop', 'one')).code).toBe(0);
    });
  });

  it('fails the step that gives it to a sub-workflow', async () => {
    const parent = 'steps:\n  - {name: call, run: w.yaml, params: "C=1 A=2 LD_PRELOAD=x"}\n';
    await inWorkflow({ 'w.yaml': show, 'parent.yaml': parent }, async (run) => {
      const { code, stdout } = await run('run', 'parent.yaml', '--reporter', 'json');
      expect(code).toBe(1);
      expect(stdout).toContain(
        'unknown parameter \\"C\\": it takes A, B; parameter \\"LD_PRELOAD\\" changes the behavior of programs, and the file does not declare it',
      );
    });
  });
});

it('of a sub-workflow is checked with the value of its variables', async () => {
  const child = `params: [{name: N, type: integer}]
steps:
  - {name: a, command: 'echo "n=$N"'}
`;
  const parent = `params: X=5 Y=five Z={"N":7}
steps:
  - {name: five, run: child.yaml, params: N=$X}
  - {name: word, run: child.yaml, params: N=$Y}
  - {name: five in JSON, run: child.yaml, params: '{"N": "$X"}'}
  - {name: object, run: child.yaml, params: $Z}
  - {name: JSON, run: child.yaml, params: {json: $Z}}
  - {name: undeclared, run: child.yaml, params: {json: '{"N": 1, "PATHS": "$X"}'}}
  - {name: no object, run: child.yaml, params: {json: $X}}
`;
  await inWorkflow({ 'child.yaml': child, 'w.yaml': parent }, async (run) => {
    const { stdout } = await run('run', 'w.yaml');
    expect(stdout).toContain('"N" must be an integer, got "five"');
    expect(stdout).toContain('"N" must be an integer, got "{\\"N\\":7}"');
    expect(stdout).toContain('"PATHS" in the JSON of "params" is undeclared: workflow "child" declares N');
    expect(stdout).toContain('the text of "params: {json: ...}" is not a JSON object');
    const printed = [...stdout.matchAll(/\[(.*) > a\] +\| (.*)/g)].map(([, name, line]) => `${name}: ${line}`);
    expect(printed.sort()).toEqual(['JSON: n=7', 'five in JSON: n=5', 'five: n=5']);
  });
});

it('is accepted by a file that mentions the variable without declaring it', async () => {
  const open =
    'steps:\n  - name: a\n    command: echo "[$A]"\n  - name: b\n    depends: a\n    script: echo "[${B:-none}]"\n';
  await inWorkflow({ 'w.yaml': open }, async (run) => {
    const { code, stdout } = await run('run', 'w.yaml', '--', 'A=x y', 'B=z');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/\| \[x y\]\n[\s\S]*\| \[z\]\n/)]);
  });
});

describe('a command line of another runner of this format', () => {
  const words = `params: A=a B=b\nsteps:\n  - {name: a, command: "printf '[%s]' $A $B"}\n`;

  it.each([
    [['start', 'w.yaml', '-p', 'A=1 B=2'], '[1][2]'],
    [['start', '--params=A=1 B="x y"', 'w.yaml'], '[1][x y]'],
    [['start', '-p', '1 2', 'w.yaml'], '[1][2]'],
    [['start', '-p=A=1 B=2', 'w.yaml'], '[1][2]'],
    [['run', 'w.yaml', '-p', 'A=1 B=2'], '[1][2]'],
    [['run', 'w.yaml', '-p', 'A="x B=y"'], '["x B=y"][b]'],
    [['run', 'w.yaml', '-p', 'A=where id=5 or B=6'], '[where id=5 or B=6][b]'],
    [['run', 'w.yaml', '--', 'A=1 B=2'], '[1 B=2][b]'],
    [['run', 'w.yaml', '--params="A=1 B=2"'], '[1][2]'],
    [['start', 'w.yaml', `--params='A=1 B="x y"'`], '[1][x y]'],
    [['run', 'w.yaml', '--params="x y"'], '[x y][b]'],
    [['run', 'w.yaml', '--', '{"A": "x y", "B": 1.50}'], '[x y][1.50]'],
    [['run', '-p={"A":"x"}', 'w.yaml', '-p', 'B=y'], '[x][y]'],
    [['start', '-p={"A": "x"}', 'w.yaml'], '[x][b]'],
    [['start', '--params={"A": "x", "B": "y"}', 'w.yaml'], '[x][y]'],
    [['run', 'w.yaml', '-p', `A={"B":1}`], '[{"B":1}][b]'],
    [['start', '-q', 'w.yaml'], null],
    [['run', '--quiet', 'w.yaml'], null],
  ])('%j', async (args, expected) => {
    await inWorkflow({ 'w.yaml': words }, async (run) => {
      const { code, stdout, stderr } = await run(...args);
      expect([code, stderr]).toEqual([0, '']);
      if (expected === null) expect(stdout).not.toContain('[a]');
      else expect(stdout).toContain(`| ${expected}`);
    });
  });

  it('retries the run that --req names', async () => {
    const flaky = 'steps:\n  - {name: a, command: test -e good}\n';
    await inWorkflow({ 'w.yaml': flaky, 'other.yaml': flaky }, async (run, cwd) => {
      await run('start', '-q', 'w.yaml', '--run-id', 'one');
      await run('start', '-q', 'w.yaml', '--run-id', 'two');
      writeFileSync(join(cwd, 'good'), '');
      expect(await run('retry', '--req=one', 'other.yaml')).toMatchObject({
        code: 2,
        stderr: 'error: the run one is of workflow "w", not of "other.yaml"\n',
      });
      expect((await run('retry', '--req=one', 'w.yaml', '-q')).code).toBe(0);
      const [last] = JSON.parse((await run('history', '--json')).stdout);
      expect(last).toMatchObject({ retryOf: 'one', status: 'succeeded' });
    });
  });
});

describe('a misplaced option', () => {
  it.each([
    [
      ['run', 'w.yaml', '-p', 'A'],
      '-p takes NAME=value, got "A"',
      'did you mean -p A=value? A value without a name goes after --',
    ],
    [['run', 'w.yaml', '-p', '=x'], '-p takes NAME=value, got "=x"', 'A value without a name goes after --'],
    [['run', 'w.yaml', '-p', 'B=1', '-p', 'A=x B=2'], '"B" is given twice, once within the value of another -p', null],
    [['run', 'w.yaml', 'v.yaml'], 'wf run takes one workflow, and the command line names 2: w.yaml, v.yaml', null],
    [
      ['start', 'w.yaml', 'v.yml', 'x.yaml', 'y.yaml', '--', '1'],
      'wf start takes one workflow, and the command line names 4: w.yaml, v.yml, x.yaml, ...',
      null,
    ],
    [
      ['dry', 'w.yaml', 'dags/v.yaml'],
      'wf dry takes one workflow, and the command line names 2: w.yaml, dags/v.yaml',
      null,
    ],
    [['run', 'w.yaml', '--', 'AA=1'], 'unknown parameter "AA": did you mean "A"? It takes A, B', null],
  ])('%j is reported, and nothing runs', async (args, message, help) => {
    await inWorkflow({ 'w.yaml': show, 'v.yaml': show }, async (run) => {
      const { code, stdout, stderr } = await run(...args);
      expect([code, stdout, stderr.split('\n')[0]]).toEqual([2, '', `error: ${message}`]);
      if (help !== null) expect(stderr.split('\n')[1]).toBe(`  help: ${help}`);
    });
  });

  it('after -- a word that ends in .yaml is a parameter', async () => {
    await inWorkflow({ 'w.yaml': show }, async (run) => {
      expect((await run('run', 'w.yaml', '--', 'v.yaml', 'B=x.yaml')).stdout).toContain('| [v.yaml][x.yaml]');
      expect((await run('run', 'w.yaml', 'A=x.yaml')).stdout).toContain('| [x.yaml][b]');
    });
  });
});

type Run = (...args: string[]) => Promise<Ended>;

/** The use of `wf` in a directory with these files and a home of its own. */
function inWorkflow(
  files: Readonly<Record<string, string>>,
  use: (run: Run, cwd: string) => Promise<void>,
): Promise<void> {
  return withDirectory((cwd) => {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
    return use((...args) => wf(args, { cwd, env: { WF_HOME: join(cwd, 'home') } }), cwd);
  });
}
