import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { wf, withDirectory } from '../support/wf.ts';

const good = 'steps: [{name: a, command: echo a}]\n';
const bad = 'steps: [{name: a, comand: echo a}]\n';

/** Runs `use` in a directory with these files, whose folders are made. */
function withFiles<T>(files: Record<string, string>, use: (cwd: string) => Promise<T>): Promise<T> {
  return withDirectory((cwd) => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(cwd, name)), { recursive: true });
      writeFileSync(join(cwd, name), text);
    }
    return use(cwd);
  });
}

describe('wf validate of a directory', () => {
  it('checks every workflow file in it and below it', async () => {
    await withFiles({ 'flows/good.yaml': good, 'flows/etl/bad.yml': bad, 'flows/notes.txt': '' }, async (cwd) => {
      const { code, stdout, stderr } = await wf(['validate', 'flows'], { cwd });
      expect([code, stdout]).toEqual([2, 'flows/good.yaml: valid\n']);
      expect(stderr).toContain('┌─ flows/etl/bad.yml:1:19');
      expect(stderr).toMatch(/\n1 error in 1 file\n$/);
    });
  });

  it('checks the workflows directory when no file is named', async () => {
    await withFiles({ 'home/dags/good.yaml': good }, async (cwd) => {
      const { code, stdout } = await wf(['validate'], { cwd, env: { WF_HOME: `${cwd}/home` } });
      expect([code, stdout]).toEqual([0, 'home/dags/good.yaml: valid\n']);
      const without = await wf(['validate'], { cwd, env: { WF_HOME: `${cwd}/none` } });
      expect([without.code, without.stderr]).toEqual([
        2,
        `error: no file is named, and the workflows directory "${cwd}/none/dags" does not exist\n  help: wf validate FILE, or a directory\n`,
      ]);
    });
  });

  it('refuses a directory without a workflow file', async () => {
    await withFiles({ 'flows/notes.txt': '' }, async (cwd) => {
      const { code, stderr } = await wf(['validate', 'flows'], { cwd });
      expect([code, stderr]).toEqual([2, 'error: there is no workflow file in "flows"\n']);
    });
  });

  it('reports an error that several files share once', async () => {
    const base = 'mailOn: {failur: true}\n';
    await withFiles({ 'home/base.yaml': base, 'home/dags/a.yaml': good, 'home/dags/b.yaml': good }, async (cwd) => {
      const { code, stderr } = await wf(['validate'], { cwd, env: { WF_HOME: `${cwd}/home` } });
      expect([code, stderr.match(/unknown key "failur"/g)?.length]).toEqual([2, 1]);
    });
  });
});

describe('wf validate of a base configuration', () => {
  it('checks it without asking for steps', async () => {
    await withFiles({ 'base.yaml': 'env: [{A: b}]\n', 'other.yaml': 'env: [{A: b}]\n' }, async (cwd) => {
      const { code, stdout, stderr } = await wf(['validate', 'base.yaml', 'other.yaml'], { cwd });
      expect([code, stdout]).toEqual([2, 'base.yaml: valid\n']);
      expect(stderr).toContain('error: the workflow has no steps\n  ┌─ other.yaml:1:1\n');
    });
  });

  it('finds its errors', async () => {
    await withFiles({ 'home/base.yaml': 'retry: 3\n' }, async (cwd) => {
      const { code, stderr } = await wf(['validate', 'home/base.yaml'], { cwd, env: { WF_HOME: `${cwd}/home` } });
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining('error: unknown key "retry"\n  ┌─ home/base.yaml:1:1'),
      ]);
    });
  });
});

describe('wf validate of a step that runs another workflow', () => {
  const calls = (run: string) => `steps: [{name: a, run: ${run}}]\n`;

  it('reads a command in "run" in the form of Dagu 2.15', async () => {
    await withFiles({ 'w.yaml': calls('echo hi') }, async (cwd) => {
      const { code, stdout, stderr } = await wf(['validate', 'w.yaml'], { cwd });
      expect([code, stdout, stderr]).toEqual([0, 'w.yaml: valid (Dagu 2.15 form)\n', '']);
    });
  });

  it('refuses a missing workflow with both ways out, and suggests a similar name', async () => {
    await withFiles({ 'w.yaml': calls('chlid'), 'child.yaml': good }, async (cwd) => {
      const { code, stderr } = await wf(['validate', 'w.yaml'], { cwd });
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining('error: step "a": there is no workflow "chlid" to run'),
      ]);
      expect(stderr).toContain('did you mean "child"?');
      expect(stderr).toContain('Write the name of one of them or, to run the program "chlid", command: chlid');
    });
  });

  it('warns if it may exist when the step runs', async () => {
    const files = { 'dags/a/w.yaml': calls('child'), 'dags/b/child.yaml': good, 'dags/a/v.yaml': calls('./made') };
    await withFiles(files, async (cwd) => {
      const { code, stdout, stderr } = await wf(['validate', 'dags/a/w.yaml', 'dags/a/v.yaml'], { cwd });
      expect([code, stdout]).toEqual([0, 'dags/a/w.yaml: valid\ndags/a/v.yaml: valid\n']);
      expect(stderr).toContain('warning: step "a": the workflow "child" is not in the workflows directory');
      expect(stderr).toContain(`There is ${cwd}/dags/b/child.yaml: name its workflows directory with --dags.`);
      expect(stderr).toContain('warning: step "a": there is no workflow "./made" yet');
      expect(await wf(['validate', 'dags/a/w.yaml', '--dags', 'dags'], { cwd })).toMatchObject({ code: 0, stderr: '' });
    });
  });

  it('finds workflows beside the file, in the workflows directory, and named by a variable', async () => {
    const files = { 'a b.yaml': good, 'home/dags/etl/child.yaml': good, 'w1.yaml': calls('a b.yaml') };
    await withFiles({ ...files, 'w2.yaml': calls('child'), 'w3.yaml': calls('$NAME') }, async (cwd) => {
      const names = ['w1.yaml', 'w2.yaml', 'w3.yaml'];
      const { code, stdout, stderr } = await wf(['validate', ...names], { cwd, env: { WF_HOME: `${cwd}/home` } });
      expect([code, stdout, stderr]).toEqual([0, names.map((name) => `${name}: valid\n`).join(''), '']);
    });
  });
});
