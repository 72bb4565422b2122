import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Ended, type WfOptions, wf, withDirectory } from '../support/wf.ts';

type Home = {
  readonly home: string;
  readonly write: (name: string, text: string) => void;
  /** Runs `wf` in a directory below the home. */
  readonly wfIn: (cwd: string, args: readonly string[], options?: WfOptions) => Promise<Ended>;
};

/** A home directory with `project/deep` in it. */
function withHome(use: (home: Home) => Promise<void>): Promise<void> {
  return withDirectory(async (home) => {
    const write = (name: string, text: string) => {
      mkdirSync(dirname(join(home, name)), { recursive: true });
      writeFileSync(join(home, name), text);
    };
    write('project/deep/w.yaml', 'steps:\n  - name: a\n    command: echo hello\n');
    await use({
      home,
      write,
      wfIn: (cwd, args, options = {}) =>
        wf(args, { ...options, cwd: join(home, cwd), env: { HOME: home, ...options.env } }),
    });
  });
}

const tolerated = 'steps:\n  - name: a\n    command: "false"\n    continueOn: {failure: true}\n';

describe('wf config', () => {
  it('prints every setting with its value and source, and all directories', async () => {
    await withHome(async ({ home, write, wfIn }) => {
      write('.config/wf/config.yaml', 'port: 9000\n');
      write('project/.wf.yaml', 'reporter: quiet\n');
      const { code, stdout } = await wfIn('project/deep', ['config', '--dags', 'flows'], {
        env: { WF_TOKEN: 'hidden' },
      });
      const lines = stdout.split('\n').map((line) => line.replace(/ {2,}/g, '  '));
      expect(code).toBe(0);
      expect(lines).toEqual(
        expect.arrayContaining([
          `dags  ${home}/project/deep/flows  --dags`,
          `reporter  quiet  ${home}/project/.wf.yaml:1`,
          `port  9000  ${home}/.config/wf/config.yaml:1`,
          'maxConcurrentRuns  16  default',
          'token  set  WF_TOKEN',
          'password  not set  default',
          `runs  ${home}/.local/state/wf/runs`,
          `your settings  ${home}/.config/wf/config.yaml`,
          `the project's settings  ${home}/project/.wf.yaml`,
        ]),
      );
      expect(stdout).not.toContain('hidden');
    });
  });

  it('explains one setting', async () => {
    await withHome(async ({ wfIn }) => {
      expect((await wfIn('', ['config', 'MAX_concurrent_runs'])).stdout).toBe(
        `maxConcurrentRuns  16  default
  the maximum number of active runs; further runs wait
  set by --max-concurrent-runs <count>, WF_MAX_CONCURRENT_RUNS, "maxConcurrentRuns" in config.yaml
  type whole number from 1 to 10000
`,
      );
      const one = JSON.parse((await wfIn('', ['config', 'logForwarding.maxRetries', '--json'])).stdout);
      expect(one).toMatchObject({
        key: 'logForwarding.maxRetries',
        value: 3,
        variable: 'WF_LOG_FORWARDING_MAX_RETRIES',
      });
    });
  });

  it('reports unknown settings', async () => {
    await withHome(async ({ wfIn }) => {
      const { code, stderr } = await wfIn('', ['config', 'prot']);
      expect([code, stderr]).toEqual([2, 'error: there is no setting "prot"\n  help: did you mean "port"?\n']);
      const typo = await wfIn('', ['config'], { env: { WF_MAX_CONCURENT_RUNS: '3', WF_MY_OWN: 'x' } });
      expect([typo.code, typo.stderr]).toEqual([
        0,
        'wf: the variable WF_MAX_CONCURENT_RUNS sets nothing: did you mean "WF_MAX_CONCURRENT_RUNS"?\n',
      ]);
    });
  });
});

describe('settings', () => {
  it('in files apply to runs', async () => {
    await withHome(async ({ home, write, wfIn }) => {
      write('project/deep/w.yaml', tolerated);
      write('.config/wf/config.yaml', 'strict: true\nreporter: json\nhistory: false\ncolor: true\n');
      const ended = await wfIn('project/deep', ['run', 'w.yaml']);
      expect([ended.code, ended.stderr, ended.stdout.split('\n')[0]]).toEqual([
        1,
        '',
        expect.stringMatching(/^\{"type":"run.created"/),
      ]);
      expect(existsSync(join(home, '.local/state/wf'))).toBe(false);
      const flags = ['--no-strict', '--history', '--reporter', 'plain'];
      const colored = await wfIn('project/deep', ['run', 'w.yaml', ...flags]);
      expect([colored.code, colored.stdout]).toEqual([0, expect.stringContaining('\u001b[')]);
      const runs = readdirSync(join(home, '.local/state/wf/runs')).filter((name) => !name.startsWith('.'));
      expect(runs).toHaveLength(1);
      const plain = await wfIn('project/deep', ['run', 'w.yaml', ...flags], { env: { WF_COLOR: 'false' } });
      expect(plain.stdout).not.toContain('\u001b[');
    });
  });

  it.each(['NO_COLOR', 'FORCE_COLOR'])('%s takes precedence over colours in a file', async (variable) => {
    await withHome(async ({ write, wfIn }) => {
      write('.config/wf/config.yaml', `color: ${variable === 'NO_COLOR'}\n`);
      const { stdout } = await wfIn('project/deep', ['run', 'w.yaml'], { env: { [variable]: '1' } });
      expect(stdout.includes('\u001b[')).toBe(variable === 'FORCE_COLOR');
    });
  });

  it('as a variable leave no trace of a run', async () => {
    await withHome(async ({ home, wfIn }) => {
      const { code } = await wfIn('project/deep', ['run', 'w.yaml'], { env: { WF_HISTORY: 'false' } });
      expect([code, readdirSync(home)]).toEqual([0, ['project']]);
    });
  });

  it('of a project apply to its workflows', async () => {
    await withHome(async ({ write, wfIn }) => {
      write('project/.wf.yaml', 'dags: flows\n');
      write('project/flows/nightly.yaml', 'steps:\n  - name: a\n    command: echo from the project\n');
      expect((await wfIn('project/deep', ['list'])).stdout).toContain('nightly');
      expect((await wfIn('project/deep', ['run', 'nightly'])).stdout).toContain('| from the project\n');
    });
  });

  it('of a project do not affect workflows of other directories', async () => {
    await withHome(async ({ write, wfIn }) => {
      const helper = (text: string) => `steps:\n  - name: a\n    command: echo ${text}\n    output: A\n`;
      write('project/.wf.yaml', 'dags: flows\n');
      write('project/flows/helper.yaml', helper('theirs'));
      write('.config/wf/dags/helper.yaml', helper('mine'));
      write('own/parent.yaml', 'steps:\n  - name: sub\n    run: helper\n');
      const { code, stdout } = await wfIn('project/deep', ['run', '../../own/parent.yaml']);
      expect([code, stdout.includes('"A":"mine"'), stdout.includes('theirs')]).toEqual([0, true, false]);
    });
  });

  it('that are invalid stop a command, with their position', async () => {
    await withHome(async ({ home, write, wfIn }) => {
      write('.config/wf/config.yaml', 'reporter: plain\nprot: 8080\n');
      for (const words of [['run', 'w.yaml'], ['list'], ['config']]) {
        const { code, stdout, stderr } = await wfIn('project/deep', words);
        const message = `error: ${home}/.config/wf/config.yaml:2:1: unknown key "prot"\n  help: did you mean "port"?\n`;
        expect([code, stdout, stderr]).toEqual([2, '', message]);
      }
      expect((await wfIn('', ['help'])).code).toBe(0);
    });
  });

  it('with an unknown reporter are reported with their position', async () => {
    await withHome(async ({ home, write, wfIn }) => {
      write('project/.wf.yaml', 'reporter: pain\n');
      const { code, stderr } = await wfIn('project/deep', ['run', 'w.yaml']);
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining(`${home}/project/.wf.yaml:1: there is no reporter "pain"`),
      ]);
    });
  });

  it('of the daemon are not visible to steps', async () => {
    await withHome(async ({ write, wfIn }) => {
      write('w.yaml', 'steps:\n  - name: a\n    command: printenv\n');
      const env = {
        WF_TOKEN: 'one',
        WF_READ_ONLY_TOKEN: 'two',
        WF_PASSWORD: 'three',
        WF_PORT: 'no number',
        MINE: 'seen',
      };
      const { code, stdout } = await wfIn('', ['run', 'w.yaml'], { env });
      expect([code, stdout.includes('MINE=seen'), /TOKEN|PASSWORD/.test(stdout)]).toEqual([0, true, false]);
    });
  });
});
