import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeWith, isInstalled } from '../support/require.ts';
import { type Tmux, untilShown, withTmux } from '../support/tmux.ts';
import { launcher, withDirectory } from '../support/wf.ts';

/** Runs `wf run w.yaml` on a terminal, with a shell whose prompt is `$ `, and says its exit code. */
function onTerminal(
  { yaml, args = '', env = '' }: { yaml: string; args?: string; env?: string },
  use: (terminal: Tmux, cwd: string) => Promise<void>,
): Promise<void> {
  return withDirectory(async (cwd) => {
    writeFileSync(join(cwd, 'w.yaml'), yaml);
    const own = `LC_ALL=C.UTF-8 WF_HOME=${join(cwd, 'home')} SHELL=/bin/sh PS1='$ ' ${env}`;
    const command = `env -u CI -u GITHUB_ACTIONS -u NO_COLOR ${own} ${process.execPath} ${launcher} run w.yaml ${args}; echo "code $?"`;
    await withTmux({ columns: 100, rows: 30, cwd, command }, (terminal) => use(terminal, cwd));
  });
}

const asking =
  'params:\n  - WHO:\n  - TOKEN:\n  - LAST: given\nsecrets: [TOKEN]\nsteps:\n  - name: a\n    command: sh -c "echo \\"$WHO/$LAST\\"; echo \\"$TOKEN\\" > ../token"\n    dir: sub\n';

/** The same, with the directory that its step needs. */
function onAsking(options: { args?: string; env?: string }, use: (terminal: Tmux, cwd: string) => Promise<void>) {
  return onTerminal({ yaml: asking, ...options, env: `${options.env ?? ''} sh -c 'mkdir -p sub; exec "$@"' -` }, use);
}

describeWith('tmux', isInstalled('tmux'), 'a user at the terminal', () => {
  it('is asked for parameters without a value; secrets are not shown', async () => {
    await onAsking({}, async (terminal, cwd) => {
      await untilShown(terminal, 'WHO:');
      terminal.type('worx', 'BSpace', 'ld', 'Enter');
      await untilShown(terminal, 'TOKEN (not shown):');
      terminal.type('hunter23', 'BSpace', 'Enter');
      const screen = await untilShown(terminal, 'code 0');
      expect(screen).toContain('world/given');
      expect(screen).not.toContain('LAST:');
      expect(screen).not.toContain('hunter2');
      expect(readFileSync(join(cwd, 'token'), 'utf8')).toBe('hunter2\n');
    });
  });

  it('is asked for every parameter with --ask, and Enter keeps the default', async () => {
    await onAsking({ args: '--ask -p TOKEN=hunter2' }, async (terminal) => {
      await untilShown(terminal, 'WHO:');
      terminal.type('me', 'Enter');
      await untilShown(terminal, 'LAST [given]:');
      terminal.type('Enter');
      const screen = await untilShown(terminal, 'code 0');
      expect(screen).toContain('me/given');
    });
  });

  it('is asked again for a declared parameter until the answer is valid', async () => {
    const yaml =
      'params:\n  - {name: N, type: integer, required: true}\n  - {name: O, type: integer}\nsteps:\n  - name: a\n    command: echo "got $N"\n';
    await onTerminal({ yaml }, async (terminal) => {
      await untilShown(terminal, 'N:');
      terminal.type('two', 'Enter');
      await untilShown(terminal, '"N" must be an integer, got "two"');
      terminal.type('2', 'Enter');
      const screen = await untilShown(terminal, 'code 0');
      expect(screen).toContain('got 2');
      expect(screen).not.toContain('O:');
    });
  });

  it('is not asked for given parameters, by name or by position', async () => {
    await onAsking({ args: '-p TOKEN=hunter2 -- me' }, async (terminal) => {
      const screen = await untilShown(terminal, 'code 0');
      expect(screen).toContain('me/given');
      expect(screen).not.toMatch(/WHO:|TOKEN \(/);
    });
  });

  it.each([
    ['with --no-input', { args: '--no-input' }],
    ['in CI', { env: 'CI=true' }],
  ])('is not asked %s', async (_when, options) => {
    await onAsking(options, async (terminal) => {
      expect(await untilShown(terminal, 'code 0')).not.toContain('WHO:');
    });
  });

  it.each([
    ['Ctrl-C', 'C-c', 'code 130', ''],
    ['the end of the input', 'C-d', 'code 2', 'error: the parameter "TOKEN" has no value'],
  ])('can answer with %s, also where nothing is shown', async (_what, key, code, message) => {
    await onAsking({}, async (terminal) => {
      await untilShown(terminal, 'WHO:');
      terminal.type('me', 'Enter');
      await untilShown(terminal, 'TOKEN (not shown):');
      terminal.type(key);
      const screen = await untilShown(terminal, code);
      expect(screen).toContain(message);
      expect(screen).not.toContain('me/given');
    });
  });

  it('gets a shell with the environment of the failed step, and the exit code of the run', async () => {
    const yaml =
      'params: { WHO: }\nsteps:\n  - name: fine\n    command: "true"\n  - name: bad\n    dir: sub\n    env: { OWN: "for $WHO" }\n    command: sh -c "exit 7"\n    depends: fine\nhandlerOn:\n  failure:\n    command: echo handled\n';
    const env = 'sh -c \'mkdir -p sub; exec "$@"\' -';
    await onTerminal({ yaml, args: '--shell-on-failure -x', env }, async (terminal, cwd) => {
      await untilShown(terminal, 'WHO:');
      terminal.type('me', 'Enter');
      const before = await untilShown(terminal, 'Leave with "exit" or Ctrl-D.\n');
      expect(before).toMatch(/FAILED w in[\s\S]*\/bin\/sh in place of step "bad", with its environment, in/);
      terminal.type('echo "$OWN/$WF_STEP/$WF_ATTEMPT in $(pwd)"', 'Enter');
      await untilShown(terminal, 'for me/bad/1 in ');
      expect((await untilShown(terminal, '/sub\n')).replaceAll('\n', '')).toContain(
        `for me/bad/1 in ${join(cwd, 'sub')}`,
      );
      terminal.type('C-c');
      // The shell drops what it has read before the signal.
      await untilShown(terminal, '^C\n$');
      terminal.type('echo still there', 'Enter');
      await untilShown(terminal, '\nstill there');
      terminal.type('exit 5', 'Enter');
      await untilShown(terminal, 'code 7');
    });
  });

  it.each([
    ['nothing failed', '"true"', 'code 0'],
    ['the run was stopped', 'sleep 60', 'code 130'],
  ])('gets no shell when %s', async (_when, command, code) => {
    await onTerminal(
      { yaml: `steps:\n  - name: a\n    command: ${command}\n`, args: '--shell-on-failure' },
      async (terminal) => {
        if (code === 'code 130') {
          await untilShown(terminal, 'Ctrl-C stops');
          terminal.type('C-c');
        }
        expect(await untilShown(terminal, code)).not.toContain('in place of step');
      },
    );
  });

  it('ends --watch with Ctrl-C, and is asked for parameters once', async () => {
    const yaml = 'params: { WHO: }\nsteps:\n  - name: a\n    command: echo "hello $WHO"\n';
    await onTerminal({ yaml, args: '--watch' }, async (terminal, cwd) => {
      await untilShown(terminal, 'WHO:');
      terminal.type('me', 'Enter');
      await untilShown(terminal, 'wf: waiting for a change of 1 file');
      mkdirSync(join(cwd, 'other'));
      writeFileSync(join(cwd, 'w.yaml'), yaml.replace('hello', 'goodbye'));
      await untilShown(terminal, 'goodbye me');
      await untilShown(terminal, 'SUCCEEDED');
      terminal.type('C-c');
      expect((await untilShown(terminal, 'code 130')).match(/WHO:/g)).toHaveLength(1);
    });
  });
});
