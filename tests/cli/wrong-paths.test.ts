import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { launcher, wf, withDirectory } from '../support/wf.ts';

const good = 'steps:\n  - name: a\n    command: echo hello\n';

function withGood<T>(use: (cwd: string) => Promise<T>): Promise<T> {
  return withDirectory((cwd) => {
    writeFileSync(join(cwd, 'w.yaml'), good);
    return use(cwd);
  });
}

describe('a directory in place of a file', () => {
  const files = (folder: string, count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`${folder}/${i + 1}.yaml`, good]));

  it.each([
    ['run', 'few', 'name few/1.yaml or few/2.yaml'],
    ['dry', 'many/', 'name one of 6 files in it, such as many/1.yaml'],
    ['graph', 'none', 'name a workflow file; there is none in it'],
  ])('is reported by wf %s %s', async (command, name, help) => {
    await withDirectory(async (cwd) => {
      for (const folder of ['few', 'many', 'none']) mkdirSync(join(cwd, folder));
      for (const [file, text] of Object.entries({ ...files('few', 2), ...files('many', 6) }))
        writeFileSync(join(cwd, file), text);
      const { code, stderr } = await wf([command, name], { cwd, env: { WF_HOME: join(cwd, 'home') } });
      expect([code, stderr]).toEqual([2, `error: "${name}" is a directory, not a workflow\n  help: ${help}\n`]);
    });
  });

  it('is not what an empty name means', async () => {
    await withGood(async (cwd) => {
      const env = { WF_HOME: join(cwd, 'home') };
      expect(await wf(['run', ''], { cwd, env })).toMatchObject({
        code: 2,
        stderr: 'error: the name of the workflow is empty\n  help: name a file or a workflow\n',
      });
    });
  });

  it('does not hide the workflow of that name', async () => {
    await withDirectory(async (cwd) => {
      mkdirSync(join(cwd, 'deploy'));
      mkdirSync(join(cwd, 'home/dags'), { recursive: true });
      writeFileSync(join(cwd, 'home/dags/deploy.yaml'), good);
      expect((await wf(['run', 'deploy'], { cwd, env: { WF_HOME: join(cwd, 'home') } })).code).toBe(0);
    });
  });

  it('in the middle of a path is reported as an unknown workflow', async () => {
    await withGood(async (cwd) => {
      const { code, stderr } = await wf(['run', 'w.yaml/x'], { cwd });
      expect([code, stderr.split('\n')[0]]).toEqual([2, 'error: no workflow "w.yaml/x"']);
    });
  });
});

describe('wf list', () => {
  it('refuses a path that is not a directory', async () => {
    await withGood(async (cwd) => {
      const told = async (words: readonly string[], env = {}) => {
        const { code, stdout, stderr } = await wf(['list', ...words], {
          cwd,
          env: { WF_HOME: join(cwd, 'home'), ...env },
        });
        return [code, stdout, stderr.replaceAll(cwd, '~')];
      };
      const refused = (path: string, why: string, source: string) =>
        `error: the workflows directory "~/${path}" ${why}\n  help: ${source} names it; without ${source}, the default is used\n`;
      expect(await told(['--dags', 'none'])).toEqual([2, '', refused('none', 'does not exist', '--dags')]);
      expect(await told(['--json'], { WF_DAGS: 'none' })).toEqual([
        2,
        '',
        refused('none', 'does not exist', 'WF_DAGS'),
      ]);
      expect(await told(['--dags', 'w.yaml'])).toEqual([2, '', refused('w.yaml', 'is not a directory', '--dags')]);
      rmSync(join(cwd, 'w.yaml'));
      expect(await told([])).toEqual([0, '', 'no workflows in this directory or ~/home/dags\n']);
    });
  });
});

describe('a name in several groups', () => {
  it('is reported with the paths to choose from', async () => {
    await withDirectory(async (cwd) => {
      const files = ['dags/etl.yaml', 'dags/b/etl.yaml'].map((file) => join(cwd, file));
      mkdirSync(join(cwd, 'dags/b'), { recursive: true });
      for (const file of files) writeFileSync(file, good);
      const options = { cwd, env: { WF_HOME: join(cwd, 'home') } };
      const { code, stderr } = await wf(['run', 'etl', '--dags', 'dags'], options);
      expect(code).toBe(2);
      for (const file of files) expect(stderr).toContain(file);
      expect(stderr).toContain('help: name its group too, as in "group/name", or give its path\n');
      for (const file of [...files, 'b/etl'])
        expect((await wf(['validate', file, '--dags', 'dags'], options)).code).toBe(0);
    });
  });
});

describe('a directory that was removed', () => {
  it('is reported by every command started in it', async () => {
    await withDirectory(async (cwd) => {
      for (const words of [['run', 'w.yaml'], ['list'], ['help']]) {
        mkdirSync(join(cwd, 'gone'));
        const script = 'rmdir ../gone && exec "$0" "$@"';
        const { status, stderr } = spawnSync('sh', ['-c', script, process.execPath, launcher, ...words], {
          cwd: join(cwd, 'gone'),
          encoding: 'utf8',
        });
        expect([status, stderr]).toEqual([
          2,
          'error: the current directory no longer exists\n  help: cd to an existing directory\n',
        ]);
      }
    });
  });
});

describe('a home that is no directory', () => {
  it.each([
    ['run', 'w.yaml'],
    ['history', '--no-server'],
    ['exec', 'true'],
    ['list', '--json'],
  ])('is reported by wf %s %s', async (...words) => {
    await withGood(async (cwd) => {
      const { code, stdout, stderr } = await wf(words, { cwd, env: { WF_HOME: '/dev/null/wf' } });
      expect({ code, stdout, stderr }).toEqual({
        code: 2,
        stdout: '',
        stderr:
          'error: cannot read "/dev/null/wf/config.yaml": "/dev/null" is not a directory\n' +
          '  help: set WF_HOME to a directory; it need not exist yet\n',
      });
    });
  });

  it('affects no command that does not need it', async () => {
    expect(await wf(['version'], { env: { WF_HOME: '/dev/null' } })).toMatchObject({ code: 0, stderr: '' });
  });
});
