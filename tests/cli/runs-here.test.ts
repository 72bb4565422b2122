import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { withDaemons } from '../support/daemon.ts';
import { withPlace } from '../support/past-runs.ts';
import { wf as wfIn, withDirectory } from '../support/wf.ts';

const of = (text: string) => `steps:\n  - name: s\n    command: ${text}\n`;

/** Two projects with a file of one name: the run `a1` is of the first, then `b1` of the second. */
const twoProjects = (ran: readonly ('a' | 'b')[], files: Readonly<Record<string, string>>, test: Test) =>
  withPlace({ 'a/ci.yaml': of('echo from a'), 'b/ci.yaml': of('"false"'), ...files }, async ({ cwd, env }) => {
    const wf = (directory: string, ...args: readonly string[]) => wfIn(args, { cwd: join(cwd, directory), env });
    for (const project of ran) await wf(project, 'run', '-q', 'ci.yaml', '--run-id', `${project}1`);
    await test({ cwd, wf });
  });

type Test = (tools: {
  readonly cwd: string;
  readonly wf: (directory: string, ...args: readonly string[]) => ReturnType<typeof wfIn>;
}) => Promise<void>;

it('takes runs of the file here, by its path, its name and through links', async () => {
  await twoProjects(['a', 'b'], { 'b/own.yaml': `name: made\n${of('echo x')}` }, async ({ cwd, wf }) => {
    mkdirSync(join(cwd, 'a/sub'));
    symlinkSync(join(cwd, 'a'), join(cwd, 'link'));
    symlinkSync('ci.yaml', join(cwd, 'a/alias.yaml'));
    const words = [
      ['a', 'ci.yaml'],
      ['a', 'ci'],
      ['a', './ci.yaml'],
      ['a', 'alias'],
      ['a/sub', '../ci'],
      ['link', 'ci'],
      ['b', '../link/ci.yaml'],
    ] as const;
    for (const [directory, word] of words) expect((await wf(directory, 'logs', word)).stdout).toBe('[s] from a\n');
    for (const word of ['ci', 'b1']) {
      expect((await wf('', 'status', word)).stdout).toContain('ci  b1');
    }
    expect((await wf('a', 'status', 'ci', '--any')).stdout).toContain('ci  b1');
    expect((await wf('b', 'stop', 'ci')).stdout).toContain('run b1 of "ci" had finished already: failed');
    const history = JSON.parse((await wf('a', 'history', 'ci', '--json')).stdout) as { readonly runId: string }[];
    expect(history.map(({ runId }) => runId)).toEqual(['a1']);
    await wf('b', 'run', '-q', 'own.yaml', '--run-id', 'o1');
    expect((await wf('b', 'status', 'made')).stdout).toContain('made  o1');
  });
});

it.each([
  ['status', []],
  ['logs', []],
  ['stop', []],
  ['stop', ['--all']],
  ['retry', []],
  ['restart', []],
  ['history', []],
  ['report', []],
  ['gc', []],
  ['approve', []],
  ['reject', []],
  ['mark', ['s', 'succeeded']],
] as const)('wf %s %j refuses the run of another file of the name', async (command, args) => {
  await twoProjects(['b'], {}, async ({ cwd, wf }) => {
    const { code, stdout, stderr } = await wf('a', command, 'ci.yaml', ...args);
    const error = `error: ${cwd}/a/ci.yaml has not run; the last run called "ci.yaml" is of ${cwd}/b/ci.yaml`;
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: '',
      stderr: `${error}\n  help: --any takes it, run b1\n`,
    });
  });
});

it('takes @latest, @failed and no word from the runs below the directory, else from all', async () => {
  await twoProjects(['a', 'b'], { 'c/none.yaml': of('echo c') }, async ({ cwd, wf }) => {
    const here = { stdout: '[s] from a\n', stderr: `wf: the last run of a file below ${cwd}/a\n` };
    for (const words of [['logs'], ['logs', '@latest']]) expect(await wf('a', ...words)).toMatchObject(here);
    const all = `wf: the last run of all, b1 of ${cwd}/b/ci.yaml: no file below ${cwd}/c has run\n`;
    expect(await wf('c', 'status')).toMatchObject({ stdout: expect.stringContaining('ci  b1'), stderr: all });
    const none = `error: no run of a file below ${cwd}/a has failed\n  help: --any looks at all runs\n`;
    expect(await wf('a', 'retry', '@failed')).toMatchObject({ code: 2, stdout: '', stderr: none });
    expect(await wf('a', 'status', '@failed', '--any')).toMatchObject({ code: 0, stderr: '' });
    expect(await wf('a', 'status', '--json')).toMatchObject({ code: 0, stderr: '' });
  });
});

it('counts a run without a file for the directory in which it was started', async () => {
  await twoProjects(['a', 'b'], {}, async ({ wf }) => {
    await wf('a', 'exec', '--run-id', 'e1', '--', 'echo', 'made here');
    expect((await wf('a', 'logs')).stdout).toContain('made here');
    expect((await wf('b', 'status')).stdout).toContain('ci  b1');
  });
});

it('says that a name means a workflow of the configured daemon and not the file here, and acts on neither', async () => {
  await withDaemons({ 'ci.yaml': of('echo from the daemon') }, async (place) => {
    const { url } = await place.serve();
    await place.wf('run', '-q', 'ci.yaml', '--run-id', 'd1');
    await withDirectory(async (cwd) => {
      const env = { WF_HOME: join(cwd, 'home'), WF_SERVER: url };
      const wf = (...args: readonly string[]) => wfIn(args, { cwd, env });
      writeFileSync(join(cwd, 'ci.yaml'), of('echo from here'));
      const what = `WF_SERVER selects the daemon at ${url}, whose "ci" differs from ${cwd}/ci.yaml\n`;
      const help = `  help: --no-server means the file here, --server ${url} the daemon\n`;
      for (const words of ['run', 'retry', 'stop', 'approve', 'mark'].map((verb) => [verb, 'ci'])) {
        if (words[0] === 'mark') words.push('s', 'succeeded');
        expect(await wf(...words)).toMatchObject({ code: 2, stdout: '', stderr: `error: ${what}${help}` });
      }
      expect(await wf('logs', 'ci')).toMatchObject({ stdout: '[s] from the daemon\n', stderr: `wf: ${what}` });
      expect((await wf('history', 'ci', '--json')).stderr).toBe('');
      expect((await wf('logs', 'ci', '--any')).stderr).toBe('');
      expect((await wf('run', 'ci', '--server', url)).stdout).toContain('from the daemon');
      expect((await wf('run', 'ci', '--no-server')).stdout).toContain('from here');
      writeFileSync(join(cwd, 'ci.yaml'), of('echo from the daemon'));
      expect(await wf('run', 'ci.yaml')).toMatchObject({ code: 0, stderr: '' });
    });
  });
});
