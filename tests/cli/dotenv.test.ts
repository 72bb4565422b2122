import { chmodSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunSummary } from '#core/summary/summary.ts';
import { withPlace } from '../support/past-runs.ts';

const order = `
dotenv: [.env, {path: more.env, required: true}]
env: [{FROM_ENV: env}]
params: {FROM_PARAM: param}
steps:
  - name: show
    command: printenv A B C FROM_ENV FROM_PARAM HOME_OF_IT
    env: [{HOME_OF_IT: $A-$C}]
`;
const files = {
  'w.yaml': order,
  '.env': 'A=first\nB=first\nFROM_ENV=file\nFROM_PARAM=file\n',
  'more.env': 'B=second\nC=second\n',
  'cli.env': 'C=option\n',
};
const secretFile = {
  'w.yaml': 'dotenv: {path: .env, secret: true}\nsteps: [{name: a, command: "echo $TOKEN ${SHORT}"}]',
  '.env': 'TOKEN=hushed-token\nSHORT=x\n',
};

describe('dotenv', () => {
  it('sets variables below env and parameters, and later files win', () =>
    withPlace(files, async ({ wf, json }) => {
      expect((await wf('run', 'w.yaml', '--env-file', 'cli.env')).code).toBe(0);
      const { stdout } = await wf('logs', '@latest', 'show');
      expect(stdout).toBe('first\nsecond\noption\nenv\nparam\nfirst-option\n');
      const { dotenv } = await json<RunSummary>('status', '@latest');
      expect(dotenv?.map(({ path, ...rest }) => [path.split('/').at(-1), rest])).toEqual([
        ['.env', { names: ['A', 'B', 'FROM_ENV', 'FROM_PARAM'] }],
        ['more.env', { names: ['B', 'C'] }],
        ['cli.env', { names: ['C'], option: true }],
      ]);
    }));

  it('is read again by a retry, which keeps the files of the options', () =>
    withPlace({ ...files, 'w.yaml': order.replace('printenv', 'sh -c "echo $A $C; exit 1" x') }, async (place) => {
      const { wf, write } = place;
      expect((await wf('run', 'w.yaml', '--env-file', 'cli.env')).code).toBe(1);
      write('.env', 'A=new\n');
      write('cli.env', 'C=later\n');
      expect((await wf('retry', '@latest')).code).toBe(1);
      expect((await wf('logs', '@latest')).stdout).toContain('new later');
      write('other.env', 'C=other\n');
      expect((await wf('retry', '@latest', '--env-file', 'other.env')).code).toBe(1);
      expect((await wf('logs', '@latest')).stdout).toContain('new other');
      expect((await wf('restart', '@latest')).code).toBe(1);
      expect((await wf('logs', '@latest')).stdout).toContain('new other');
    }));

  it('masks the values of a secret file and stores none of them', () =>
    withPlace(secretFile, async ({ wf, runsDir, json }) => {
      const { stdout } = await wf('run', 'w.yaml');
      expect(stdout).toContain('*** x');
      expect(stdout).not.toContain('hushed-token');
      const { runId, warnings } = await json<RunSummary>('status', '@latest');
      expect(warnings).toEqual(['secret "SHORT" is too short to be masked where it is printed']);
      const journal = readFileSync(join(runsDir, runId, 'journal.jsonl'), 'utf8');
      expect(journal).toContain('"names":["TOKEN","SHORT"]');
      expect(journal).not.toContain('hushed-token');
    }));

  it('is read by a run in the background when it is requested', () =>
    withPlace(secretFile, async ({ wf, cwd }) => {
      const { stdout } = await wf('run', 'w.yaml', '--detach');
      rmSync(join(cwd, '.env'));
      const logs = await wf('logs', '--follow', stdout.trim());
      expect(logs.stdout).toContain('*** x');
    }));

  it('warns about a missing file; a required one prevents the run', () =>
    withPlace({ 'w.yaml': order }, async ({ wf, write, cwd, json }) => {
      const { code, stderr } = await wf('run', 'w.yaml');
      expect([code, stderr]).toEqual([2, `error: cannot read dotenv file "${cwd}/more.env": there is no such file\n`]);
      write('more.env', 'B=1\nC=1\nA=1');
      expect((await wf('run', 'w.yaml')).code).toBe(0);
      const { warnings } = await json<RunSummary>('status', '@latest');
      expect(warnings).toEqual([`dotenv file "${cwd}/.env" does not exist`]);
      const { stderr: refused } = await wf('run', 'w.yaml', '--env-file', 'w.yaml');
      expect(refused).toBe(`error: ${cwd}/w.yaml:2: this line is not "NAME=value"\n`);
    }));

  it('names the invalid line, without its content', () =>
    withPlace(files, async ({ wf, write, cwd }) => {
      write('.env', 'A=1\nhunter2\n');
      const { code, stderr } = await wf('run', 'w.yaml');
      expect([code, stderr]).toEqual([2, `error: ${cwd}/.env:2: this line is not "NAME=value"\n`]);
      write('.env', `A=1\n#${'x'.repeat(1024 * 1024)}`);
      expect((await wf('run', 'w.yaml')).stderr).toContain('it is larger than 1 MiB');
      write('.env', `A=${'x'.repeat(101 * 1024)}`);
      expect((await wf('run', 'w.yaml')).stderr).toContain(`.env:1: the value of "A" is larger than 100 KiB`);
      write('.env', 'A=1');
      chmodSync(join(cwd, '.env'), 0o666);
      const { stderr: refused } = await wf('dry', 'w.yaml');
      expect(refused).toContain('.env": every user can change it');
      expect(refused).toContain('chmod o-w');
    }));

  it('shows names in a plan, and unread files', () =>
    withPlace(files, async ({ wf, write, cwd }) => {
      const { stdout } = await wf('dry', 'w.yaml', '--env-file', 'cli.env');
      expect(stdout).toContain(`dotenv: ${cwd}/.env A B FROM_ENV FROM_PARAM\n`);
      expect(stdout).toContain('printenv A B C');
      write('plain.yaml', 'steps: [{name: a, command: "true"}]');
      expect((await wf('dry', 'plain.yaml')).stdout).toContain(`dotenv: ${cwd}/.env is not read`);
    }));

  it('applies to one workflow: a sub-workflow reads its own', () => {
    const child = (key: string) => `${key}\nsteps: [{name: c, command: "echo [\${A:-none}] [\${CHILD:-none}]"}]`;
    return withPlace(
      {
        'w.yaml': 'dotenv: .env\nsteps: [{name: p, run: own}, {name: q, run: broken, depends: p}]',
        'own.yaml': child('dotenv: child.env'),
        'broken.yaml': child('dotenv: {path: none.env, required: true}'),
        '.env': 'A=parent',
        'child.env': 'CHILD=own',
      },
      async ({ wf, cwd }) => {
        const { code, stdout } = await wf('run', 'w.yaml');
        expect(code).toBe(1);
        expect(stdout).toContain('[none] [own]');
        expect(stdout).toContain(`cannot read dotenv file "${cwd}/none.env": there is no such file`);
      },
    );
  });
});

describe('a path is relative to a working directory', () => {
  const file = (head: string) =>
    `${head}workingDir: "\${DIR}"\ndotenv: .env\nsteps:\n  - {name: show, command: "echo [$WHERE]"}\n`;
  const printed = async (head: string, ...options: readonly string[]) =>
    withPlace({ 'w.yaml': file(head), 'a/.env': 'WHERE=in a\n', 'b/.env': 'WHERE=in b\n' }, async ({ wf }) => {
      const { stdout, stderr } = await wf('run', 'w.yaml', '--reporter', 'plain', ...options);
      return /\| \[(.*)\]/.exec(stdout)?.[1] ?? stderr;
    });

  it.each([
    ['a default of a parameter', 'params: DIR=a\n', [], 'in a'],
    ['a parameter', 'params: DIR=a\n', ['-p', 'DIR=b'], 'in b'],
    ['"env"', 'env: [{SUB: a}, {DIR: ./$SUB}]\n', [], 'in a'],
    ['a default in the text', 'params: X=b\nenv: {DIR: "${NONE:-a}"}\n', [], 'in a'],
  ])('with a variable that %s sets', async (_, head, options, expected) => {
    expect(await printed(head, ...options)).toBe(expected);
  });

  it('but not with one that a command sets', async () => {
    expect(await printed('env: {DIR: "`echo a`"}\n')).toBe(
      'error: "dotenv": ".env" is relative to "workingDir: ${DIR}", and the value of $DIR is known only in the run\n' +
        '  help: give it as a parameter, or write an absolute path\n',
    );
  });
});
