import { expect, it } from 'vitest';
import { type Place, withPlace } from '../support/past-runs.ts';

const one = (text: string) => `steps:\n  - name: s\n    command: echo ${text}\n`;

/** YAML files that are no workflows. */
const others = {
  'docker-compose.yml': 'services:\n  db:\n    image: postgres\n    steps: 1\n',
  '.hidden.yaml': one('hidden'),
  'sub/deep.yaml': one('deep'),
  'values.yaml': 'text: |\n  steps:\n    - name: s\n',
};

const listed = async ({ json }: Place) =>
  (await json<{ readonly file: string; readonly here?: true }[]>('list')).map(({ file, here = false }) => [
    file.replace(/^.*\//, ''),
    here,
  ]);

it('lists the workflow files here before those of the workflows directory', async () => {
  const files = { ...others, 'z.yaml': `name: other\n${one('z')}`, 'm.yml': '{"steps": [{"command": "true"}]}' };
  await withPlace({ ...files, 'broken.yaml': 'steps: 1\n', 'home/dags/a.yaml': one('a') }, async (place) => {
    await place.wf('run', '-q', 'z.yaml');
    expect(await listed(place)).toEqual([
      ['broken.yaml', true],
      ['m.yml', true],
      ['z.yaml', true],
      ['a.yaml', false],
    ]);
    const { stdout } = await place.wf('list');
    expect(stdout).toMatch(
      /^WORKFLOW.*\nbroken\.yaml +-.*not valid: 1 error.*\nm\.yml +-.*\nz\.yaml +succeeded.*\na +-.*\n$/,
    );
  });
});

it('lists a workflows directory that is the current one once, by its names', async () => {
  await withPlace({ 'a.yaml': `name: own\n${one('a')}` }, async (place) => {
    const { stdout } = await place.wf('list', '--dags', '.');
    expect(stdout).toMatch(/^WORKFLOW.*\nown +-.*\n$/);
  });
});

it.each([
  ['the only one', { 'ci.yaml': one('ran ci') }, 'ran ci'],
  ['workflow.yaml', { 'ci.yaml': one('ran ci'), 'workflow.yaml': one('ran default') }, 'ran default'],
  ['workflow.yml', { 'a.yaml': one('a'), 'workflow.yml': one('ran yml') }, 'ran yml'],
])('runs, plans and draws %s where no workflow is named', async (_, files, output) => {
  await withPlace({ ...others, ...files }, async ({ wf }) => {
    expect((await wf('run')).stdout).toContain(`| ${output}\n`);
    expect((await wf('dry')).stdout).toContain(`echo ${output}\n`);
    expect(await wf('graph')).toMatchObject({ code: 0, stderr: '' });
  });
});

it.each([[['A=1']], [['--', 'A=1']], [['-p', 'A=1']], [['--reporter', 'plain', 'A=1']]])(
  'passes %j to the workflow here',
  async (words) => {
    await withPlace({ 'ci.yaml': `params: A=0\n${one('"a is $A"')}` }, async ({ wf }) => {
      expect((await wf('run', ...words)).stdout).toContain('| a is 1\n');
    });
  },
);

it('runs a file whose name looks like a parameter', async () => {
  await withPlace({ 'A=1.yaml': one('named'), 'b.yaml': one('b') }, async ({ wf }) => {
    expect((await wf('run', 'A=1')).stdout).toContain('| named\n');
  });
});

it('lists the files if it cannot choose one', async () => {
  await withPlace({ ...others, 'b.yaml': one('b'), 'a b.yaml': one('a') }, async ({ wf }) => {
    expect(await wf('run')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: "error: no workflow is named, and there are 2 here: a b.yaml, b.yaml\n  help: wf run 'a b.yaml'\n",
    });
  });
});

it('says that there is no workflow here', async () => {
  await withPlace(others, async ({ wf, cwd }) => {
    for (const command of ['run', 'dry', 'graph', 'notify']) {
      const { code, stderr } = await wf(command);
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining(`there is none in ${cwd}\n  help: wf ${command} FILE`),
      ]);
    }
    expect((await wf('list')).stderr).toBe(`no workflows in this directory or ${cwd}/home/dags\n`);
    expect(await wf()).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('Usage: wf') });
  });
});

it('shows the workflows and the first commands in a project', async () => {
  await withPlace({ ...others, 'ci.yaml': one('x'), 'workflow.yaml': one('y') }, async ({ wf }) => {
    const { code, stdout } = await wf();
    expect(code).toBe(0);
    expect(stdout).toMatch(/^WORKFLOW.*\nci\.yaml.*\nworkflow\.yaml.*\n\n/);
    expect(stdout.split('\n').slice(-4)).toEqual([
      'wf run workflow.yaml  # run it',
      'wf dry workflow.yaml  # print its plan, and run nothing',
      'wf help               # list all commands',
      '',
    ]);
  });
});

it('validates the files here if there is no workflows directory', async () => {
  await withPlace({ ...others, 'ci.yaml': one('x') }, async ({ wf }) => {
    expect(await wf('validate')).toMatchObject({ code: 0, stdout: 'ci.yaml: valid\n' });
  });
});
