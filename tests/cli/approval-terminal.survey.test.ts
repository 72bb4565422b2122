import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Daemon, type DaemonPlace, withDaemons } from '../support/daemon.ts';
import { describeWith, isInstalled } from '../support/require.ts';
import { type Tmux, untilShown, withTmux } from '../support/tmux.ts';
import { launcher, withDirectory } from '../support/wf.ts';

const gate = `steps:
  - name: go
    approval:
      prompt: Ship it?
      input: [WHY, {name: N, type: integer, default: 3}, {name: PIN, secret: true, required: true}]
      required: WHY
  - {name: ship, depends: go, command: 'echo "ship $N for $WHY, $(printf "$PIN" | wc -c)"'}
  - {name: beside, command: 'for i in 1 2 3 4 5 6 7 8 9; do echo "tick $i"; sleep 0.3; done'}
`;

type Options = { readonly yaml?: string; readonly args?: string; readonly env?: string };
type Wf = (...args: readonly string[]) => string;

/** Runs `wf run w.yaml` as run `r1` on a terminal and says its exit code. */
function onTerminal({ yaml = gate, args = '', env = '' }: Options, use: (terminal: Tmux, wf: Wf) => Promise<void>) {
  return withDirectory(async (cwd) => {
    writeFileSync(join(cwd, 'w.yaml'), yaml);
    const home = join(cwd, 'home');
    const own = `LC_ALL=C.UTF-8 WF_HOME=${home} ${env}`;
    const command = `env -u CI -u GITHUB_ACTIONS -u NO_COLOR ${own} ${process.execPath} ${launcher} run w.yaml --run-id r1 ${args}; echo "code $?"`;
    const wf: Wf = (...words) =>
      execFileSync(process.execPath, [launcher, ...words], { cwd, env: { ...process.env, WF_HOME: home } }).toString();
    await withTmux({ columns: 100, rows: 30, cwd, command }, (terminal) => use(terminal, wf));
  });
}

const question = 'approve or reject? [y/n]';

describeWith('tmux', isInstalled('tmux'), 'a user at the terminal of a run', () => {
  it('approves with inputs below the live block while other steps run, and hides secret ones', async () => {
    await onTerminal({}, async (terminal, wf) => {
      await untilShown(terminal, question);
      const one = await untilShown(terminal, 'tick 2', (screen) => screen.includes(question));
      expect(one).toMatch(/Ctrl-C stops\ngo waits for approval: Ship it\?\napprove or reject/);
      terminal.type('maybe', 'Enter');
      await untilShown(terminal, 'type y to approve or n to reject');
      terminal.type('y', 'Enter');
      await untilShown(terminal, 'WHY:');
      terminal.type('Enter');
      await untilShown(terminal, '"WHY" is required and cannot be empty');
      terminal.type('timex', 'BSpace', 'Enter');
      await untilShown(terminal, 'N [3]:');
      terminal.type('Enter');
      await untilShown(terminal, 'PIN (not shown):');
      terminal.type('hunter2', 'Enter');
      const screen = await untilShown(terminal, 'code 0');
      expect(screen).toContain('ship 3 for time, 7');
      expect(screen).not.toMatch(/hunter2|\[y\/n\]|WHY:/);
      const { steps } = JSON.parse(wf('status', 'r1', '--json'));
      expect(steps[0].approval).toMatchObject({ answer: 'approved', by: expect.stringMatching(/./), comment: null });
      expect(steps[0].outputs).toEqual({ WHY: 'time', N: '3', PIN: '***' });
    });
  });

  it('rejects with a reason', async () => {
    await onTerminal({ yaml: 'steps:\n  - {name: go, approval: true}\n' }, async (terminal) => {
      await untilShown(terminal, question);
      terminal.type('n', 'Enter');
      await untilShown(terminal, 'reason (may be empty):');
      terminal.type('not today', 'Enter');
      expect(await untilShown(terminal, 'code 1')).toMatch(/go +rejected by .+: not today/);
    });
  });

  it('is asked about one step after the other, but not about steps answered by others', async () => {
    const yaml =
      'steps:\n  - {name: a, approval: true}\n  - {name: b, approval: true}\n  - {name: c, approval: true}\n';
    await onTerminal({ yaml }, async (terminal, wf) => {
      await untilShown(terminal, 'a waits for approval\n');
      wf('approve', 'r1', 'b');
      terminal.type('y');
      await untilShown(terminal, `${question} y`);
      wf('approve', 'r1', 'a');
      await untilShown(terminal, `c waits for approval\n${question}`, (screen) => !screen.includes(`${question} y`));
      terminal.type('y', 'Enter');
      expect(await untilShown(terminal, 'code 0')).toContain('3 succeeded');
    });
  });

  it('stops the run with Ctrl-C during a question, and gets the keyboard back', async () => {
    await onTerminal(
      { yaml: 'steps:\n  - {name: go, approval: true}\n', args: '; read -r LINE; echo "got $LINE"' },
      async (terminal) => {
        await untilShown(terminal, question);
        terminal.type('C-c');
        await untilShown(terminal, 'CANCELED');
        terminal.type('hello', 'Enter');
        const screen = await untilShown(terminal, 'got hello');
        expect(screen).toMatch(/\nhello\n/);
        expect(terminal.look().cursor).toBe(true);
      },
    );
  });

  it('is asked regardless of earlier typing', async () => {
    const yaml = 'steps:\n  - {name: first, command: sleep 1}\n  - {name: go, depends: first, approval: true}\n';
    await onTerminal({ yaml }, async (terminal, wf) => {
      await untilShown(terminal, 'Ctrl-C stops');
      terminal.type('y', 'Enter', 'n');
      const screen = await untilShown(terminal, question);
      expect(screen).toMatch(/\[y\/n\]\n/);
      wf('approve', 'r1');
      await untilShown(terminal, 'code 0');
    });
  });

  it('leaves the question to others with Ctrl-D', async () => {
    await onTerminal({ yaml: 'steps:\n  - {name: go, approval: true}\n' }, async (terminal, wf) => {
      await untilShown(terminal, question);
      terminal.type('C-d');
      await untilShown(terminal, 'Ctrl-C stops', (screen) => !screen.includes(question));
      wf('approve', 'r1');
      await untilShown(terminal, 'code 0');
    });
  });

  it.each([
    ['with --no-input', { args: '--no-input' }],
    ['when standard input is no terminal', { args: '< w.yaml' }],
    ['when it is not named in "by"', { yaml: 'steps:\n  - {name: go, approval: {by: [some-other-person]}}\n' }],
  ])('is not asked %s', async (_when, options) => {
    await onTerminal({ yaml: 'steps:\n  - {name: go, approval: true}\n', ...options }, async (terminal, wf) => {
      expect(await untilShown(terminal, 'waits for approval')).not.toContain(question);
      terminal.type('y', 'Enter');
      wf('stop', 'r1');
      expect(await untilShown(terminal, 'code 143')).not.toContain(question);
    });
  });
});

const ops = `steps:
  - name: go
    approval:
      prompt: Ship it?
      input: [{name: PIN, secret: true, required: true}, {name: N, type: integer, default: 3}]
  - {name: ship, depends: go, command: 'echo "ship $N, $(printf "$PIN" | wc -c)"'}
  - {name: own, depends: ship, approval: {by: [anna]}}
`;

type Client = { readonly terminal: Tmux; readonly daemon: Daemon; readonly place: DaemonPlace };

/** Runs `wf run ops --server URL` as run `r1` on a terminal. `token`: the login of the daemon and of the client. */
function onTerminalOf(token: string | null, use: (client: Client) => Promise<void>) {
  return withDaemons({ 'ops.yaml': ops, token: token ?? '' }, async (place) => {
    const login = token === null ? [] : ['--token-file', join(place.cwd, 'token')];
    const daemon = await place.serve(...login);
    const env = `LC_ALL=C.UTF-8 WF_HOME=${join(place.cwd, 'client')}`;
    const words = ['run', 'ops', '--run-id', 'r1', '--server', daemon.url, ...login].join(' ');
    const command = `env -u CI -u GITHUB_ACTIONS -u NO_COLOR ${env} ${process.execPath} ${launcher} ${words}; echo "code $?"`;
    await withTmux({ columns: 100, rows: 30, cwd: place.cwd, command }, (terminal) => use({ terminal, daemon, place }));
  });
}

describeWith('tmux', isInstalled('tmux'), 'a user at the terminal of a run of a daemon', () => {
  it('is asked as for a local run, and again if the daemon refuses the answer', async () => {
    await onTerminalOf(null, async ({ terminal, daemon, place }) => {
      await untilShown(terminal, `go waits for approval: Ship it?\n${question}`);
      terminal.type('y', 'Enter');
      await untilShown(terminal, 'PIN (not shown):');
      terminal.type('hunter2', 'Enter');
      await untilShown(terminal, 'N [3]:');
      terminal.type('four', 'Enter');
      await untilShown(terminal, '"N" must be an integer');
      terminal.type('Enter');
      const screen = await untilShown(terminal, `own waits for approval\n${question}`);
      expect(screen).toContain('ship 3, 7');
      expect(screen).not.toContain('hunter2');
      terminal.type('y', 'Enter');
      await untilShown(terminal, 'may not answer step "own": only anna may');
      const { steps } = JSON.parse(await daemon.get('/api/v2/runs/r1'));
      const input = [{ name: 'PIN', secret: true }, { name: 'N' }];
      expect(steps).toMatchObject([{ approval: { answer: 'approved', input } }, {}, { approval: { answer: null } }]);
      await place.wf('stop', 'r1');
      expect(await untilShown(terminal, 'CANCELED')).not.toContain(question);
    });
  });

  it('sees who may answer if the login may not, and is not asked about steps answered by others', async () => {
    await onTerminalOf('a-token-of-this-test', async ({ terminal, place }) => {
      await untilShown(terminal, question);
      terminal.type('y');
      await untilShown(terminal, `${question} y`);
      await place.wf('approve', 'r1', 'go', '-p', 'PIN=12');
      const told = 'own waits for approval\nanna can answer, this login is "token"\n';
      const one = await untilShown(terminal, 'ship 3, 2', (screen) => screen.includes(told));
      expect(one).not.toContain(question);
      await place.wf('stop', 'r1');
      expect(await untilShown(terminal, 'CANCELED')).not.toContain(told);
    });
  });
});
