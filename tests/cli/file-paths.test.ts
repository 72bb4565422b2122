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
