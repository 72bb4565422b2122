import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type RunningWf, startWf, wf, withDirectory } from '../support/wf.ts';

type Watched = {
  readonly running: RunningWf;
  readonly write: (name: string, text: string) => void;
  readonly remove: (name: string) => void;
  readonly runs: () => number;
};

/** `wf run w.yaml --watch` on some files; its messages and its reports come on one stream, so that one can be waited for. */
async function watching(
  files: Readonly<Record<string, string>>,
  args: readonly string[],
  use: (watched: Watched) => Promise<void>,
): Promise<void> {
  await withDirectory(async (cwd) => {
    const write = (name: string, text: string) => writeFileSync(join(cwd, name), text);
    for (const [name, text] of Object.entries(files)) write(name, text);
    const env = { WF_HOME: join(cwd, 'home') };
    const running = startWf(['run', 'w.yaml', '--watch', ...args], { cwd, env, mergesErrors: true });
    try {
      const runs = () => readdirSync(join(cwd, 'home/runs')).filter((name) => /^[0-9a-f]{8}-/.test(name)).length;
      await use({ running, write, remove: (name) => rmSync(join(cwd, name)), runs });
    } finally {
      running.kill('SIGINT');
      await running.ended;
    }
  });
}

const says = (text: string) => `steps:\n  - name: a\n    command: echo says ${text}\n`;

it('runs again when the file or what it imports changes, and Ctrl-C ends it', async () => {
  const files = {
    'w.yaml': `imports: more\n${says('one')}`,
    'more.yaml': 'steps:\n  - name: m\n    command: echo imported\n',
  };
  await watching(files, [], async ({ running, write, runs }) => {
    await running.until('wf: waiting for a change of 2 files');
    write('w.yaml', `imports: more\n${says('two')}`);
    await running.until('says two');
    await running.until('waiting', 2);
    write('more.yaml', 'steps:\n  - name: m\n    command: echo other\n');
    await running.until('wf: changed: more.yaml');
    await running.until('| other');
    await running.until('waiting', 3);
    running.kill('SIGINT');
    expect([(await running.ended).code, runs()]).toEqual([130, 3]);
  });
});

it('reports an invalid file and waits for a change', async () => {
  await watching({ 'w.yaml': 'steps:\n  - name: a\n    comand: x\n' }, [], async ({ running, write, remove }) => {
    await running.until('did you mean "command"?');
    await running.until('waiting');
    write('w.yaml', `imports: late\n${says('one')}`);
    await running.until('the import "late" does not exist');
    await running.until('waiting', 2);
    write('late.yaml', 'steps:\n  - name: m\n    command: echo imported\n');
    await running.until('| imported');
    await running.until('waiting', 3);
    remove('w.yaml');
    await running.until('no workflow "w.yaml"');
    await running.until('waiting', 4);
    write('w.yaml', says('back'));
    await running.until('says back');
  });
});

it('--watch-path runs again for matching files only', async () => {
  await watching(
    { 'w.yaml': says('one'), 'a.txt': '' },
    ['--watch-path', '*.txt'],
    async ({ running, write, runs }) => {
      await running.until('waiting for a change of 2 files');
      write('a.md', 'new');
      write('b.txt', 'new');
      await running.until('wf: changed: b.txt\n');
      await running.until('waiting for a change of 3 files');
      expect(runs()).toBe(2);
    },
  );
});

it('watches the sources of steps, but neither what they leave out nor what they generate', async () => {
  const yaml = `steps:\n  - {name: a, script: "cat *.in > all.in", sources: ["*.in", "!x.in"], generates: all.in}\n`;
  await watching({ 'w.yaml': yaml, 'a.in': '' }, [], async ({ running, write, runs }) => {
    await running.until('wf: waiting for a change of 2 files');
    write('x.in', 'new');
    write('b.in', 'new');
    await running.until('wf: changed: b.in\n');
    await running.until('waiting for a change of 3 files');
    expect(runs()).toBe(2);
  });
});

it('a change during a run starts the next run after it', async () => {
  const gate = 'steps:\n  - name: a\n    script: |\n      echo first\n      until test -e go; do sleep 0.05; done\n';
  await watching({ 'w.yaml': gate }, [], async ({ running, write, runs }) => {
    await running.until('| first');
    write('w.yaml', says('second'));
    write('go', '');
    await running.until('wf: changed meanwhile: w.yaml');
    await running.until('says second');
    await running.until('waiting');
    expect(runs()).toBe(2);
  });
});

it('files written by the run do not restart it endlessly', async () => {
  const yaml = 'steps:\n  - name: a\n    command: date +%N > out.txt\n';
  await watching({ 'w.yaml': yaml }, ['--watch-path', '**'], async ({ running, write, runs }) => {
    await running.until('wf: out.txt: changed in every run');
    await running.until('waiting');
    expect(runs()).toBe(3);
    write('out.txt', 'by hand');
    await running.until('wf: changed: out.txt');
  });
});

it('Ctrl-C during a run stops it first', async () => {
  const yaml = 'steps:\n  - name: a\n    command: sleep 60\nhandlerOn:\n  cancel:\n    command: echo handled\n';
  await watching({ 'w.yaml': yaml }, [], async ({ running }) => {
    await running.until('START');
    running.kill('SIGINT');
    const { code, stdout } = await running.ended;
    expect([code, stdout.includes('| handled'), stdout.includes('waiting')]).toEqual([130, true, false]);
  });
});

it.each([
  [['-', '--watch'], 'cannot be watched'],
  [['w.yaml', '--watch', '--run-id', 'x'], '--run-id'],
  [['w.yaml', '--watch', '--dry-run'], '--dry-run'],
  [['w.yaml', '--watch', '--detach'], '--detach'],
  [['w.yaml', '--detach', '--shell-on-failure'], '--shell-on-failure'],
  [['w.yaml', '--detach', '--reporter', 'junit=j.xml'], '--reporter'],
  [['w.yaml', '--watch-path', 'x'], '--watch-path requires --watch'],
  [['missing.yaml', '--watch'], 'no workflow "missing.yaml"'],
])('refuses %j', async (args, message) => {
  await withDirectory(async (cwd) => {
    writeFileSync(join(cwd, 'w.yaml'), says('one'));
    const { code, stderr } = await wf(['run', ...args], { cwd, env: { WF_HOME: join(cwd, 'home') } });
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});
