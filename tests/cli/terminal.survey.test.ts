import { writeFileSync } from 'node:fs';
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
) {
  writeFileSync(join(cwd, 'w.yaml'), yaml);
  const environment = `env -u CI -u GITHUB_ACTIONS -u NO_COLOR LC_ALL=C.UTF-8 WF_HOME=${join(cwd, 'home')}`;
  const command = `${environment} ${process.execPath} ${launcher} run w.yaml; echo "code $?"`;
  return withTmux({ ...size, cwd, command }, use);
}

const manySteps = `maxActiveSteps: 40\nsteps:\n${Array.from(
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

  it('stays within its height with 1,000 steps, and loses no failed one', async () => {
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

  it('Ctrl-C stops the run and is answered by its recap', async () => {
    await withDirectory((cwd) =>
      run(cwd, 'steps:\n  - name: slow\n    command: sleep 60\n', { columns: 80, rows: 24 }, async (terminal) => {
        await until(terminal, 'Ctrl-C stops');
        terminal.type('C-c');
        expect(await until(terminal, 'code 130')).toContain('CANCELED w in ');
      }),
    );
  });
});
