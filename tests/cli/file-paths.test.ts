import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { wf, withDirectory } from '../support/wf.ts';

test('a path of a file may start with the home directory and contain commands', () =>
  withDirectory(async (cwd) => {
    const workflow = {
      params: [{ P: 'a;touch PWN' }],
      logDir: '~/logs',
      steps: [{ name: 'a', command: 'echo out', stdout: '~/out-`echo 1`.txt', stderr: 'err-$(printf %s "$P").txt' }],
    };
    writeFileSync(join(cwd, 'w.yaml'), JSON.stringify(workflow));
    const home = join(cwd, 'me');
    const { code } = await wf(['run', 'w.yaml'], { cwd, env: { WF_HOME: join(cwd, 'home'), HOME: home } });
    expect(code).toBe(0);
    expect(readFileSync(join(home, 'out-1.txt'), 'utf8')).toBe('out\n');
    expect(existsSync(join(cwd, 'err-a;touch PWN.txt'))).toBe(true);
    expect(readdirSync(join(home, 'logs'))).not.toEqual([]);
    expect(readdirSync(cwd).filter((name) => /^~|PWN$/.test(name))).toEqual([]);
  }));

test('patterns of paths and secret files may start with the home directory', () =>
  withDirectory(async (cwd) => {
    const home = join(cwd, 'me');
    mkdirSync(home);
    writeFileSync(join(home, 'a.csv'), 'x');
    writeFileSync(join(home, 'token'), 'hidden');
    const workflow = {
      secrets: [{ name: 'TOKEN', file: '~/token' }],
      steps: [{ name: 'a', parallel: { glob: '~/*.csv' }, command: 'printf "%s %s" "$ITEM" "${#TOKEN}" >>out; true' }],
    };
    writeFileSync(join(cwd, 'w.yaml'), JSON.stringify(workflow));
    const { code } = await wf(['run', 'w.yaml'], { cwd, env: { WF_HOME: join(cwd, 'home'), HOME: home } });
    expect(code).toBe(0);
    expect(readFileSync(join(cwd, 'out'), 'utf8')).toBe(`${join(home, 'a.csv')} 6`);
  }));

test('a command in the path of an output that fails fails the step', () =>
  withDirectory(async (cwd) => {
    const workflow = { steps: [{ name: 'a', command: 'echo out', stdout: '`exit 3`' }] };
    writeFileSync(join(cwd, 'w.yaml'), JSON.stringify(workflow));
    const { code, stdout } = await wf(['run', 'w.yaml'], { cwd, env: { WF_HOME: join(cwd, 'home') } });
    expect(code).toBe(1);
    expect(stdout).toContain('"stdout": `exit 3`');
  }));

test('imports, schemas, days and workflows to run may start with the home directory', () =>
  withDirectory(async (cwd) => {
    writeFileSync(join(cwd, 'steps.yaml'), JSON.stringify({ steps: [{ name: 'imported', command: 'echo imported' }] }));
    writeFileSync(join(cwd, 'child.yaml'), JSON.stringify({ steps: [{ name: 'a', command: 'touch ran' }] }));
    writeFileSync(join(cwd, 'days.txt'), '12-25\n');
    const schema = { type: 'object', properties: { P: { type: 'string', default: 'x' } } };
    writeFileSync(join(cwd, 'schema.json'), JSON.stringify(schema));
    const workflow = {
      imports: '~/steps',
      params: { schema: '~/schema.json' },
      schedule: '0 5 * * *',
      notOn: '~/days.txt',
      steps: [{ name: 'call', run: '~/child' }],
    };
    writeFileSync(join(cwd, 'w.yaml'), JSON.stringify({ ...workflow, type: 'chain' }));
    const env = { WF_HOME: join(cwd, 'home'), HOME: cwd };
    expect(await wf(['validate', 'w.yaml'], { cwd, env })).toMatchObject({ code: 0, stderr: '' });
    const { code, stdout } = await wf(['run', 'w.yaml'], { cwd, env });
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('imported') });
    expect(existsSync(join(cwd, 'ran'))).toBe(true);
  }));

test.each<[string, object, string]>([
  ['dir', { dir: '`echo sub`' }, 'sub'],
  ['dir after a variable', { env: { D: 's' }, dir: '$D$(printf %s ub)' }, 'sub'],
])('%s may contain commands', (_, step, made) =>
  withDirectory(async (cwd) => {
    mkdirSync(join(cwd, made));
    writeFileSync(join(cwd, 'w.yaml'), JSON.stringify({ steps: [{ name: 'a', command: 'touch here', ...step }] }));
    const { code } = await wf(['run', 'w.yaml'], { cwd, env: { WF_HOME: join(cwd, 'home') } });
    expect({ code, made: readdirSync(join(cwd, made)) }).toEqual({ code: 0, made: ['here'] });
  }),
);

test('workingDir may contain commands, which run before each step', () =>
  withDirectory(async (cwd) => {
    mkdirSync(join(cwd, 'sub'));
    const steps = [{ name: 'a', command: 'touch here' }];
    writeFileSync(join(cwd, 'w.yaml'), JSON.stringify({ workingDir: '$(echo sub)', steps }));
    const env = { WF_HOME: join(cwd, 'home') };
    expect((await wf(['run', 'w.yaml'], { cwd, env })).code).toBe(0);
    expect(readdirSync(join(cwd, 'sub'))).toEqual(['here']);
    writeFileSync(join(cwd, 'w.yaml'), JSON.stringify({ workingDir: '$(echo sub)', dotenv: '.env', steps }));
    const { code, stderr } = await wf(['run', 'w.yaml'], { cwd, env });
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('the value of $(echo sub) is known only in the run'),
    });
  }));

test('a command in dir that fails fails the step', () =>
  withDirectory(async (cwd) => {
    const workflow = { steps: [{ name: 'a', command: 'echo out', dir: '`exit 3`' }] };
    writeFileSync(join(cwd, 'w.yaml'), JSON.stringify(workflow));
    const { code, stdout } = await wf(['run', 'w.yaml'], { cwd, env: { WF_HOME: join(cwd, 'home') } });
    expect(code).toBe(1);
    expect(stdout).toContain('"dir": `exit 3`');
  }));
