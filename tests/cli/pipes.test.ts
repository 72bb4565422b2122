import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { withDaemons } from '../support/daemon.ts';
import { type Ended, launcher, startWf, wf, withDirectory } from '../support/wf.ts';

const good = 'steps: [{name: a, command: echo hello}]\n';

/** A directory with named pipes, which nothing ever writes to, and files. */
function withPipes<T>(
  pipes: readonly string[],
  files: Readonly<Record<string, string>>,
  use: (cwd: string, run: (...words: readonly string[]) => Promise<Ended>) => Promise<T>,
): Promise<T> {
  return withDirectory((cwd) => {
    for (const path of [...pipes, ...Object.keys(files)]) mkdirSync(join(cwd, path, '..'), { recursive: true });
    for (const [path, text] of Object.entries(files)) writeFileSync(join(cwd, path), text);
    for (const path of pipes) makePipe(join(cwd, path));
    return use(cwd, (...words) => wf(words, { cwd, env: { WF_HOME: join(cwd, 'home') } }));
  });
}

function makePipe(path: string): void {
  expect(spawnSync('mkfifo', [path]).status).toBe(0);
}

const why = 'it is a named pipe, not a regular file';

describe('a named pipe in place of a file blocks no command', () => {
  it('in the workflows directory, itself or behind a link', async () => {
    await withPipes(['home/dags/pipe.yaml'], { 'home/dags/good.yaml': good }, async (cwd, run) => {
      symlinkSync('pipe.yaml', join(cwd, 'home/dags/link.yaml'));
      symlinkSync('/dev/zero', join(cwd, 'home/dags/device.yaml'));
      const listed = JSON.parse((await run('list', '--json')).stdout);
      const messages = listed.map(({ name, diagnostics }: { name: string; diagnostics: { message: string }[] }) => [
        name,
        diagnostics.map(({ message }) => message),
      ]);
      expect(messages).toEqual([
        ['device', [`cannot read "${cwd}/home/dags/device.yaml": it is a device, not a regular file`]],
        ['good', []],
        ['link', [`cannot read "${cwd}/home/dags/link.yaml": ${why}`]],
        ['pipe', [`cannot read "${cwd}/home/dags/pipe.yaml": ${why}`]],
      ]);
      expect(await run('run', 'pipe')).toMatchObject({ code: 2, stderr: expect.stringContaining(why) });
    });
  });

  it('as a sub-workflow, an import or the base configuration', async () => {
    const files = {
      'parent.yaml': 'steps: [{name: a, run: child}]\n',
      'importing.yaml': 'imports: [child.yaml]\nsteps: [{name: a, command: "true"}]\n',
      'good.yaml': good,
    };
    await withPipes(['child.yaml', 'home/base.yaml'], files, async (cwd, run) => {
      expect((await run('validate', 'good.yaml')).stderr).toContain(`base.yaml" cannot be read: ${why}`);
      const env = { WF_HOME: join(cwd, 'other') };
      const parent = await wf(['run', 'parent.yaml'], { cwd, env });
      expect([parent.code, parent.stdout]).toEqual([1, expect.stringContaining(`child.yaml": ${why}`)]);
      const importing = await wf(['run', 'importing.yaml'], { cwd, env });
      expect([importing.code, importing.stderr]).toEqual([2, expect.stringContaining('it is not a file')]);
    });
  });

  it('as a configuration file, a token file, or a secret', async () => {
    await withPipes(['home/config.yaml'], {}, async (_, run) => {
      expect(await run('config')).toMatchObject({ code: 2, stderr: expect.stringContaining(why) });
    });
    const files = {
      'home/config.yaml': 'server: http://127.0.0.1:1\ntokenFile: token\n',
      'w.yaml': 'secrets: [{name: KEY, file: key}]\nsteps: [{name: a, command: "true"}]\n',
    };
    await withPipes(['home/token', 'key'], files, async (cwd, run) => {
      expect(await run('list')).toMatchObject({ code: 2, stderr: expect.stringContaining(why) });
      const { code, stdout } = await wf(['run', 'w.yaml'], { cwd, env: { WF_HOME: join(cwd, 'other') } });
      expect([code, stdout]).toEqual([1, expect.stringContaining(why)]);
    });
  });

  it('created by a step in place of its log', async () => {
    const script =
      'for file in "$WF_LOG_FILE" "$' + '{WF_LOG_FILE%.out}.err"; do rm "$file"; mkfifo "$file"; done; exit 1';
    await withPipes([], { 'w.yaml': `steps: [{name: a, script: '${script}'}]\n` }, async (_, run) => {
      expect((await run('run', 'w.yaml', '--run-id', 'r')).code).toBe(1);
      expect((await run('logs', 'r')).code).toBe(0);
      expect((await run('logs', 'r', 'a', '--tail', '3')).code).toBe(0);
      expect((await run('status', 'r')).code).toBe(0);
      expect((await run('report', 'r', '-o', 'r.html')).code).toBe(0);
    });
  });

  it('while the daemon runs, which still answers and ends', async () => {
    await withDaemons({ 'good.yaml': good }, async ({ cwd, serve }) => {
      makePipe(join(cwd, 'before.yaml'));
      const daemon = await serve();
      expect(await daemon.get('/health')).toContain('"ok"');
      makePipe(join(cwd, 'after.yaml'));
      const names = async () => JSON.parse(await daemon.get('/api/v2/workflows')).workflows.map(nameOf);
      await expect.poll(names).toEqual(['after', 'before', 'good']);
      expect((await daemon.end('SIGTERM')).code).toBe(0);
    });
  });
});

function nameOf({ name }: { readonly name: string }): string {
  return name;
}

describe('a named pipe on the command line', () => {
  it('is read, as a workflow and as parameters', async () => {
    await withDirectory(async (cwd) => {
      const inner = `<(echo 'steps: [{name: a, command: "echo $A"}]') --params-file <(echo A=hello)`;
      const { stdout, status } = spawnSync('bash', ['-c', `"${process.execPath}" "${launcher}" run ${inner}`], {
        cwd,
        env: { PATH: process.env['PATH'], WF_HOME: join(cwd, 'home') },
        encoding: 'utf8',
      });
      expect([status, stdout]).toEqual([0, expect.stringContaining('| hello')]);
    });
  });
});

describe('the "stdout" of a step that is a named pipe', () => {
  const writer = '{name: writer, command: seq 1 50000, stdout: pipe}';

  it('gets all output, however late its reader comes', async () => {
    const reader = '{name: reader, command: \'sh -c "until [ -e go ]; do :; done; tail -n 1 pipe"\'}';
    const files = { 'w.yaml': `steps: [${writer}, ${reader}, {name: go, command: touch go}]\nmaxActiveSteps: 3\n` };
    await withPipes(['pipe'], files, async (_, run) => {
      const { code, stdout } = await run('run', 'w.yaml', '--reporter', 'plain');
      expect([code, stdout.includes('[reader] | 50000')]).toEqual([0, true]);
    });
  });

  it('does not prevent a stop of the run', async () => {
    await withPipes(['pipe'], { 'w.yaml': `steps: [${writer}]\n` }, async (cwd) => {
      const running = startWf(['run', 'w.yaml'], { cwd, env: { WF_HOME: join(cwd, 'home') } });
      await running.until('| 50000');
      running.kill('SIGTERM');
      expect((await running.ended).code).toBe(143);
    });
  });
});
