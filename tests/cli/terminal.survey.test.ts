import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeWith, isInstalled } from '../support/require.ts';
import { type Tmux, untilShown as until, withTmux } from '../support/tmux.ts';
import { launcher, withDirectory } from '../support/wf.ts';

function run(
  cwd: string,
  yaml: string,
  size: { columns: number; rows: number },
  use: (terminal: Tmux) => Promise<void>,
  more: Readonly<Record<string, string>> = {},
) {
  writeFileSync(join(cwd, 'w.yaml'), yaml);
  const set = Object.entries({ LC_ALL: 'C.UTF-8', WF_HOME: join(cwd, 'home'), ...more });
  const environment = `env -u CI -u GITHUB_ACTIONS -u NO_COLOR ${set.map((pair) => pair.join('=')).join(' ')}`;
  const started = `sh -c 'echo $$ > pid; exec "$@"' -- ${environment} ${process.execPath} ${launcher} run w.yaml`;
  const command = `${started}; echo "code $?"`;
  return withTmux({ ...size, cwd, command }, use);
}

const manySteps = `type: graph\nmaxActiveSteps: 40\nsteps:\n${Array.from(
  { length: 1000 },
  (_, i) => `  - name: step ${i}\n    command: "true"\n`,
).join('')}  - name: held\n    command: sleep 2\n`;

describeWith('tmux', isInstalled('tmux'), 'on a terminal', () => {
  it('shows each step on a line of its own, then the recap', async () => {
    await withDirectory((cwd) =>
      run(
        cwd,
        'steps:\n  - name: a\n    command: echo x\n  - name: b\n    command: "false"\n',
        { columns: 80, rows: 24 },
        async (terminal) => {
          const lines = (await until(terminal, 'code 1')).split('\n');
          expect(
            lines
              .filter((line) => /^ {2}[✔✖] [ab] /.test(line))
              .map((line) => line.trim().split(' ')[1])
              .sort(),
          ).toEqual(['a', 'b']);
          expect(lines.find((line) => line.startsWith('FAILED w in '))).toBeDefined();
        },
      ),
    );
  });

  it('stops the run with exit code 129 when the terminal is closed', async () => {
    await withDirectory(async (cwd) => {
      writeFileSync(join(cwd, 'w.yaml'), 'steps:\n  - name: a\n    command: sleep 60\n');
      const wf = `WF_HOME=${join(cwd, 'home')} ${process.execPath} ${launcher}`;
      const command = `(trap '' HUP; ${wf} run w.yaml; echo $? >draft; mv draft code)`;
      await withTmux({ columns: 80, rows: 24, cwd, command }, (terminal) => until(terminal, '▶ w '));
      await expect.poll(() => existsSync(join(cwd, 'code')), { timeout: 20_000 }).toBe(true);
      expect(readFileSync(join(cwd, 'code'), 'utf8')).toBe('129\n');
      const env = { ...process.env, WF_HOME: join(cwd, 'home') };
      const status = execFileSync(process.execPath, [launcher, 'status', '@latest', '--json'], {
        env,
        encoding: 'utf8',
      });
      expect(JSON.parse(status)).toMatchObject({ status: 'canceled', error: 'stopped by SIGHUP' });
    });
  });

  it('stays within its height with 1,000 steps, and keeps every failed one', async () => {
    await withDirectory((cwd) =>
      run(cwd, `${manySteps}  - name: breaks\n    command: "false"\n`, { columns: 80, rows: 10 }, async (terminal) => {
        const screen = await until(terminal, 'code 1');
        const headers = screen.split('\n').filter((line) => line.startsWith('▶ w '));
        // A block that had passed the height would have left copies of itself in what scrolled away.
        expect(headers).toHaveLength(1);
        expect(screen.match(/Ctrl-C stops/g)).toBeNull();
        expect(screen).toMatch(/✖ breaks/);
      }),
    );
  });

  it('is legible at 20 columns', async () => {
    await withDirectory((cwd) =>
      run(
        cwd,
        'steps:\n  - name: a step with quite a long name\n    command: sleep 1\n',
        { columns: 20, rows: 10 },
        async (terminal) => {
          await until(terminal, '1 running');
          const screen = await until(terminal, 'code 0');
          expect(screen).not.toContain('1 running');
          expect(screen).toContain('✔ a step');
        },
      ),
    );
  });

  it('Ctrl-C stops the run and prints its recap', async () => {
    await withDirectory((cwd) =>
      run(cwd, 'steps:\n  - name: slow\n    command: sleep 60\n', { columns: 80, rows: 24 }, async (terminal) => {
        await until(terminal, 'Ctrl-C stops');
        terminal.type('C-c');
        expect(await until(terminal, 'code 130')).toContain('CANCELED w in ');
      }),
    );
  });

  it('keeps the output of finished steps according to --output', async () => {
    const yaml = 'type: graph\nsteps:\n  - name: a\n    command: seq 100\n  - name: b\n    command: echo hello\n';
    await withDirectory((cwd) =>
      run(cwd, yaml, { columns: 80, rows: 40 }, async (terminal) => {
        const screen = await until(terminal, 'code 0');
        expect(screen).toContain('    │ hello\n');
        expect(screen).toMatch(/… 90 lines more: wf logs [0-9a-f-]{13} a\n {4}│ 91\n/);
        expect(screen).not.toContain('│ 90\n');
      }),
    );
    await withDirectory((cwd) =>
      run(
        cwd,
        yaml,
        { columns: 80, rows: 40 },
        async (terminal) => expect(await until(terminal, 'code 0')).not.toContain('│'),
        { WF_OUTPUT: 'none' },
      ),
    );
  });

  it.each([80, 60, 20])('breaks no run id, position or command of the recap at %i columns', async (columns) => {
    const name = 'extract-all-the-rows';
    const yaml = `steps:\n  - name: ${name}\n    command: "false"\n`;
    await withDirectory((cwd) =>
      run(cwd, yaml, { columns, rows: 24 }, async (terminal) => {
        const lines = (await until(terminal, 'code 1')).split('\n').map((line) => line.trim());
        const id = /[0-9a-f]{8}-[0-9a-f]{4}/;
        const commands = columns < 40 ? [] : [`logs: wf logs ID ${name}`, 'retry what failed: wf retry ID'];
        expect(lines.map((line) => line.replace(id, 'ID'))).toEqual(expect.arrayContaining(commands));
        expect(lines.filter((line) => id.test(line)).length).toBeGreaterThanOrEqual(columns < 40 ? 1 : 3);
        expect(lines.filter((line) => line.endsWith('w.yaml:2:5'))).toHaveLength(1);
      }),
    );
  });

  it('leaves no stale rows when the window narrows', async () => {
    const steps = ['one', 'two', 'three'].map(
      (name) => `  - {name: ${name}, command: "sh -c 'echo ${'a long line '.repeat(6)}; sleep 60'"}\n`,
    );
    await withDirectory((cwd) =>
      run(cwd, `type: graph\nsteps:\n${steps.join('')}`, { columns: 80, rows: 24 }, async (terminal) => {
        await until(terminal, '3 running');
        for (const columns of [70, 60, 50, 40]) terminal.resize(columns);
        await until(terminal, ' one', (screen) => screen.split('\n').every((line) => line.length < 40));
        const screen = await until(terminal, '0/3', (text) => text.match(/0\/3/g)?.length === 1);
        expect(screen.match(/ (one|two|three)/g)).toEqual([' one', ' two', ' three']);
        terminal.type('C-c');
        await until(terminal, 'code 130');
      }),
    );
  });

  it('leaves no rows of running steps behind when the window narrows at the start', async () => {
    const long = 'x'.repeat(150);
    const yaml = `type: graph\nsteps:\n  - {name: a, command: "sh -c 'echo ${long}; until test -e go; do sleep 0.1; done; exit 1'"}\n  - {name: b, command: "sh -c 'echo b; sleep 60'"}\n`;
    await withDirectory((cwd) =>
      run(cwd, yaml, { columns: 100, rows: 30 }, async (terminal) => {
        await until(terminal, 'xxx');
        terminal.resize(40);
        await until(terminal, '2 running', (screen) => screen.split('\n').every((line) => line.length < 40));
        writeFileSync(join(cwd, 'go'), '');
        await until(terminal, '✖ a');
        terminal.type('C-c');
        expect((await until(terminal, 'code 130')).match(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] \w/g)).toBe(null);
      }),
    );
  });

  it.each(['SIGTERM', 'SIGQUIT'] as const)('restores cursor and title when %s ends it', async (signal) => {
    const yaml = 'steps:\n  - {name: a, command: sleep 60}\n  - {name: b, command: sleep 60}\n';
    await withDirectory((cwd) =>
      run(cwd, yaml, { columns: 80, rows: 24 }, async (terminal) => {
        await until(terminal, '2 running');
        expect(terminal.look()).toEqual({ cursor: false, title: '0/2 w' });
        const [pid = ''] = /\d+/.exec(readFileSync(join(cwd, 'pid'), 'utf8')) ?? [];
        process.kill(Number(pid), signal);
        await until(terminal, 'code 1');
        expect(terminal.look()).toEqual({ cursor: true, title: hostname() });
      }),
    );
  });
});
