import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readAsRunner } from '../../render/support/github-runner.ts';
import { parseXml } from '../../render/support/xml.ts';
import { isInstalled } from '../../support/require.ts';
import { startWf, wf, withDirectory } from '../../support/wf.ts';

const failing =
  'steps:\n  - name: fine\n    command: echo good\n  - name: bad\n    command: sh -c "echo why >&2; exit 3"\n';

/** A directory with a workflow, and `wf` in it with its home there. */
function withWorkflow(
  yaml: string,
  use: (place: {
    cwd: string;
    env: Record<string, string>;
    run: (...args: string[]) => ReturnType<typeof wf>;
  }) => Promise<void>,
): Promise<void> {
  return withDirectory(async (cwd) => {
    writeFileSync(join(cwd, 'w.yaml'), yaml);
    const env = { WF_HOME: join(cwd, 'home') };
    await use({ cwd, env, run: (...args) => wf(['run', 'w.yaml', ...args], { cwd, env }) });
  });
}

const isRun = (cwd: string) => existsSync(join(cwd, 'home/runs'));

describe('--reporter', () => {
  it('writes files in addition to the shown output, in any order of names', async () => {
    await withWorkflow(failing, async ({ cwd, run }) => {
      const { code, stdout } = await run('--reporter', 'json,junit=j.xml', '--reporter', 'summary=s.json');
      expect(code).toBe(1);
      const last = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
      const summary = JSON.parse(readFileSync(join(cwd, 's.json'), 'utf8'));
      const { type: _type, at: _at, ...shown } = last;
      expect(summary).toEqual(shown);
      const status = await wf(['status', '--json'], { cwd, env: { WF_HOME: join(cwd, 'home') } });
      expect(JSON.parse(status.stdout)).toEqual(summary);
      const cases = parseXml(readFileSync(join(cwd, 'j.xml'), 'utf8')).children[0]?.children.slice(1);
      expect(cases?.map(({ attributes, children }) => [attributes['name'], children.map(({ text }) => text)])).toEqual([
        ['fine', ['good']],
        ['bad', ['why', 'why']],
      ]);
      expect(cases?.[1]?.attributes).toMatchObject({ file: 'w.yaml', line: '4', classname: 'w' });
      if (isInstalled('python3')) {
        execFileSync('python3', ['-c', 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])', join(cwd, 'j.xml')]);
      }
    });
  });

  it('writes its files also when the run is stopped, and leaves no draft', async () => {
    await withWorkflow('steps:\n  - name: slow\n    command: sleep 60\n', async ({ cwd, env }) => {
      const running = startWf(['run', 'w.yaml', '--reporter', 'plain,junit=j.xml,summary=s.json'], { cwd, env });
      await running.until('START');
      running.kill('SIGINT');
      expect((await running.ended).code).toBe(130);
      expect(JSON.parse(readFileSync(join(cwd, 's.json'), 'utf8')).status).toBe('canceled');
      expect(readFileSync(join(cwd, 'j.xml'), 'utf8')).toMatch(/<error message="[^"]*" type="canceled">/);
      expect(readdirSync(cwd).sort()).toEqual(['home', 'j.xml', 's.json', 'w.yaml']);
    });
  });

  it('uses WF_REPORTER without the option', async () => {
    await withWorkflow(failing, async ({ cwd, env }) => {
      const { stdout } = await wf(['run', 'w.yaml'], { cwd, env: { ...env, WF_REPORTER: 'quiet,summary=s.json' } });
      expect(stdout.startsWith('FAILED w in ')).toBe(true);
      expect(existsSync(join(cwd, 's.json'))).toBe(true);
    });
  });

  it.each([
    ['plian', 'there is no reporter "plian"', 'did you mean "plain"?'],
    ['junt=x', 'there is no reporter "junt"', 'did you mean "junit"?'],
    ['junit', 'the reporter "junit" needs a file', 'junit=FILE'],
    ['json=out', 'the reporter "json" writes to standard output', 'leave out "=out"'],
    ['plain,json', 'the reporters "plain" and "json" both write to standard output', 'choose one'],
    ['junit=a,summary=a', 'two reporters would write to "a"', ''],
    ['junit=no/such/j.xml', 'there is no directory', 'mkdir -p'],
    ['junit=home', 'it is a directory', ''],
  ])('refuses %s before the run starts', async (value, message, help) => {
    await withWorkflow(failing, async ({ cwd, run }) => {
      mkdirSync(join(cwd, 'home'));
      const { code, stdout, stderr } = await run('--reporter', value);
      expect([code, stdout, isRun(cwd)]).toEqual([2, '', false]);
      expect(stderr).toContain(message);
      expect(stderr).toContain(help);
    });
  });

  it('takes the shown reporter from the configuration of a project, but no file to write', async () => {
    await withWorkflow(failing, async ({ cwd, run }) => {
      mkdirSync(join(cwd, '.git'));
      writeFileSync(join(cwd, '.wf.yaml'), 'reporter: quiet\n');
      expect((await run()).stdout.startsWith('FAILED w in ')).toBe(true);
      writeFileSync(join(cwd, '.wf.yaml'), 'reporter: [summary=w.yaml]\n');
      const { code, stderr } = await run();
      expect([code, readFileSync(join(cwd, 'w.yaml'), 'utf8')]).toEqual([2, failing]);
      expect(stderr).toContain('cannot name a file to be written');
    });
  });
});

describe('in GitHub Actions', () => {
  const secretive = `${failing}type: graph\nenv:\n  - PASSWORD: correct horse\nsecrets: [PASSWORD, OTHER]\n`.replace(
    'echo why >&2',
    'echo ::error::$PASSWORD >&2',
  );

  it('groups, annotates and summarizes by default, and never prints a secret', async () => {
    await withWorkflow(secretive, async ({ cwd, env }) => {
      const page = join(cwd, 'page.md');
      writeFileSync(page, '# before\n');
      const github = {
        GITHUB_ACTIONS: 'true',
        CI: 'true',
        GITHUB_WORKSPACE: join(cwd, '..'),
        GITHUB_STEP_SUMMARY: page,
      };
      const { code, stdout, stderr } = await wf(['run', 'w.yaml'], { cwd, env: { ...env, ...github } });
      expect([code, stderr]).toEqual([1, '']);
      const file = `${cwd.split('/').at(-1)}/w.yaml`;
      expect(
        readAsRunner(stdout)
          .filter(({ name }) => name !== 'stop-commands')
          .map(({ line }) => line),
      ).toEqual([
        expect.stringMatching(
          `^::warning file=${file},line=9,col=21,endLine=9,endColumn=25,title=unknown-secret::the secret "OTHER" is `,
        ),
        expect.stringMatching(/^::group::fine OK \d/),
        '::endgroup::',
        expect.stringMatching(`^::error file=${file},line=4,.*,title=bad::exit 3%0A::error::\\*\\*\\*$`),
      ]);
      const summary = readFileSync(page, 'utf8');
      expect(summary).toMatch(/^# before\n### w: failed in [^\n]*\n[\s\S]*\| bad \| failed \| 1 \|[\s\S]*```mermaid\n/);
      expect(stdout + summary).not.toContain('correct horse');
    });
  });

  it('a summary page that cannot be written does not affect the run', async () => {
    await withWorkflow('steps:\n  - name: a\n    command: "true"\n', async ({ cwd, env }) => {
      const github = { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: join(cwd, 'no/page.md') };
      const { code, stderr } = await wf(['run', 'w.yaml'], { cwd, env: { ...env, ...github } });
      expect([code, stderr]).toEqual([0, expect.stringContaining('the step summary was not written')]);
    });
  });
});

describe('without a terminal', () => {
  it('a parameter without a value is empty, and no shell opens', async () => {
    const yaml = 'params: { WHO: }\nsteps:\n  - name: a\n    command: sh -c "echo \\"<$WHO>\\"; exit 1"\n';
    await withWorkflow(yaml, async ({ run }) => {
      const { code, stdout, stderr } = await run('--shell-on-failure');
      expect([code, stderr]).toEqual([1, expect.stringContaining('--shell-on-failure needs a terminal')]);
      expect(stdout).toContain('<>');
    });
  });
});
