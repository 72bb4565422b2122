import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { templateNames } from '#cli/asset.ts';
import { type Place, withPlace } from '../support/past-runs.ts';
import { wf } from '../support/wf.ts';

const templates = resolve(import.meta.dirname, '../../src/cli/assets/templates');

function read({ cwd }: Place, name: string): string {
  return readFileSync(join(cwd, name), 'utf8');
}

function schemaOf(text: string): string {
  return /^# yaml-language-server: \$schema=(\S+)$/m.exec(text)?.[1] ?? '';
}

describe('wf init', () => {
  it('writes a workflow that runs unchanged, and nothing else', () =>
    withPlace({}, async (place) => {
      const { code, stdout, stderr } = await place.wf('init');

      expect({ code, stdout, stderr }).toEqual({
        code: 0,
        stdout: 'wrote workflow.yaml: wf run workflow.yaml runs it\n',
        stderr: '',
      });
      expect(readdirSync(place.cwd).filter((name) => name !== 'home')).toEqual(['workflow.yaml']);
      const run = await place.wf('run', 'workflow.yaml', '--reporter', 'plain', '--', 'NAME=Ada');
      expect(run).toMatchObject({ code: 0, stderr: '' });
      expect(run.stdout).toContain('Hello, Ada.');
    }));

  it('overwrites a file only on request', () =>
    withPlace({ 'mine.yaml': 'precious' }, async (place) => {
      const refused = {
        code: 2,
        stdout: '',
        stderr: 'error: "mine.yaml" exists already\n  help: name another file, or overwrite it with --force\n',
      };

      expect(await place.wf('init', 'mine.yaml')).toMatchObject(refused);
      expect(read(place, 'mine.yaml')).toBe('precious');
      expect((await place.wf('init', 'mine.yaml', '--force')).code).toBe(0);
      expect(read(place, 'mine.yaml')).toContain('wf run mine.yaml');
    }));

  it('leaves no part of a file on a full disk, and keeps an existing one', () =>
    withPlace({ 'mine.yaml': 'precious' }, async (place) => {
      // No file may grow beyond 0 bytes.
      const full = { cwd: place.cwd, env: place.env, through: ['sh', '-c', 'ulimit -f 0 && exec "$0" "$@"'] };
      const stderr = (file: string) =>
        `error: cannot write "${file}": the file would grow beyond the size limit\n  help: name another file\n`;

      expect(await wf(['init', 'new.yaml'], full)).toMatchObject({ code: 2, stdout: '', stderr: stderr('new.yaml') });
      expect(await wf(['init', 'mine.yaml', '--force'], full)).toMatchObject({ code: 2, stderr: stderr('mine.yaml') });
      expect(readdirSync(place.cwd).filter((name) => name !== 'home')).toEqual(['mine.yaml']);
      expect(read(place, 'mine.yaml')).toBe('precious');
    }));

  it('prints to standard output', () =>
    withPlace({}, async (place) => {
      const { stdout } = await place.wf('init', '-', '--template', 'ci');

      expect(readdirSync(place.cwd).filter((name) => name !== 'home')).toEqual([]);
      expect(stdout).toContain('# Continuous integration');
    }));

  it('names the published schema, the same on every machine', () =>
    withPlace({}, async (place) => {
      const { $id } = await place.json<{ readonly $id: string }>('schema');

      expect(schemaOf((await place.wf('init', '-')).stdout)).toBe($id);
    }));

  it('names the schema of a project that has the package, by a path from the file', () =>
    withPlace({}, async (place) => {
      const dist = join(place.cwd, 'node_modules/wfrun/dist');
      mkdirSync(dist, { recursive: true });
      writeFileSync(join(dist, 'workflow.schema.json'), '{}');
      mkdirSync(join(place.cwd, 'ops'));
      await place.wf('init', 'ops/deploy.yaml');

      expect(schemaOf(read(place, 'ops/deploy.yaml'))).toBe('../node_modules/wfrun/dist/workflow.schema.json');
      expect(schemaOf((await place.wf('init', '-')).stdout)).toBe('./node_modules/wfrun/dist/workflow.schema.json');
    }));

  it('lists the templates', () =>
    withPlace({}, async ({ wf, json }) => {
      const listed = await json<readonly { name: string; description: string }[]>('init', '--list');

      expect(listed.map(({ name }) => name)).toEqual([...templateNames]);
      expect((await wf('init', '--list')).stdout.split('\n')).toHaveLength(templateNames.length + 1);
    }));

  it('reports an invalid command line', () =>
    withPlace({}, async ({ wf }) => {
      expect((await wf('init', '--template', 'nope')).stderr).toContain(
        'Allowed choices are basic, cron-job, ci, etl, docker',
      );
      expect(await wf('init', 'no/where.yaml')).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('there is no such directory'),
      });
      expect(await wf('init', '--json')).toMatchObject({ code: 2, stderr: 'error: --json requires --list\n' });
    }));
});

describe('the templates of wf init', () => {
  it('are all files in the directory of templates', () => {
    expect(readdirSync(templates).sort()).toEqual(templateNames.map((name) => `${name}.yaml`).sort());
  });

  it.each(templateNames)('%s is valid without a warning', (name) =>
    withPlace({}, async ({ wf }) => {
      await wf('init', 'a.yaml', '--template', name);
      expect(await wf('validate', 'a.yaml')).toMatchObject({ code: 0, stdout: 'a.yaml: valid\n', stderr: '' });
    }),
  );

  it.each(templateNames.filter((name) => name !== 'docker'))('%s runs unchanged', (name) =>
    withPlace({}, async ({ wf, json }) => {
      await wf('init', 'a.yaml', '--template', name);
      const { code, stderr } = await wf('run', 'a.yaml');

      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect((await json('status')).status).toBe('succeeded');
    }),
  );
});
